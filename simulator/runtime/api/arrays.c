// arrays.c: CUDA arrays, and copies to and from them.
//
// The layout of an array on a GPU is undocumented. Here it is row-major, without padding.
#include "runtime/api/calls.h"

// ---- Arrays

API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

static cudaError_t report_unsupported(const char *what)
{
    fprintf(stderr, "simulator: %s are not supported\n", what);
    return cudaErrorNotSupported;
}

static bool is_within_limit(size_t value, size_t max)
{
    return value >= 1 && value <= max;
}

// Checks an array's shape against the device's limits.
static bool is_valid_shape(struct cudaExtent e, unsigned flags)
{
    const bool is_surface = flags & cudaArraySurfaceLoadStore, is_layered = flags & cudaArrayLayered;
    if (flags & cudaArrayCubemap)
        return is_within_limit(e.width, 32768) && e.height == e.width && e.depth % 6 == 0 && is_within_limit(e.depth, is_layered ? 2046 : 6) &&
               !(flags & cudaArrayTextureGather);
    if (is_layered)
        return is_within_limit(e.width, 32768) && e.height <= 32768 && is_within_limit(e.depth, 2048) && !(flags & cudaArrayTextureGather);
    if (flags & cudaArrayTextureGather)
        return is_within_limit(e.width, 32768) && is_within_limit(e.height, 32768) && e.depth == 0;
    if (e.depth > 0)
        return is_within_limit(e.height, 16384) && ((is_within_limit(e.width, 16384) && e.depth <= 16384) ||
                                         (!is_surface && is_within_limit(e.width, 8192) && e.height <= 8192 && e.depth <= 32768));
    return e.height > 0 ? is_within_limit(e.width, 131072) && e.height <= 65536 : is_within_limit(e.width, is_surface ? 32768 : 131072);
}

API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format,
                                  struct cudaExtent extent, unsigned flags)
{
    BEGIN_CALL();
    if (flags & (cudaArraySparse | cudaArrayDeferredMapping | cudaArrayColorAttachment))
        return sim_record_error(report_unsupported("arrays without memory of their own"));
    if (format && !sim_is_texel_format(format))
        return sim_record_error(cudaErrorInvalidChannelDescriptor);
    if (!array || !format || !is_valid_shape(extent, flags))
        return sim_record_error(cudaErrorInvalidValue);
    struct cudaArray *a = calloc(1, sizeof *a);
    if (!a)
        return sim_record_error(cudaErrorMemoryAllocation);
    *a = (struct cudaArray){
        .format = *format, .extent = extent, .flags = flags, .device = sim_current_device, .next = sim_arrays};
    a->row_bytes = extent.width * sim_texel_bytes(format);
    a->rows = extent.height ? extent.height : 1;
    a->slices = extent.depth ? extent.depth : 1;
    const cudaError_t error = sim_new_allocation(a->row_bytes * a->rows * a->slices, ARRAY_MEMORY, (void **)&a->texels);
    if (error) {
        free(a);
        return sim_record_error(error);
    }
    *array = sim_arrays = a;
    return cudaSuccess;
}

API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width,
                                size_t height, unsigned flags)
{
    const bool is_layered = flags & (cudaArrayLayered | cudaArrayCubemap);
    if (is_layered) // needs cudaMalloc3DArray
        return sim_record_error(cudaErrorInvalidValue);
    return cudaMalloc3DArray(array, format, (struct cudaExtent){width, height, 0}, flags);
}

static struct cudaArray **find_link(cudaArray_const_t array) // the link to the array in the list, or the final NULL link
{
    struct cudaArray **link = &sim_arrays;
    while (*link && *link != array)
        link = &(*link)->next;
    return link;
}

API cudaError_t cudaFreeArray(cudaArray_t array)
{
    BEGIN_CALL();
    if (!array)
        return cudaSuccess;
    struct cudaArray **link = find_link(array);
    if (!*link)
        return sim_record_error(cudaErrorInvalidResourceHandle);
    *link = array->next;
    sim_detach_array(array);
    const cudaError_t error = sim_free_allocation(array->texels, ARRAY_MEMORY);
    free(array);
    return sim_record_error(error);
}

void sim_destroy_all_arrays(void)
{
    struct cudaArray **link = &sim_arrays;
    while (*link) {
        struct cudaArray *array = *link;
        if (array->device != sim_current_device) {
            link = &array->next;
            continue;
        }
        *link = array->next;
        sim_detach_array(array);
        free(array);
    }
}

API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                                 cudaArray_t array)
{
    BEGIN_CALL();
    if (!sim_is_array(array))
        return sim_record_error(cudaErrorInvalidResourceHandle);
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
    return sim_record_error(report_unsupported("mipmapped arrays"));
}

API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *level, cudaMipmappedArray_const_t array, unsigned number)
{
    UNUSED(level), UNUSED(array), UNUSED(number);
    return sim_record_error(report_unsupported("mipmapped arrays"));
}

API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
    return array ? sim_record_error(report_unsupported("mipmapped arrays")) : cudaSuccess;
}

// ---- Copies

API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                    size_t height, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    DEFAULT_STREAM_OPERATION(kind != cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_rows_to_array(to, x, y, from, pitch, width, height, kind));
}

API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                         size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    STREAM_OPERATION(stream);
    return sim_record_error(sim_copy_rows_to_array(to, x, y, from, pitch, width, height, kind));
}

API cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                      size_t height, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    DEFAULT_STREAM_OPERATION(kind != cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_rows_from_array(to, pitch, from, x, y, width, height, kind));
}

API cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                                           size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    STREAM_OPERATION(stream);
    return sim_record_error(sim_copy_rows_from_array(to, pitch, from, x, y, width, height, kind));
}

API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                         size_t from_x, size_t from_y, size_t width, size_t height,
                                         enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    DEFAULT_STREAM_OPERATION(kind != cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_between_arrays(to, to_x, to_y, from, from_x, from_y, width, height, kind));
}

API cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    DEFAULT_STREAM_OPERATION(kind != cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_linear_to_array(to, x, y, from, bytes, kind));
}

API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    STREAM_OPERATION(stream);
    return sim_record_error(sim_copy_linear_to_array(to, x, y, from, bytes, kind));
}

API cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                    enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    DEFAULT_STREAM_OPERATION(kind != cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_linear_from_array(to, from, x, y, bytes, kind));
}

API cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                         enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    STREAM_OPERATION(stream);
    return sim_record_error(sim_copy_linear_from_array(to, from, x, y, bytes, kind));
}

API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                       size_t from_y, size_t bytes, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    DEFAULT_STREAM_OPERATION(kind != cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_linear_between_arrays(to, to_x, to_y, from, from_x, from_y, bytes, kind));
}
