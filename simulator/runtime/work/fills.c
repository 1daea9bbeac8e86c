// fills.c: fills of device memory.
#include "checker/host_checks.h"
#include "runtime/work/work.h"

cudaError_t sim_check_fill(const char *call, const void *pointer, size_t pitch, size_t width, size_t height)
{
    size_t bytes;
    if (width > pitch || !sim_span_of_rows(pitch, width, height, &bytes))
        return cudaErrorInvalidValue;
    if (sim_on_device(pointer, bytes))
        return cudaSuccess;
    sim_report_bad_range(call, HOST_CALL, true, pointer, bytes, ON_DEVICE);
    return cudaErrorInvalidValue;
}

cudaError_t sim_fill_rows(const char *call, void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    const cudaError_t error = sim_check_fill(call, pointer, pitch, width, height);
    for (size_t row = 0; row < height && width > 0 && !error; row++)
        sim_set_bytes((char *)pointer + row * pitch, value, width);
    return error;
}

cudaError_t sim_fill_slices(const char *call, struct cudaPitchedPtr pitched, int value, struct cudaExtent extent)
{
    const size_t slice_rows = pitched.ysize ? pitched.ysize : extent.height;
    cudaError_t error = extent.height <= slice_rows ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t z = 0; z < extent.depth && !error; z++)
        error = sim_fill_rows(call, (char *)pitched.ptr + z * pitched.pitch * slice_rows, pitched.pitch, value,
                              extent.width, extent.height);
    return error;
}

cudaError_t sim_check_elements(const struct cudaMemsetParams *p)
{
    size_t width, bytes;
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return cudaErrorInvalidValue;
    const bool fits = !__builtin_mul_overflow(p->width, p->elementSize, &width) &&
                     sim_span_of_rows(p->pitch, width, p->height, &bytes) && sim_on_device(p->dst, bytes);
    return fits ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t sim_fill_elements(const struct cudaMemsetParams *p)
{
    const cudaError_t error = sim_check_elements(p);
    const size_t width = p->width * p->elementSize;
    for (size_t row = 0; row < p->height && width > 0 && !error; row++)
        for (size_t k = 0; k < width; k += p->elementSize)
            sim_copy_bytes((char *)p->dst + row * p->pitch + k, &p->value, p->elementSize); // copies the lowest bytes of the value
    return error;
}
