// calls_devices.c: the device: its properties and limits.
#include "calls.h"

bool sim_is_device(int device)
{
    return device == 0;
}

API cudaError_t cudaGetDeviceCount(int *count)
{
    REQUIRE(count, cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

API cudaError_t cudaGetDevice(int *device)
{
    REQUIRE(device, cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

API cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : sim_done(cudaErrorInvalidDevice);
}

static unsigned device_flags = cudaDeviceMapHost; // how a host thread waits; the lock guards it

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    HOLD_MEMORY();
    REQUIRE((flags & ~(unsigned)cudaDeviceMask) == 0, cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost; // all pinned memory is mapped
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    HOLD_MEMORY();
    REQUIRE(flags, cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

API cudaError_t cudaInitDevice(int device, unsigned device_flags_wanted, unsigned flags)
{
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(flags == 0 || flags == cudaInitDeviceFlagsAreValid, cudaErrorInvalidValue);
    return flags ? cudaSetDeviceFlags(device_flags_wanted) : cudaSuccess;
}

API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    REQUIRE(device && wanted, cudaErrorInvalidValue);
    *device = 0; // all are alike
    return cudaSuccess;
}

API cudaError_t cudaDeviceSynchronize(void)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    STOP_IF(sim_device_in_capture());
    return cudaSuccess;
}

// ---- Limits

typedef struct Limit {
    bool known;
    size_t usual, largest, value;
} Limit;

// The stack's and the heap's change something. The lock guards their values.
static Limit limits[] = {
    [cudaLimitStackSize] = {true, 1024, 1 << 20, 1024},
    [cudaLimitPrintfFifoSize] = {true, 1 << 20, SIZE_MAX, 1 << 20},
    [cudaLimitMallocHeapSize] = {true, SIM_USUAL_HEAP, SIZE_MAX, SIM_USUAL_HEAP},
    [cudaLimitMaxL2FetchGranularity] = {true, 64, 128, 64},
    [cudaLimitPersistingL2CacheSize] = {true, 0, SIZE_MAX, 0},
};
enum { LIMITS = sizeof limits / sizeof *limits };

static bool is_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS && limits[limit].known;
}

size_t sim_limit(enum cudaLimit limit)
{
    return limits[limit].value;
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    REQUIRE(is_limit(limit), cudaErrorUnsupportedLimit);
    REQUIRE(value <= limits[limit].largest, cudaErrorInvalidValue);
    REQUIRE(limit != cudaLimitMallocHeapSize || sim_set_heap_limit(value), cudaErrorInvalidValue);
    limits[limit].value = value;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    REQUIRE(value, cudaErrorInvalidValue);
    REQUIRE(is_limit(limit), cudaErrorUnsupportedLimit);
    *value = limits[limit].value;
    return cudaSuccess;
}

// There is no cache whose lines could stay.
API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    STOP_IF_BROKEN();
    return cudaSuccess;
}

// ---- Profilers and drivers

// A profiler attaches to no simulator: SIM_COUNTERS and SIM_TRACE take its place.
API cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

API cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

static cudaError_t refuse_entry_point(const char *symbol, void **function, enum cudaDriverEntryPointQueryResult *status)
{
    REQUIRE(symbol && function, cudaErrorInvalidValue);
    *function = NULL;
    if (status)
        *status = cudaDriverEntryPointSymbolNotFound;
    fprintf(stderr, "simulator: cudaGetDriverEntryPoint: there is no driver to give %s\n", symbol);
    return sim_done(cudaErrorNotSupported);
}

API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                        enum cudaDriverEntryPointQueryResult *status)
{
    UNUSED(flags);
    return refuse_entry_point(symbol, function, status);
}

API cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned version,
                                                 unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    UNUSED(version), UNUSED(flags);
    return refuse_entry_point(symbol, function, status);
}

// ---- Reset

API cudaError_t cudaDeviceReset(void)
{
    HOLD_MEMORY();
    sim_end_all_graphs();
    sim_end_all_allocations();
    sim_end_all_pools();
    sim_end_all_streams();
    sim_reset_program();
    for (size_t k = 0; k < LIMITS; k++)
        limits[k].value = limits[k].usual;
    sim_set_heap_limit(SIM_USUAL_HEAP);
    sim_last_error = sim_sticky_error = cudaSuccess;
    return cudaSuccess;
}

// ---- Properties

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    UNUSED(config);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    REQUIRE(config, cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    REQUIRE(can, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device) && sim_is_device(peer), cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

// No device is its own peer.
API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    UNUSED(peer);
    REQUIRE(flags == 0, cudaErrorInvalidValue);
    return sim_done(cudaErrorInvalidDevice);
}

API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    REQUIRE(sim_is_device(peer), cudaErrorInvalidDevice);
    return sim_done(cudaErrorPeerAccessNotEnabled);
}

API cudaError_t cudaDriverGetVersion(int *version)
{
    REQUIRE(version, cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

API cudaError_t cudaRuntimeGetVersion(int *version)
{
    REQUIRE(version, cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    const Device *d = sim_device();
    STOP_IF_BROKEN();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(device == 0, cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "SIMT simulator");
    p->totalGlobalMem = d->memory_bytes;
    p->sharedMemPerBlock = (size_t)d->shared_per_block;
    p->sharedMemPerBlockOptin = (size_t)d->shared_per_block_optin;
    p->sharedMemPerMultiprocessor = (size_t)d->shared_per_sm;
    p->reservedSharedMemPerBlock = SIM_RESERVED_SHARED;
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
    p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = p->canMapHostMemory = p->cooperativeLaunch = 1;
    p->concurrentKernels = p->streamPrioritiesSupported = p->memoryPoolsSupported = p->hostRegisterSupported = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    const Device *d = sim_device();
    STOP_IF_BROKEN();
    REQUIRE(value && attribute >= cudaDevAttrMaxThreadsPerBlock && attribute < cudaDevAttrMax, cudaErrorInvalidValue);
    REQUIRE(device == 0, cudaErrorInvalidDevice);
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } values[] = {
        {cudaDevAttrMaxThreadsPerBlock, MAX_THREADS}, {cudaDevAttrMaxBlockDimX, 1024}, {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64}, {cudaDevAttrMaxGridDimX, 2147483647}, {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535}, {cudaDevAttrMaxSharedMemoryPerBlock, d->shared_per_block},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, d->shared_per_block_optin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->shared_per_sm}, {cudaDevAttrReservedSharedMemoryPerBlock, SIM_RESERVED_SHARED},
        {cudaDevAttrTotalConstantMemory, 65536}, {cudaDevAttrWarpSize, LANES},
        {cudaDevAttrMaxRegistersPerBlock, d->registers_per_sm}, {cudaDevAttrMaxRegistersPerMultiprocessor, d->registers_per_sm},
        {cudaDevAttrMultiProcessorCount, d->sm_count}, {cudaDevAttrMaxThreadsPerMultiProcessor, d->threads_per_sm},
        {cudaDevAttrMaxBlocksPerMultiprocessor, d->blocks_per_sm}, {cudaDevAttrL2CacheSize, d->l2_bytes},
        {cudaDevAttrComputeCapabilityMajor, 9}, {cudaDevAttrUnifiedAddressing, 1}, {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrCanMapHostMemory, 1}, {cudaDevAttrCooperativeLaunch, 1}, {cudaDevAttrMaxPitch, 2147483647},
        {cudaDevAttrConcurrentManagedAccess, 1}, {cudaDevAttrConcurrentKernels, 1}, {cudaDevAttrStreamPrioritiesSupported, 1},
        {cudaDevAttrMemoryPoolsSupported, 1}, {cudaDevAttrHostRegisterSupported, 1},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, 1}, {cudaDevAttrTextureAlignment, 512},
    };
    *value = 0; // clocks, bus width and all that this device does not have
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (values[k].attribute == attribute)
            *value = values[k].value;
    return cudaSuccess;
}
