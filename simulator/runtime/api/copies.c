// copies.c: copies, fills, and copies from and to variables.
#include "checker/check.h"
#include "checker/check_host.h"
#include "checker/check_shared.h"
#include "runtime/api/graphs.h"

// ---- Copies

typedef enum Side { ON_HOST, ON_DEVICE, ON_EITHER } Side; // where an end of a copy has to be
static const char *const SIDE_NAMES[] = {"the host's memory", "device memory", "any memory"};

static bool is_there(const void *pointer, size_t bytes, Side side)
{
    if (side == ON_EITHER)
        return sim_on_device(pointer, bytes) || sim_on_host(pointer, bytes);
    return side == ON_DEVICE ? sim_on_device(pointer, bytes) : sim_on_host(pointer, bytes);
}

static cudaError_t check_copy(const char *call, const void *to, size_t to_bytes, const void *from, size_t from_bytes,
                              enum cudaMemcpyKind kind)
{
    static const struct {
        Side from, to;
    } SIDES[] = {
        [cudaMemcpyHostToHost] = {ON_HOST, ON_HOST},       [cudaMemcpyHostToDevice] = {ON_HOST, ON_DEVICE},
        [cudaMemcpyDeviceToHost] = {ON_DEVICE, ON_HOST},   [cudaMemcpyDeviceToDevice] = {ON_DEVICE, ON_DEVICE},
        [cudaMemcpyDefault] = {ON_EITHER, ON_EITHER},
    };
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const bool can_write = is_there(to, to_bytes, SIDES[kind].to),
               can_read = is_there(from, from_bytes, SIDES[kind].from);
    if (!can_write)
        sim_find_wrong_range(call, "writes", to, to_bytes, SIDE_NAMES[SIDES[kind].to]);
    else if (!can_read)
        sim_find_wrong_range(call, "reads", from, from_bytes, SIDE_NAMES[SIDES[kind].from]);
    return can_write && can_read ? cudaSuccess : cudaErrorInvalidValue;
}

// What a copy to memory that is not pinned does: it returns when all is there.
static bool is_pageable(const void *pointer)
{
    return !sim_on_device(pointer, 1);
}

// Of memory of which it is to be known.
static void note_use(const void *pointer, size_t bytes, UseKind how)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (!a || !a->uses || address - a->address >= a->bytes)
        return;
    if (sim_is_in_the_way(a, address, bytes, how))
        sim_note_conflict(a, address, bytes, how);
    sim_note_use(a, address, bytes, how);
}

void sim_note_read(const void *pointer, size_t bytes)
{
    note_use(pointer, bytes, READS);
}

void sim_note_write(const void *pointer, size_t bytes)
{
    sim_mark_written((uint64_t)(uintptr_t)pointer, bytes);
    note_use(pointer, bytes, WRITES);
}

// What nobody wrote is copied as such.
static void copy_written(uint64_t to, uint64_t from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t written = sim_find_unwritten(from + at, bytes - at);
        if (written)
            sim_mark_written(to + at, written);
        at += written;
        at += at < bytes ? sim_find_written(from + at, bytes - at) : 0;
    }
}

void sim_move_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    memmove(sim_memory_at(to), sim_memory_at(from), bytes);
    copy_written((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes);
    if (!sim_in_device_range(to))
        sim_note_result((uint64_t)(uintptr_t)from, bytes);
    if (!sim_in_device_range(to))
        sim_check_result((uint64_t)(uintptr_t)from, bytes);
    note_use(from, bytes, READS);
    note_use(to, bytes, WRITES);
    if (sim_in_device_range(to))
        sim_note_copy(false, bytes);
    if (sim_in_device_range(from))
        sim_note_copy(true, bytes);
    if (is_pageable(to))
        sim_host_awaits(sim_current_timeline());
}

void sim_set_bytes(void *pointer, int value, size_t bytes)
{
    if (bytes == 0)
        return;
    memset(sim_memory_at(pointer), value, bytes);
    sim_mark_written((uint64_t)(uintptr_t)pointer, bytes);
    note_use(pointer, bytes, WRITES);
    sim_note_copy(false, bytes);
}

// Whether the host waits for such a copy, where it is none of a stream.
static bool waits(enum cudaMemcpyKind kind, const void *to, const void *from)
{
    return kind != cudaMemcpyDeviceToDevice &&
           !(kind == cudaMemcpyDefault && sim_in_device_range(to) && sim_in_device_range(from));
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(waits(kind, to, from));
    const cudaError_t error = check_copy(__func__, to, bytes, from, bytes, kind);
    if (!error)
        sim_move_bytes(to, from, bytes);
    return sim_done(error);
}

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    HOLD_MEMORY();
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemcpy, .copy = sim_copy_of_rows(to, bytes, from, bytes, bytes, 1, kind)});
    return cudaMemcpy(to, from, bytes, kind);
}

// How many bytes rows of width bytes, pitch bytes apart, reach over; false where no size_t holds that.
static bool span_of_rows(size_t pitch, size_t width, size_t rows, size_t *bytes)
{
    *bytes = 0;
    if (width == 0 || rows == 0)
        return true;
    return !__builtin_mul_overflow(pitch, rows - 1, bytes) && !__builtin_add_overflow(*bytes, width, bytes);
}

// All is checked before the first row is copied.
API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind)
{
    size_t to_bytes, from_bytes;
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    REQUIRE(width <= to_pitch && width <= from_pitch, cudaErrorInvalidPitchValue);
    REQUIRE(span_of_rows(to_pitch, width, height, &to_bytes), cudaErrorInvalidValue);
    REQUIRE(span_of_rows(from_pitch, width, height, &from_bytes), cudaErrorInvalidValue);
    IN_DEFAULT_STREAM(waits(kind, to, from));
    const cudaError_t error = check_copy(__func__, to, to_bytes, from, from_bytes, kind);
    for (size_t row = 0; row < height && width > 0 && !error; row++)
        sim_move_bytes((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
    return sim_done(error);
}

API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                  size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    HOLD_MEMORY();
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemcpy,
                            .copy = sim_copy_of_rows(to, to_pitch, from, from_pitch, width, height, kind)});
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

// Where the box begins in the memory that it is part of; NULL if it is larger than that.
static char *box_in(const struct cudaPitchedPtr *whole, const struct cudaPos *at, const struct cudaExtent *box)
{
    size_t rows, row;
    if (box->width > whole->pitch || at->x > whole->pitch - box->width)
        return NULL;
    if (whole->ysize && (box->height > whole->ysize || at->y > whole->ysize - box->height))
        return NULL;
    const size_t rows_of_slice = whole->ysize ? whole->ysize : box->height;
    if (__builtin_mul_overflow(at->z, rows_of_slice, &rows) || __builtin_add_overflow(rows, at->y, &rows) ||
        __builtin_mul_overflow(rows, whole->pitch, &row))
        return NULL;
    return (char *)whole->ptr + row + at->x;
}

API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    REQUIRE(p, cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) {
        IN_DEFAULT_STREAM(p->kind != cudaMemcpyDeviceToDevice);
        return sim_copy_arrays(p);
    }
    REQUIRE(p->srcPtr.ptr && p->dstPtr.ptr, cudaErrorInvalidValue);
    if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0)
        return cudaSuccess;
    char *to = box_in(&p->dstPtr, &p->dstPos, &p->extent), *from = box_in(&p->srcPtr, &p->srcPos, &p->extent);
    REQUIRE(to && from, cudaErrorInvalidValue);
    IN_DEFAULT_STREAM(waits(p->kind, p->dstPtr.ptr, p->srcPtr.ptr));
    const size_t to_slice = p->dstPtr.pitch * (p->dstPtr.ysize ? p->dstPtr.ysize : p->extent.height);
    const size_t from_slice = p->srcPtr.pitch * (p->srcPtr.ysize ? p->srcPtr.ysize : p->extent.height);
    for (size_t z = 0; z < p->extent.depth; z++) {
        const cudaError_t error = cudaMemcpy2D(to + z * to_slice, p->dstPtr.pitch, from + z * from_slice,
                                               p->srcPtr.pitch, p->extent.width, p->extent.height, p->kind);
        if (error)
            return error;
    }
    return cudaSuccess;
}

API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE(p, cudaErrorInvalidValue);
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemcpy, .copy = *p});
    return cudaMemcpy3D(p);
}

// ---- Copies from device to device

static bool is_of_device(const void *pointer, size_t bytes, int device)
{
    return bytes == 0 ||
           (sim_on_device(pointer, bytes) && sim_allocation_at((uint64_t)(uintptr_t)pointer)->device == device);
}

API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    BEGIN_CALL();
    REQUIRE(sim_is_device(to_device) && sim_is_device(from_device), cudaErrorInvalidDevice);
    REQUIRE(is_of_device(to, bytes, to_device) && is_of_device(from, bytes, from_device), cudaErrorInvalidValue);
    sim_host_awaits_device(to_device); // it waits for what both devices have to do
    sim_host_awaits_device(from_device);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                    cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE_STREAM(stream);
    OPERATION(stream);
    return cudaMemcpyPeer(to, to_device, from, from_device, bytes);
}

API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(p->srcDevice) && sim_is_device(p->dstDevice), cudaErrorInvalidDevice);
    const struct cudaMemcpy3DParms copy = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr,
                                           p->extent, cudaMemcpyDeviceToDevice};
    return cudaMemcpy3D(&copy);
}

API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE_STREAM(stream);
    OPERATION(stream);
    return cudaMemcpy3DPeer(p);
}

// ---- Fills

static bool can_be_filled(const char *call, const void *pointer, size_t bytes)
{
    const bool there = sim_on_device(pointer, bytes);
    if (!there)
        sim_find_wrong_range(call, "writes", pointer, bytes, SIDE_NAMES[ON_DEVICE]);
    return there;
}

API cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    REQUIRE(can_be_filled(__func__, pointer, bytes), cudaErrorInvalidValue);
    IN_DEFAULT_STREAM(false);
    sim_set_bytes(pointer, value, bytes);
    return cudaSuccess;
}

API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    HOLD_MEMORY();
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemset, .fill = {pointer, bytes, (unsigned)value, 1, bytes, 1}});
    return cudaMemset(pointer, value, bytes);
}

API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    size_t bytes;
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    REQUIRE(width <= pitch && span_of_rows(pitch, width, height, &bytes), cudaErrorInvalidValue);
    REQUIRE(can_be_filled(__func__, pointer, bytes), cudaErrorInvalidValue);
    IN_DEFAULT_STREAM(false);
    for (size_t row = 0; row < height && width > 0; row++)
        sim_set_bytes((char *)pointer + row * pitch, value, width);
    return cudaSuccess;
}

API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                                  cudaStream_t stream)
{
    HOLD_MEMORY();
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemset, .fill = {pointer, pitch, (unsigned)value, 1, width, height}});
    return cudaMemset2D(pointer, pitch, value, width, height);
}

API cudaError_t cudaMemset3D(struct cudaPitchedPtr pitched, int value, struct cudaExtent extent)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    const size_t rows_of_slice = pitched.ysize ? pitched.ysize : extent.height;
    REQUIRE(extent.height <= rows_of_slice, cudaErrorInvalidValue);
    IN_DEFAULT_STREAM(false);
    for (size_t z = 0; z < extent.depth; z++) {
        char *slice = (char *)pitched.ptr + z * pitched.pitch * rows_of_slice;
        const cudaError_t error = cudaMemset2D(slice, pitched.pitch, value, extent.width, extent.height);
        if (error)
            return error;
    }
    return cudaSuccess;
}

API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitched, int value, struct cudaExtent extent,
                                  cudaStream_t stream)
{
    HOLD_MEMORY();
    const size_t rows_of_slice = pitched.ysize ? pitched.ysize : extent.height; // slices without rows between them
    const bool rows = extent.depth == 1 || rows_of_slice == extent.height;
    REQUIRE(rows || !sim_stream_in_capture(stream), cudaErrorNotSupported);
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemset, .fill = {pitched.ptr, pitched.pitch, (unsigned)value, 1,
                                                              extent.width, extent.height * extent.depth}});
    return cudaMemset3D(pitched, value, extent);
}

// Rows of elements of one, two or four bytes.
cudaError_t sim_fill(const struct cudaMemsetParams *p)
{
    size_t width, bytes;
    BEGIN_CALL();
    REQUIRE(p->elementSize == 1 || p->elementSize == 2 || p->elementSize == 4, cudaErrorInvalidValue);
    REQUIRE(!__builtin_mul_overflow(p->width, p->elementSize, &width), cudaErrorInvalidValue);
    REQUIRE(span_of_rows(p->pitch, width, p->height, &bytes) && sim_on_device(p->dst, bytes), cudaErrorInvalidValue);
    IN_DEFAULT_STREAM(false);
    for (size_t row = 0; row < p->height && bytes > 0; row++)
        for (size_t k = 0; k < width; k += p->elementSize)
            sim_move_bytes((char *)p->dst + row * p->pitch + k, &p->value, p->elementSize); // the value's lowest bytes
    return cudaSuccess;
}

// ---- Variables

API cudaError_t cudaGetSymbolAddress(void **pointer, const void *host)
{
    BEGIN_CALL();
    REQUIRE(pointer, cudaErrorInvalidValue);
    const Symbol *s = sim_symbol_of(host);
    REQUIRE(s && sim_variable_of(s), cudaErrorInvalidSymbol);
    *pointer = (void *)(uintptr_t)sim_variable_of(s)->address;
    return cudaSuccess;
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *host)
{
    BEGIN_CALL();
    REQUIRE(bytes, cudaErrorInvalidValue);
    const Symbol *s = sim_symbol_of(host);
    REQUIRE(s, cudaErrorInvalidSymbol);
    *bytes = s->bytes;
    return cudaSuccess;
}

// Finds `bytes` bytes from `offset` on in a variable.
static cudaError_t part_of_symbol(const void *host, size_t bytes, size_t offset, char **part)
{
    void *start = NULL;
    const cudaError_t error = cudaGetSymbolAddress(&start, host);
    if (error)
        return error;
    const size_t size = sim_symbol_of(host)->bytes;
    REQUIRE(offset <= size && bytes <= size - offset, cudaErrorInvalidValue);
    *part = (char *)start + offset;
    return cudaSuccess;
}

API cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    char *to = NULL;
    HOLD_MEMORY();
    REQUIRE(kind != cudaMemcpyHostToHost && kind != cudaMemcpyDeviceToHost, cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = part_of_symbol(host, bytes, offset, &to);
    return error ? error : cudaMemcpy(to, from, bytes, kind);
}

API cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    char *from = NULL;
    HOLD_MEMORY();
    REQUIRE(kind != cudaMemcpyHostToHost && kind != cudaMemcpyHostToDevice, cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = part_of_symbol(host, bytes, offset, &from);
    return error ? error : cudaMemcpy(to, from, bytes, kind);
}

API cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    Work work;
    HOLD_MEMORY();
    STOP_IF(sim_work_with_symbol(&work, host, true, from, bytes, offset, kind));
    CAPTURE(stream, &work);
    return cudaMemcpyToSymbol(host, from, bytes, offset, kind);
}

API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset,
                                          enum cudaMemcpyKind kind, cudaStream_t stream)
{
    Work work;
    HOLD_MEMORY();
    STOP_IF(sim_work_with_symbol(&work, host, false, to, bytes, offset, kind));
    CAPTURE(stream, &work);
    return cudaMemcpyFromSymbol(to, host, bytes, offset, kind);
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaMemcpy, _ptds);
PER_THREAD(cudaMemcpyAsync, _ptsz);
PER_THREAD(cudaMemcpy2D, _ptds);
PER_THREAD(cudaMemcpy2DAsync, _ptsz);
PER_THREAD(cudaMemcpy3D, _ptds);
PER_THREAD(cudaMemcpy3DAsync, _ptsz);
PER_THREAD(cudaMemcpy3DPeer, _ptds);
PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz);
PER_THREAD(cudaMemset, _ptds);
PER_THREAD(cudaMemsetAsync, _ptsz);
PER_THREAD(cudaMemset2D, _ptds);
PER_THREAD(cudaMemset2DAsync, _ptsz);
PER_THREAD(cudaMemset3D, _ptds);
PER_THREAD(cudaMemset3DAsync, _ptsz);
PER_THREAD(cudaMemcpyToSymbol, _ptds);
PER_THREAD(cudaMemcpyFromSymbol, _ptds);
PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz);
PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz);
