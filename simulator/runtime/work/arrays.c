// arrays.c: CUDA arrays: texel formats, and copies to and from arrays.
#include "runtime/work/work.h"

struct cudaArray *sim_arrays;

bool sim_is_array(cudaArray_const_t array)
{
    const struct cudaArray *a = sim_arrays;
    while (a && a != array)
        a = a->next;
    return array && a;
}

// ---- Channels of a texel

// 1, 2 or 4 channels of 8, 16 or 32 bits each; floating-point channels have at least 16.
bool sim_is_texel_format(const struct cudaChannelFormatDesc *f)
{
    const bool one = !f->y && !f->z && !f->w, two = f->y == f->x && !f->z && !f->w,
               four = f->y == f->x && f->z == f->x && f->w == f->x;
    const bool is_integer = f->f == cudaChannelFormatKindSigned || f->f == cudaChannelFormatKindUnsigned;
    return (one || two || four) && (f->x == 16 || f->x == 32 || (f->x == 8 && is_integer)) &&
           (is_integer || f->f == cudaChannelFormatKindFloat);
}

int sim_channels(const struct cudaChannelFormatDesc *f)
{
    return f->w ? 4 : f->y ? 2 : 1;
}

size_t sim_texel_bytes(const struct cudaChannelFormatDesc *f)
{
    return (size_t)(sim_channels(f) * f->x / 8);
}

// ---- Copies. Source and destination are boxes of bytes.

typedef struct Box {
    uint8_t *first;
    size_t pitch, slice_bytes; // from row to row, from slice to slice
} Box;

typedef struct Size {
    size_t bytes, rows, slices; // bytes: of a row
} Size;

static size_t span_bytes(const Box *box, Size size) // from the box's first byte to the end of its last row
{
    return (size.slices - 1) * box->slice_bytes + (size.rows - 1) * box->pitch + size.bytes;
}

// Sets `box` to the part of an array at a position in bytes, rows and slices.
static cudaError_t find_box_in_array(struct cudaArray *a, Size at, Size size, Box *box)
{
    if (at.bytes > a->row_bytes || size.bytes > a->row_bytes - at.bytes || at.rows > a->rows ||
        size.rows > a->rows - at.rows || at.slices > a->slices || size.slices > a->slices - at.slices)
        return cudaErrorInvalidValue;
    *box = (Box){a->texels + (at.slices * a->rows + at.rows) * a->row_bytes + at.bytes, a->row_bytes,
                 a->rows * a->row_bytes};
    return cudaSuccess;
}

// Checks the side of a copy that is memory, which must be on the device, on the host or, with cudaMemcpyDefault, on either. The
// other side is an array, for which the direction is ignored.
static cudaError_t check_memory(const Box *box, Size size, bool on_device, enum cudaMemcpyKind kind)
{
    const size_t bytes = span_bytes(box, size);
    const bool is_valid_device = (on_device || kind == cudaMemcpyDefault) && sim_on_device(box->first, bytes),
               is_valid_host = !on_device && sim_on_host(box->first, bytes);
    return box->first && (is_valid_device || is_valid_host) ? cudaSuccess : cudaErrorInvalidValue;
}

static void copy_box(const Box *to, const Box *from, Size size)
{
    for (size_t z = 0; z < size.slices; z++)
        for (size_t y = 0; y < size.rows; y++)
            sim_copy_bytes(to->first + z * to->slice_bytes + y * to->pitch,
                           from->first + z * from->slice_bytes + y * from->pitch, size.bytes);
}

static bool is_direction(enum cudaMemcpyKind kind)
{
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

static bool writes_array(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

static bool reads_array(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

static bool reads_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

static bool writes_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}

cudaError_t sim_copy_rows_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind)
{
    const Size size = {width, height, 1};
    const Box source = {(uint8_t *)(uintptr_t)from, pitch, 0};
    Box target;
    if (!writes_array(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (!sim_is_array(to))
        return cudaErrorInvalidResourceHandle;
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > pitch)
        return cudaErrorInvalidPitchValue;
    cudaError_t error = find_box_in_array(to, (Size){x, y, 0}, size, &target);
    if (!error)
        error = check_memory(&source, size, reads_device(kind), kind);
    if (!error)
        copy_box(&target, &source, size);
    return error;
}

cudaError_t sim_copy_rows_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, enum cudaMemcpyKind kind)
{
    const Size size = {width, height, 1};
    const Box target = {to, pitch, 0};
    Box source;
    if (!reads_array(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (!sim_is_array(from))
        return cudaErrorInvalidResourceHandle;
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > pitch)
        return cudaErrorInvalidPitchValue;
    cudaError_t error = find_box_in_array((cudaArray_t)(uintptr_t)from, (Size){x, y, 0}, size, &source);
    if (!error)
        error = check_memory(&target, size, writes_device(kind), kind);
    if (!error)
        copy_box(&target, &source, size);
    return error;
}

cudaError_t sim_copy_between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                    size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    const Size size = {width, height, 1};
    Box target, source;
    if (!is_direction(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (!sim_is_array(to) || !sim_is_array(from))
        return cudaErrorInvalidResourceHandle;
    cudaError_t error = find_box_in_array(to, (Size){to_x, to_y, 0}, size, &target);
    if (!error)
        error = find_box_in_array((cudaArray_t)(uintptr_t)from, (Size){from_x, from_y, 0}, size, &source);
    if (!error)
        copy_box(&target, &source, size);
    return error;
}

// ---- Linear ranges

typedef struct LinearRange {
    struct cudaArray *array;
    size_t x, y;
} LinearRange;

// Returns the program's address of the range, or NULL if it is out of bounds. Rows are contiguous.
static uint8_t *address_in_array(const LinearRange *range, size_t bytes)
{
    const size_t row = range->array->row_bytes, array_bytes = row * range->array->rows;
    const size_t texel = sim_texel_bytes(&range->array->format);
    if (range->x >= row || range->y >= range->array->rows || range->x % texel || bytes % texel ||
        bytes > array_bytes - range->y * row - range->x)
        return NULL;
    return range->array->texels + range->y * row + range->x;
}

cudaError_t sim_copy_linear_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind)
{
    if (!writes_array(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (!sim_is_array(to))
        return cudaErrorInvalidResourceHandle;
    uint8_t *target = address_in_array(&(LinearRange){to, x, y}, bytes);
    const Box source = {(uint8_t *)(uintptr_t)from, bytes, 0};
    if (!target || check_memory(&source, (Size){bytes, 1, 1}, reads_device(kind), kind))
        return cudaErrorInvalidValue;
    sim_copy_bytes(target, from, bytes);
    return cudaSuccess;
}

cudaError_t sim_copy_linear_from_array(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                    enum cudaMemcpyKind kind)
{
    if (!reads_array(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (!sim_is_array(from))
        return cudaErrorInvalidResourceHandle;
    const uint8_t *source = address_in_array(&(LinearRange){(cudaArray_t)(uintptr_t)from, x, y}, bytes);
    const Box target = {to, bytes, 0};
    if (!source || check_memory(&target, (Size){bytes, 1, 1}, writes_device(kind), kind))
        return cudaErrorInvalidValue;
    sim_copy_bytes(to, source, bytes);
    return cudaSuccess;
}

cudaError_t sim_copy_linear_between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                        size_t from_x, size_t from_y, size_t bytes, enum cudaMemcpyKind kind)
{
    if (!is_direction(kind))
        return cudaErrorInvalidMemcpyDirection;
    if (!sim_is_array(to) || !sim_is_array(from))
        return cudaErrorInvalidResourceHandle;
    uint8_t *target = address_in_array(&(LinearRange){to, to_x, to_y}, bytes);
    const uint8_t *source = address_in_array(&(LinearRange){(cudaArray_t)(uintptr_t)from, from_x, from_y}, bytes);
    if (!target || !source)
        return cudaErrorInvalidValue;
    sim_copy_bytes(target, source, bytes);
    return cudaSuccess;
}

// ---- 3D copies between arrays and pitched memory

// Locates one side of a copy: an array, with positions in texels, or memory, with positions in bytes.
static cudaError_t locate_side(struct cudaArray *array, struct cudaPitchedPtr memory, struct cudaPos at, Size size,
                                bool on_device, enum cudaMemcpyKind kind, Box *box)
{
    if (array)
        return find_box_in_array(array, (Size){at.x * sim_texel_bytes(&array->format), at.y, at.z}, size, box);
    if (size.rows > 1 && at.x + size.bytes > memory.pitch)
        return cudaErrorInvalidPitchValue;
    const size_t slice = memory.pitch * memory.ysize;
    *box = (Box){(uint8_t *)memory.ptr + at.z * slice + at.y * memory.pitch + at.x, memory.pitch, slice};
    return check_memory(box, size, on_device, kind);
}

cudaError_t sim_copy_arrays(const struct cudaMemcpy3DParms *p)
{
    if (!p->srcArray == !p->srcPtr.ptr || !p->dstArray == !p->dstPtr.ptr)
        return cudaErrorInvalidValue;
    if (!is_direction(p->kind))
        return cudaErrorInvalidMemcpyDirection;
    if ((p->srcArray && !sim_is_array(p->srcArray)) || (p->dstArray && !sim_is_array(p->dstArray)))
        return cudaErrorInvalidResourceHandle;
    if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0)
        return cudaSuccess;
    const size_t from_texel = p->srcArray ? sim_texel_bytes(&p->srcArray->format) : 0;
    const size_t to_texel = p->dstArray ? sim_texel_bytes(&p->dstArray->format) : 0;
    if (from_texel && to_texel && from_texel != to_texel)
        return cudaErrorInvalidValue;
    const size_t element = from_texel ? from_texel : to_texel ? to_texel : 1;
    const Size size = {p->extent.width * element, p->extent.height, p->extent.depth};
    Box from, to;
    cudaError_t error = locate_side(p->srcArray, p->srcPtr, p->srcPos, size, reads_device(p->kind), p->kind, &from);
    if (!error)
        error = locate_side(p->dstArray, p->dstPtr, p->dstPos, size, writes_device(p->kind), p->kind, &to);
    if (!error)
        copy_box(&to, &from, size);
    return error;
}
