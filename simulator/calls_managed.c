// calls_managed.c: where managed memory is to be. It is in one place here, so that all of this is only checked.
#include "calls.h"

static cudaError_t check_range(const void *pointer, size_t bytes)
{
    return bytes > 0 && sim_on_device(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags, cudaStream_t stream)
{
    UNUSED(location), UNUSED(flags);
#else
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    UNUSED(device);
#endif
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    REQUIRE_STREAM(stream);
    return sim_done(check_range(pointer, bytes));
}
