// functions.c: kernel attributes and occupancy.
#include "runtime/api/calls.h"

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host_stub)
{
    Kernel *kernel;
    const Function *f;
    BEGIN_CALL();
    const cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(attributes, cudaErrorInvalidValue);
    sim_describe_kernel(attributes, kernel, f);
    return cudaSuccess;
}

API cudaError_t cudaFuncSetAttribute(const void *host_stub, enum cudaFuncAttribute attribute, int value)
{
    Kernel *kernel;
    const Function *f;
    BEGIN_CALL();
    const cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    REQUIRE(!error, error);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        const int limit = sim_device()->shared_per_block_optin - (int)f->shared_bytes;
        REQUIRE(value >= 0 && value <= limit, cudaErrorInvalidValue);
        kernel->max_dynamic_shared_bytes[sim_current_device] = value;
        return cudaSuccess;
    }
    switch (attribute) {
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        REQUIRE(value == 0 || value == 1, cudaErrorInvalidValue);
        kernel->non_portable_clusters[sim_current_device] = value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess; // hints
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        return sim_record_error(cudaErrorNotSupported);
    default:
        return sim_record_error(cudaErrorInvalidValue);
    }
}

API cudaError_t cudaFuncSetCacheConfig(const void *host_stub, enum cudaFuncCache config)
{
    UNUSED(config);
    RETURN_IF_STICKY_ERROR();
    return sim_kernel_of(host_stub) ? cudaSuccess : sim_record_error(cudaErrorInvalidDeviceFunction);
}

API cudaError_t cudaFuncSetSharedMemConfig(const void *host_stub, enum cudaSharedMemConfig config)
{
    UNUSED(config);
    RETURN_IF_STICKY_ERROR();
    return sim_kernel_of(host_stub) ? cudaSuccess : sim_record_error(cudaErrorInvalidDeviceFunction);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host_stub, int threads,
                                                                       size_t dynamic_shared_bytes, unsigned flags)
{
    Kernel *kernel;
    const Function *f;
    BEGIN_CALL();
    const cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(blocks && threads >= 1 && flags <= cudaOccupancyDisableCachingOverride, cudaErrorInvalidValue);
    *blocks = threads > MAX_THREADS ? 0 : sim_blocks_per_sm(f, threads, dynamic_shared_bytes);
    return cudaSuccess;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host_stub, int threads,
                                                              size_t dynamic_shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host_stub, threads, dynamic_shared_bytes, 0);
}

// Returns the largest dynamic shared memory of a block with which `blocks` blocks are resident on an SM.
API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host_stub, int blocks, int threads)
{
    Kernel *kernel;
    const Function *f;
    BEGIN_CALL();
    const cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(bytes && blocks >= 1 && threads >= 1 && threads <= MAX_THREADS &&
                blocks <= sim_blocks_per_sm(f, threads, 0),
            cudaErrorInvalidValue);
    const size_t share = (size_t)(sim_device()->shared_per_sm / blocks) / SIM_SHARED_UNIT * SIM_SHARED_UNIT;
    const size_t bytes_per_block = share - SIM_RESERVED_SHARED - f->shared_bytes;
    const size_t max = (size_t)sim_device()->shared_per_block_optin - f->shared_bytes;
    *bytes = bytes_per_block < max ? bytes_per_block : max;
    return cudaSuccess;
}

API cudaError_t cudaFuncGetName(const char **name, const void *host_stub)
{
    REQUIRE(name, cudaErrorInvalidValue);
    const Kernel *kernel = sim_kernel_of(host_stub);
    REQUIRE(kernel, cudaErrorInvalidDeviceFunction);
    *name = kernel->name;
    return cudaSuccess;
}

API cudaError_t cudaFuncGetParamInfo(const void *host_stub, size_t index, size_t *offset, size_t *bytes)
{
    Kernel *kernel;
    const Function *f;
    BEGIN_CALL();
    const cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
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

// ---- Clusters

// Finds the cluster size of a launch: the launch attribute's, or the kernel's, or 0 if there is none.
static cudaError_t find_cluster(const cudaLaunchConfig_t *config, const Function *f, dim3 *cluster)
{
    bool is_cooperative;
    *cluster = f->cluster;
    for (unsigned k = 0; k < config->numAttrs; k++) {
        const cudaError_t error = sim_check_attribute(&config->attrs[k], &is_cooperative, cluster);
        if (error)
            return error;
    }
    return cudaSuccess;
}

// Treats all SMs as one GPC, so that a cluster may use any SM.
API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *host_stub, const cudaLaunchConfig_t *config)
{
    Kernel *kernel;
    const Function *f;
    dim3 cluster;
    BEGIN_CALL();
    cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(clusters && config && (config->attrs || config->numAttrs == 0), cudaErrorInvalidValue);
    error = find_cluster(config, f, &cluster);
    REQUIRE(!error, error);
    const uint64_t threads = (uint64_t)config->blockDim.x * config->blockDim.y * config->blockDim.z;
    const uint64_t blocks = (uint64_t)cluster.x * cluster.y * cluster.z;
    REQUIRE(threads >= 1 && threads <= MAX_THREADS, cudaErrorInvalidConfiguration);
    REQUIRE(blocks >= 1 && blocks <= (uint64_t)sim_max_cluster_blocks(kernel), cudaErrorInvalidClusterSize);
    *clusters = sim_blocks_per_sm(f, (int)threads, config->dynamicSmemBytes) * sim_device()->sm_count / (int)blocks;
    return cudaSuccess;
}

API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *host_stub, const cudaLaunchConfig_t *config)
{
    Kernel *kernel;
    const Function *f;
    BEGIN_CALL();
    const cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    REQUIRE(!error, error);
    REQUIRE(blocks && config, cudaErrorInvalidValue);
    const int max = sim_max_cluster_blocks(kernel), limit = f->max_cluster_blocks;
    *blocks = limit && limit < max ? limit : max;
    return cudaSuccess;
}
