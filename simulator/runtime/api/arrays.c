// arrays.c: arrays, which textures and surfaces show, and copies to and from them.
//
// NVIDIA keeps secret how a GPU arranges an array. Here its rows lie one behind the other, as in C.
#include "runtime/api/calls.h"

// ---- Channels: the numbers of a texel

API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

// 1, 2 or 4 channels of 8, 16 or 32 bits each; a floating-point number has at least 16.
bool sim_is_texel_format(const struct cudaChannelFormatDesc *f)
{
    const bool one = !f->y && !f->z && !f->w, two = f->y == f->x && !f->z && !f->w,
               four = f->y == f->x && f->z == f->x && f->w == f->x;
    const bool number = f->f == cudaChannelFormatKindSigned || f->f == cudaChannelFormatKindUnsigned;
    return (one || two || four) && (f->x == 16 || f->x == 32 || (f->x == 8 && number)) &&
           (number || f->f == cudaChannelFormatKindFloat);
}

int sim_channels(const struct cudaChannelFormatDesc *f)
{
    return f->w ? 4 : f->y ? 2 : 1;
}

size_t sim_texel_bytes(const struct cudaChannelFormatDesc *f)
{
    return (size_t)(sim_channels(f) * f->x / 8);
}

// ---- Arrays

static struct cudaArray *arrays; // all that are alive

static cudaError_t refuse(const char *what)
{
    fprintf(stderr, "simulator: %s are not supported\n", what);
    return cudaErrorNotSupported;
}

static bool fits(size_t value, size_t most)
{
    return value >= 1 && value <= most;
}

// Whether a GPU of this kind can have an array of this shape.
static bool is_possible(struct cudaExtent e, unsigned flags)
{
    const bool surface = flags & cudaArraySurfaceLoadStore;
    if (flags & cudaArrayLayered)
        return fits(e.width, 32768) && e.height <= 32768 && fits(e.depth, 2048) && !(flags & cudaArrayTextureGather);
    if (flags & cudaArrayTextureGather)
        return fits(e.width, 32768) && fits(e.height, 32768) && e.depth == 0;
    if (e.depth > 0)
        return fits(e.height, 16384) && ((fits(e.width, 16384) && e.depth <= 16384) ||
                                         (!surface && fits(e.width, 8192) && e.height <= 8192 && e.depth <= 32768));
    return e.height > 0 ? fits(e.width, 131072) && e.height <= 65536 : fits(e.width, surface ? 32768 : 131072);
}

API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                                  struct cudaExtent extent, unsigned flags)
{
    BEGIN_CALL();
    if (flags & cudaArrayCubemap)
        return sim_done(refuse("cubemaps"));
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping | cudaArrayColorAttachment))
        return sim_done(refuse("arrays without memory of their own"));
    if (format && !sim_is_texel_format(format))
        return sim_done(cudaErrorInvalidChannelDescriptor);
    if (!array || !format || !is_possible(extent, flags))
        return sim_done(cudaErrorInvalidValue);
    struct cudaArray *a = calloc(1, sizeof *a);
    if (!a)
        return sim_done(cudaErrorMemoryAllocation);
    *a = (struct cudaArray){
        .format = *format, .extent = extent, .flags = flags, .device = sim_current_device, .next = arrays};
    a->row_bytes = extent.width * sim_texel_bytes(format);
    a->rows = extent.height ? extent.height : 1;
    a->slices = extent.depth ? extent.depth : 1;
    const cudaError_t error = sim_new_allocation(a->row_bytes * a->rows * a->slices, ARRAY_MEMORY, (void **)&a->texels);
    if (error) {
        free(a);
        return sim_done(error);
    }
    *array = arrays = a;
    return cudaSuccess;
}

API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width,
                                size_t height, unsigned flags)
{
    const bool layered = flags & (cudaArrayLayered | cudaArrayCubemap);
    if (layered) // these have a depth, for which this call has no argument
        return sim_done(cudaErrorInvalidValue);
    return cudaMalloc3DArray(array, format, (struct cudaExtent){width, height, 0}, flags);
}

static struct cudaArray **link_to(cudaArray_const_t array) // or to the end's NULL
{
    struct cudaArray **link = &arrays;
    while (*link && *link != array)
        link = &(*link)->next;
    return link;
}

bool sim_is_array(cudaArray_const_t array)
{
    return array && *link_to(array);
}

API cudaError_t cudaFreeArray(cudaArray_t array)
{
    BEGIN_CALL();
    if (!array)
        return cudaSuccess;
    struct cudaArray **link = link_to(array);
    if (!*link)
        return sim_done(cudaErrorInvalidResourceHandle);
    *link = array->next;
    sim_forget_array(array);
    const cudaError_t error = sim_end_allocation(array->texels, ARRAY_MEMORY);
    free(array);
    return sim_done(error);
}

void sim_forget_all_arrays(void)
{
    struct cudaArray **link = &arrays;
    while (*link) {
        struct cudaArray *array = *link;
        if (array->device != sim_current_device) {
            link = &array->next;
            continue;
        }
        *link = array->next;
        sim_forget_array(array);
        free(array);
    }
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                                 cudaArray_t array)
{
    BEGIN_CALL();
    if (!sim_is_array(array))
        return sim_done(cudaErrorInvalidResourceHandle);
    if (format)
        *format = array->format;
    if (extent)
        *extent = array->extent;
    if (flags)
        *flags = array->flags;
    return cudaSuccess;
}

API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    return cudaArrayGetInfo(format, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}

API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *format,
                                         struct cudaExtent extent, unsigned levels, unsigned flags)
{
    UNUSED(array), UNUSED(format), UNUSED(extent), UNUSED(levels), UNUSED(flags);
    return sim_done(refuse("mipmapped arrays"));
}

API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array, unsigned number)
{
    UNUSED(level), UNUSED(array), UNUSED(number);
    return sim_done(refuse("mipmapped arrays"));
}

API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return array ? sim_done(refuse("mipmapped arrays")) : cudaSuccess;
}

// ---- Copies. Each side is a box of bytes.

typedef struct Box {
    uint8_t *first;
    size_t pitch, slice_bytes; // from row to row, from slice to slice
} Box;

typedef struct Size {
    size_t bytes, rows, slices; // bytes: of a row
} Size;

static size_t span(const Box *box, Size size) // from its first byte to its last
{
    return (size.slices - 1) * box->slice_bytes + (size.rows - 1) * box->pitch + size.bytes;
}

// The part of an array that begins at a place, in bytes, rows and slices.
static cudaError_t box_in_array(struct cudaArray *a, Size at, Size size, Box *box)
{
    if (at.bytes > a->row_bytes || size.bytes > a->row_bytes - at.bytes || at.rows > a->rows ||
        size.rows > a->rows - at.rows || at.slices > a->slices || size.slices > a->slices - at.slices)
        return cudaErrorInvalidValue;
    *box = (Box){a->texels + (at.slices * a->rows + at.rows) * a->row_bytes + at.bytes, a->row_bytes,
                 a->rows * a->row_bytes};
    return cudaSuccess;
}

// Memory of the device, or of the host, or (cudaMemcpyDefault) of either. What the direction says of the other side,
// an array, is of no account.
static cudaError_t check_memory(const Box *box, Size size, bool on_device, enum cudaMemcpyKind kind)
{
    const size_t bytes = span(box, size);
    const bool device = (on_device || kind == cudaMemcpyDefault) && sim_on_device(box->first, bytes),
               host = !on_device && sim_on_host(box->first, bytes);
    return box->first && (device || host) ? cudaSuccess : cudaErrorInvalidValue;
}

static void copy_box(const Box *to, const Box *from, Size size)
{
    for (size_t z = 0; z < size.slices; z++)
        for (size_t y = 0; y < size.rows; y++)
            sim_move_bytes(to->first + z * to->slice_bytes + y * to->pitch,
                           from->first + z * from->slice_bytes + y * from->pitch, size.bytes);
}

static bool is_direction(enum cudaMemcpyKind kind)
{
    return kind >= cudaMemcpyHostToHost && kind <= cudaMemcpyDefault;
}

static bool goes_to_array(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

static bool comes_from_array(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

static bool from_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

static bool to_device(enum cudaMemcpyKind kind)
{
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}

API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                    size_t height, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(kind != cudaMemcpyDeviceToDevice);
    const Size size = {width, height, 1};
    const Box source = {(uint8_t *)(uintptr_t)from, pitch, 0};
    Box target;
    if (!goes_to_array(kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if (!sim_is_array(to))
        return sim_done(cudaErrorInvalidResourceHandle);
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > pitch)
        return sim_done(cudaErrorInvalidPitchValue);
    cudaError_t error = box_in_array(to, (Size){x, y, 0}, size, &target);
    if (!error)
        error = check_memory(&source, size, from_device(kind), kind);
    if (!error)
        copy_box(&target, &source, size);
    return sim_done(error);
}

API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                      size_t height, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(kind != cudaMemcpyDeviceToDevice);
    const Size size = {width, height, 1};
    const Box target = {to, pitch, 0};
    Box source;
    if (!comes_from_array(kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if (!sim_is_array(from))
        return sim_done(cudaErrorInvalidResourceHandle);
    if (width == 0 || height == 0)
        return cudaSuccess;
    if (width > pitch)
        return sim_done(cudaErrorInvalidPitchValue);
    cudaError_t error = box_in_array((cudaArray_t)(uintptr_t)from, (Size){x, y, 0}, size, &source);
    if (!error)
        error = check_memory(&target, size, to_device(kind), kind);
    if (!error)
        copy_box(&target, &source, size);
    return sim_done(error);
}

API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                         size_t from_x, size_t from_y, size_t width, size_t height,
                                         enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(kind != cudaMemcpyDeviceToDevice);
    const Size size = {width, height, 1};
    Box target, source;
    if (!is_direction(kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if (!sim_is_array(to) || !sim_is_array(from))
        return sim_done(cudaErrorInvalidResourceHandle);
    cudaError_t error = box_in_array(to, (Size){to_x, to_y, 0}, size, &target);
    if (!error)
        error = box_in_array((cudaArray_t)(uintptr_t)from, (Size){from_x, from_y, 0}, size, &source);
    if (!error)
        copy_box(&target, &source, size);
    return sim_done(error);
}

API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                         size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE_STREAM(stream);
    OPERATION(stream);
    return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind);
}

API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                           size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE_STREAM(stream);
    OPERATION(stream);
    return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind);
}

// The deprecated copies know no height: `bytes` go from a place in a row on through the rows behind it.
typedef struct Run {
    struct cudaArray *array;
    size_t x, y;
} Run;

// Where its bytes lie; NULL where it does not fit. Rows lie side by side.
static uint8_t *run_in_array(const Run *run, size_t bytes)
{
    const size_t row = run->array->row_bytes, all = row * run->array->rows;
    const size_t texel = sim_texel_bytes(&run->array->format);
    if (run->x >= row || run->y >= run->array->rows || run->x % texel || bytes % texel ||
        bytes > all - run->y * row - run->x)
        return NULL;
    return sim_memory_at(run->array->texels + run->y * row + run->x);
}

static cudaError_t copy_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                 enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(kind != cudaMemcpyDeviceToDevice);
    if (!goes_to_array(kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if (!sim_is_array(to))
        return sim_done(cudaErrorInvalidResourceHandle);
    uint8_t *target = run_in_array(&(Run){to, x, y}, bytes);
    const Box source = {(uint8_t *)(uintptr_t)from, bytes, 0};
    if (!target || check_memory(&source, (Size){bytes, 1, 1}, from_device(kind), kind))
        return sim_done(cudaErrorInvalidValue);
    sim_move_bytes(target, from, bytes);
    return cudaSuccess;
}

static cudaError_t copy_from_array(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                   enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(kind != cudaMemcpyDeviceToDevice);
    if (!comes_from_array(kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if (!sim_is_array(from))
        return sim_done(cudaErrorInvalidResourceHandle);
    const uint8_t *source = run_in_array(&(Run){(cudaArray_t)(uintptr_t)from, x, y}, bytes);
    const Box target = {to, bytes, 0};
    if (!source || check_memory(&target, (Size){bytes, 1, 1}, to_device(kind), kind))
        return sim_done(cudaErrorInvalidValue);
    sim_move_bytes(to, source, bytes);
    return cudaSuccess;
}

API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                       size_t from_y, size_t bytes, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    STOP_IF(sim_forbidden_in_capture(true));
    IN_DEFAULT_STREAM(kind != cudaMemcpyDeviceToDevice);
    if (!is_direction(kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if (!sim_is_array(to) || !sim_is_array(from))
        return sim_done(cudaErrorInvalidResourceHandle);
    uint8_t *target = run_in_array(&(Run){to, to_x, to_y}, bytes);
    const uint8_t *source = run_in_array(&(Run){(cudaArray_t)(uintptr_t)from, from_x, from_y}, bytes);
    if (!target || !source)
        return sim_done(cudaErrorInvalidValue);
    sim_move_bytes(target, source, bytes);
    return cudaSuccess;
}

API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind)
{
    return copy_to_array(to, x, y, from, bytes, kind);
}

API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                    enum cudaMemcpyKind kind)
{
    return copy_from_array(to, from, x, y, bytes, kind);
}

API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE_STREAM(stream);
    OPERATION(stream);
    return copy_to_array(to, x, y, from, bytes, kind);
}

API cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    HOLD_MEMORY();
    REQUIRE_STREAM(stream);
    OPERATION(stream);
    return copy_from_array(to, from, x, y, bytes, kind);
}

// ---- Copies in three dimensions, of arrays and of memory with a pitch

// One side of the copy: an array, whose texels positions count, or memory, where they count bytes.
static cudaError_t side_of_copy(struct cudaArray *array, struct cudaPitchedPtr memory, struct cudaPos at, Size size,
                                bool on_device, enum cudaMemcpyKind kind, Box *box)
{
    if (array)
        return box_in_array(array, (Size){at.x * sim_texel_bytes(&array->format), at.y, at.z}, size, box);
    if (size.rows > 1 && at.x + size.bytes > memory.pitch)
        return cudaErrorInvalidPitchValue;
    const size_t slice = memory.pitch * memory.ysize;
    *box = (Box){(uint8_t *)memory.ptr + at.z * slice + at.y * memory.pitch + at.x, memory.pitch, slice};
    return check_memory(box, size, on_device, kind);
}

cudaError_t sim_copy_arrays(const struct cudaMemcpy3DParms *p)
{
    if (!p->srcArray == !p->srcPtr.ptr || !p->dstArray == !p->dstPtr.ptr)
        return sim_done(cudaErrorInvalidValue);
    if (!is_direction(p->kind))
        return sim_done(cudaErrorInvalidMemcpyDirection);
    if ((p->srcArray && !sim_is_array(p->srcArray)) || (p->dstArray && !sim_is_array(p->dstArray)))
        return sim_done(cudaErrorInvalidResourceHandle);
    if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0)
        return cudaSuccess;
    const size_t from_texel = p->srcArray ? sim_texel_bytes(&p->srcArray->format) : 0;
    const size_t to_texel = p->dstArray ? sim_texel_bytes(&p->dstArray->format) : 0;
    if (from_texel && to_texel && from_texel != to_texel)
        return sim_done(cudaErrorInvalidValue);
    const size_t element = from_texel ? from_texel : to_texel ? to_texel : 1;
    const Size size = {p->extent.width * element, p->extent.height, p->extent.depth};
    Box from, to;
    cudaError_t error = side_of_copy(p->srcArray, p->srcPtr, p->srcPos, size, from_device(p->kind), p->kind, &from);
    if (!error)
        error = side_of_copy(p->dstArray, p->dstPtr, p->dstPos, size, to_device(p->kind), p->kind, &to);
    if (!error)
        copy_box(&to, &from, size);
    return sim_done(error);
}
