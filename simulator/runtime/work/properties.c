// properties.c: device properties and kernel attributes.
#include "runtime/work/properties.h"
#include "runtime/work/work.h"

#include <string.h>

bool sim_is_device(int device)
{
    return device >= 0 && device < sim_device_count();
}

bool sim_is_device_attribute(enum cudaDeviceAttr attribute)
{
    return attribute >= cudaDevAttrMaxThreadsPerBlock && attribute < cudaDevAttrMax;
}

int sim_device_attribute(enum cudaDeviceAttr attribute)
{
    const Device *d = sim_device();
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } values[] = {
        {cudaDevAttrMaxThreadsPerBlock, MAX_THREADS},
        {cudaDevAttrMaxBlockDimX, 1024},
        {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64},
        {cudaDevAttrMaxGridDimX, 2147483647},
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535},
        {cudaDevAttrMaxSharedMemoryPerBlock, d->shared_per_block},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, d->shared_per_block_optin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->shared_per_sm},
        {cudaDevAttrReservedSharedMemoryPerBlock, SIM_RESERVED_SHARED},
        {cudaDevAttrTotalConstantMemory, 65536},
        {cudaDevAttrWarpSize, LANES},
        {cudaDevAttrMaxRegistersPerBlock, d->registers_per_sm},
        {cudaDevAttrMaxRegistersPerMultiprocessor, d->registers_per_sm},
        {cudaDevAttrMultiProcessorCount, d->sm_count},
        {cudaDevAttrMaxThreadsPerMultiProcessor, d->threads_per_sm},
        {cudaDevAttrMaxBlocksPerMultiprocessor, d->blocks_per_sm},
        {cudaDevAttrL2CacheSize, d->l2_bytes},
        {cudaDevAttrComputeCapabilityMajor, 9},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrClusterLaunch, 1},
        {cudaDevAttrMaxPitch, 2147483647},
        {cudaDevAttrConcurrentManagedAccess, 1},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrStreamPrioritiesSupported, 1},
        {cudaDevAttrMemoryPoolsSupported, 1},
        {cudaDevAttrMemoryPoolSupportedHandleTypes, cudaMemHandleTypePosixFileDescriptor},
        {cudaDevAttrIpcEventSupport, 1},
        {cudaDevAttrHostRegisterSupported, 1},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
        {cudaDevAttrTextureAlignment, 512},
    };
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (values[k].attribute == attribute)
            return values[k].value;
    return 0; // clock rates, bus width, and features that this device lacks
}

void sim_describe_kernel(struct cudaFuncAttributes *attributes, const Kernel *kernel, const Function *f)
{
    memset(attributes, 0, sizeof *attributes);
    const int target = sim_loaded_module(kernel->binary)->target;
    attributes->sharedSizeBytes = f->shared_bytes;
    attributes->localSizeBytes = f->local_bytes;
    attributes->maxThreadsPerBlock = f->max_threads ? f->max_threads : MAX_THREADS;
    attributes->numRegs = 32; // unknown, because ptxas does not run
    attributes->ptxVersion = attributes->binaryVersion = target;
    attributes->maxDynamicSharedSizeBytes = (int)sim_max_dynamic_shared_bytes(kernel, f);
    attributes->preferredShmemCarveout = -1;
    attributes->requiredClusterWidth = (int)f->cluster.x;
    attributes->requiredClusterHeight = (int)f->cluster.y;
    attributes->requiredClusterDepth = (int)f->cluster.z;
    attributes->clusterDimMustBeSet = f->cluster.x > 0;
    attributes->nonPortableClusterSizeAllowed = kernel->non_portable_clusters[sim_current_device];
}
