// calls_functions.c: attributes of kernels, and how many blocks of one an SM holds.
#include "calls.h"

size_t sim_most_dynamic_bytes(const Kernel *kernel, const Function *f)
{
    const size_t usual = (size_t)sim_device()->shared_per_block;
    const int set = kernel->max_dynamic_bytes[sim_current_device];
    if (set >= 0)
        return (size_t)set;
    return usual > f->shared_bytes ? usual - f->shared_bytes : 0;
}

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = sim_find_kernel(host, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(attributes, cudaErrorInvalidValue);
    memset(attributes, 0, sizeof *attributes);
    const int target = sim_module_of(kernel->binary)->target;
    attributes->sharedSizeBytes = f->shared_bytes;
    attributes->localSizeBytes = f->local_bytes;
    attributes->maxThreadsPerBlock = f->max_threads ? f->max_threads : MAX_THREADS;
    attributes->numRegs = 32; // decided by the last stage of nvcc, which PTX does not go through
    attributes->ptxVersion = attributes->binaryVersion = target;
    attributes->maxDynamicSharedSizeBytes = (int)sim_most_dynamic_bytes(kernel, f);
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
}

API cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = sim_find_kernel(host, &kernel, &f);
    REQUIRE(!error, error);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        const int most = sim_device()->shared_per_block_optin - (int)f->shared_bytes;
        REQUIRE(value >= 0 && value <= most, cudaErrorInvalidValue);
        kernel->max_dynamic_bytes[sim_current_device] = value;
        return cudaSuccess;
    }
    switch (attribute) {
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess; // hints
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        return sim_done(cudaErrorNotSupported);
    default:
        return sim_done(cudaErrorInvalidValue);
    }
}

API cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
    UNUSED(config);
    STOP_IF_BROKEN();
    return sim_kernel_of(host) ? cudaSuccess : sim_done(cudaErrorInvalidDeviceFunction);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads, size_t dynamic_bytes, unsigned flags)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = sim_find_kernel(host, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(blocks && threads >= 1 && flags <= cudaOccupancyDisableCachingOverride, cudaErrorInvalidValue);
    *blocks = threads > MAX_THREADS ? 0 : sim_blocks_per_sm(f, threads, dynamic_bytes);
    return cudaSuccess;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t dynamic_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic_bytes, 0);
}

// What so many blocks on an SM leave to each.
API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = sim_find_kernel(host, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(bytes && blocks >= 1 && threads >= 1 && threads <= MAX_THREADS && blocks <= sim_blocks_per_sm(f, threads, 0),
            cudaErrorInvalidValue);
    const size_t share = (size_t)(sim_device()->shared_per_sm / blocks) - SIM_RESERVED_SHARED - f->shared_bytes;
    const size_t largest = (size_t)sim_device()->shared_per_block_optin - f->shared_bytes;
    *bytes = share < largest ? share : largest;
    return cudaSuccess;
}

API cudaError_t cudaFuncGetName(const char **name, const void *host)
{
    REQUIRE(name, cudaErrorInvalidValue);
    const Kernel *kernel = sim_kernel_of(host);
    REQUIRE(kernel, cudaErrorInvalidDeviceFunction);
    *name = kernel->name;
    return cudaSuccess;
}

API cudaError_t cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = sim_find_kernel(host, &kernel, &f);
    REQUIRE(!error, error);
    const Variable *v = f->params;
    for (size_t k = 0; v && k < index; k++)
        v = v->next;
    REQUIRE(v && offset, cudaErrorInvalidValue);
    *offset = v->address;
    if (bytes)
        *bytes = v->bytes;
    return cudaSuccess;
}
