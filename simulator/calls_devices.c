// calls_devices.c: the device: its properties and limits.
#include "calls.h"

static const size_t LARGEST_STACK = 1 << 20; // of a thread, in bytes
// Those that cudaDeviceSetLimit knows; only the stack's changes anything.
static const size_t USUAL_LIMITS[] = {[cudaLimitStackSize] = 1024, [cudaLimitPrintfFifoSize] = 1 << 20,
                                      [cudaLimitMallocHeapSize] = 8 << 20, [cudaLimitMaxL2FetchGranularity] = 64};
enum { LIMITS = sizeof USUAL_LIMITS / sizeof *USUAL_LIMITS };
static size_t limits_set[LIMITS]; // by the program, or 0

API cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

API cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

API cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : sim_done(cudaErrorInvalidDevice);
}

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    UNUSED(flags);
    return cudaSuccess;
}

API cudaError_t cudaDeviceSynchronize(void)
{
    STOP_IF_BROKEN();
    return cudaSuccess;
}

API cudaError_t cudaDeviceReset(void)
{
    HOLD_MEMORY();
    sim_end_all_allocations();
    sim_reset_program();
    memset(limits_set, 0, sizeof limits_set);
    sim_last_error = sim_sticky_error = cudaSuccess;
    return cudaSuccess;
}

static bool is_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS && USUAL_LIMITS[limit] > 0;
}

size_t sim_limit(enum cudaLimit limit)
{
    return limits_set[limit] ? limits_set[limit] : USUAL_LIMITS[limit];
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    STOP_IF_BROKEN();
    if (!is_limit(limit))
        return sim_done(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitStackSize && value > LARGEST_STACK)
        return sim_done(cudaErrorInvalidValue);
    limits_set[limit] = value;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    STOP_IF_BROKEN();
    if (!is_limit(limit))
        return sim_done(cudaErrorUnsupportedLimit);
    *value = sim_limit(limit);
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    UNUSED(config);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    UNUSED(device), UNUSED(peer);
    *can = 0;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}

API cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

API cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    const Device *d = sim_device();
    STOP_IF_BROKEN();
    if (device != 0)
        return sim_done(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "SIMT simulator");
    p->totalGlobalMem = d->memory_bytes;
    p->sharedMemPerBlock = (size_t)d->shared_per_block;
    p->sharedMemPerBlockOptin = (size_t)d->shared_per_block_optin;
    p->sharedMemPerMultiprocessor = (size_t)d->shared_per_sm;
    p->reservedSharedMemPerBlock = 1024;
    p->regsPerBlock = p->regsPerMultiprocessor = d->registers_per_sm;
    p->warpSize = LANES;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = MAX_THREADS;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = 9;
    p->multiProcessorCount = d->sm_count;
    p->maxThreadsPerMultiProcessor = d->threads_per_sm;
    p->maxBlocksPerMultiProcessor = d->blocks_per_sm;
    p->l2CacheSize = d->l2_bytes;
    p->memPitch = 2147483647;
    p->textureAlignment = 512;
    p->unifiedAddressing = p->managedMemory = p->canMapHostMemory = p->cooperativeLaunch = 1;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    const Device *d = sim_device();
    STOP_IF_BROKEN();
    if (device != 0)
        return sim_done(cudaErrorInvalidDevice);
    if (attribute < cudaDevAttrMaxThreadsPerBlock || attribute >= cudaDevAttrMax)
        return sim_done(cudaErrorInvalidValue);
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } values[] = {
        {cudaDevAttrMaxThreadsPerBlock, MAX_THREADS}, {cudaDevAttrMaxBlockDimX, 1024}, {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64}, {cudaDevAttrMaxGridDimX, 2147483647}, {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535}, {cudaDevAttrMaxSharedMemoryPerBlock, d->shared_per_block},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, d->shared_per_block_optin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->shared_per_sm}, {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
        {cudaDevAttrTotalConstantMemory, 65536}, {cudaDevAttrWarpSize, LANES},
        {cudaDevAttrMaxRegistersPerBlock, d->registers_per_sm}, {cudaDevAttrMaxRegistersPerMultiprocessor, d->registers_per_sm},
        {cudaDevAttrMultiProcessorCount, d->sm_count}, {cudaDevAttrMaxThreadsPerMultiProcessor, d->threads_per_sm},
        {cudaDevAttrMaxBlocksPerMultiprocessor, d->blocks_per_sm}, {cudaDevAttrL2CacheSize, d->l2_bytes},
        {cudaDevAttrComputeCapabilityMajor, 9}, {cudaDevAttrUnifiedAddressing, 1}, {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrCanMapHostMemory, 1}, {cudaDevAttrCooperativeLaunch, 1}, {cudaDevAttrMaxPitch, 2147483647}, {cudaDevAttrTextureAlignment, 512},
    };
    *value = 0; // clocks, bus width and all that this device does not have
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (values[k].attribute == attribute)
            *value = values[k].value;
    return cudaSuccess;
}
