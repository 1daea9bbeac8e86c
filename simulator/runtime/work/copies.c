// copies.c: 2D and 3D copies between host and device memory.
#include "base/host_heap.h"
#include "checker/host_checks.h"
#include "runtime/work/work.h"

// As on an H200: device memory is also accepted where the direction names host memory, but not the reverse.
static bool is_accessible(const void *pointer, size_t bytes, MemorySide side)
{
    return sim_on_device(pointer, bytes) || (side != ON_DEVICE && sim_on_host(pointer, bytes));
}

static void check_direction(const char *call, bool writes, const void *pointer, size_t bytes, MemorySide side)
{
    if (side == ON_HOST && !sim_on_host(pointer, bytes))
        sim_warn_of_direction(call, writes, pointer, bytes);
}

// Reports a copy of more bytes than the block of the C library's heap has that starts at this pointer. Returns whether the copy may be
// made: a write would damage the heap.
static bool fits_host_block(const char *call, bool writes, const void *pointer, size_t bytes)
{
    HostBlock block;
    if (!sim_checker_enabled() || sim_on_device(pointer, 1) || !sim_find_host_block(pointer, &block) || bytes <= block.bytes)
        return true;
    sim_report_host_overrun(call, writes, bytes, block.bytes);
    return !writes;
}

static cudaError_t check_copy(const char *call, const void *to, size_t to_bytes, const void *from, size_t from_bytes,
                              enum cudaMemcpyKind kind)
{
    static const struct {
        MemorySide from, to;
    } SIDES[] = {
        [cudaMemcpyHostToHost] = {ON_HOST, ON_HOST},       [cudaMemcpyHostToDevice] = {ON_HOST, ON_DEVICE},
        [cudaMemcpyDeviceToHost] = {ON_DEVICE, ON_HOST},   [cudaMemcpyDeviceToDevice] = {ON_DEVICE, ON_DEVICE},
        [cudaMemcpyDefault] = {ON_EITHER, ON_EITHER},
    };
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const bool can_write = is_accessible(to, to_bytes, SIDES[kind].to),
               can_read = is_accessible(from, from_bytes, SIDES[kind].from);
    if (!can_write)
        sim_report_bad_range(call, HOST_COPY, true, to, to_bytes, SIDES[kind].to);
    else if (!can_read)
        sim_report_bad_range(call, HOST_COPY, false, from, from_bytes, SIDES[kind].from);
    if (!can_write || !can_read)
        return cudaErrorInvalidValue;
    check_direction(call, true, to, to_bytes, SIDES[kind].to);
    check_direction(call, false, from, from_bytes, SIDES[kind].from);
    fits_host_block(call, false, from, from_bytes);
    return fits_host_block(call, true, to, to_bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

bool sim_is_synchronous_copy(enum cudaMemcpyKind kind, const void *to, const void *from)
{
    return kind != cudaMemcpyDeviceToDevice &&
           !(kind == cudaMemcpyDefault && sim_in_device_range(to) && sim_in_device_range(from));
}

bool sim_is_staged(const void *to, const void *from)
{
    return sim_in_device_range(to) && !sim_on_device(from, 1);
}

bool sim_span_of_rows(size_t pitch, size_t width, size_t rows, size_t *bytes)
{
    *bytes = 0;
    if (width == 0 || rows == 0)
        return true;
    return !__builtin_mul_overflow(pitch, rows - 1, bytes) && !__builtin_add_overflow(*bytes, width, bytes);
}

cudaError_t sim_check_rows(const RowCopy *r)
{
    size_t bytes;
    if (r->width > r->to_pitch || r->width > r->from_pitch)
        return cudaErrorInvalidPitchValue;
    return sim_span_of_rows(r->to_pitch, r->width, r->height, &bytes) &&
                   sim_span_of_rows(r->from_pitch, r->width, r->height, &bytes)
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

cudaError_t sim_copy_rows(const char *call, const RowCopy *r)
{
    size_t to_bytes, from_bytes;
    cudaError_t error = sim_check_rows(r);
    if (error)
        return error;
    sim_span_of_rows(r->to_pitch, r->width, r->height, &to_bytes);
    sim_span_of_rows(r->from_pitch, r->width, r->height, &from_bytes);
    error = check_copy(call, r->to, to_bytes, r->from, from_bytes, r->kind);
    if (!error) {
        sim_check_padding_copy(call, "writes", r->to, r->to_pitch, r->width, r->height);
        sim_check_padding_copy(call, "reads", r->from, r->from_pitch, r->width, r->height);
    }
    for (size_t row = 0; row < r->height && r->width > 0 && !error; row++)
        sim_copy_bytes((char *)r->to + row * r->to_pitch, (const char *)r->from + row * r->from_pitch, r->width);
    return error;
}

// Returns the start of the box in its pitched memory, or NULL if the box is out of bounds.
static char *find_box(const struct cudaPitchedPtr *memory, const struct cudaPos *at, const struct cudaExtent *box)
{
    size_t rows, row;
    if (box->width > memory->pitch || at->x > memory->pitch - box->width)
        return NULL;
    if (memory->ysize && (box->height > memory->ysize || at->y > memory->ysize - box->height))
        return NULL;
    const size_t slice_rows = memory->ysize ? memory->ysize : box->height;
    if (__builtin_mul_overflow(at->z, slice_rows, &rows) || __builtin_add_overflow(rows, at->y, &rows) ||
        __builtin_mul_overflow(rows, memory->pitch, &row))
        return NULL;
    return (char *)memory->ptr + row + at->x;
}

bool sim_is_empty_copy(const struct cudaMemcpy3DParms *p)
{
    return !p->srcArray && !p->dstArray && (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0);
}

cudaError_t sim_check_3d_copy(const struct cudaMemcpy3DParms *p)
{
    if (p->srcArray || p->dstArray)
        return cudaSuccess; // arrays are checked by sim_copy_arrays
    if (!p->srcPtr.ptr || !p->dstPtr.ptr)
        return cudaErrorInvalidValue;
    const bool fits = sim_is_empty_copy(p) || (find_box(&p->dstPtr, &p->dstPos, &p->extent) &&
                                              find_box(&p->srcPtr, &p->srcPos, &p->extent));
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t sim_copy_3d(const char *call, const struct cudaMemcpy3DParms *p)
{
    cudaError_t error = sim_check_3d_copy(p);
    if (p->srcArray || p->dstArray)
        return sim_copy_arrays(p);
    if (error || sim_is_empty_copy(p))
        return error;
    char *to = find_box(&p->dstPtr, &p->dstPos, &p->extent), *from = find_box(&p->srcPtr, &p->srcPos, &p->extent);
    const size_t to_slice = p->dstPtr.pitch * (p->dstPtr.ysize ? p->dstPtr.ysize : p->extent.height);
    const size_t from_slice = p->srcPtr.pitch * (p->srcPtr.ysize ? p->srcPtr.ysize : p->extent.height);
    for (size_t z = 0; z < p->extent.depth && !error; z++)
        error = sim_copy_rows(call, &(RowCopy){to + z * to_slice, p->dstPtr.pitch, from + z * from_slice, p->srcPtr.pitch,
                                            p->extent.width, p->extent.height, p->kind});
    return error;
}
