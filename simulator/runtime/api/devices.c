// devices.c: device management: properties, limits, peer access, reset.
#include "runtime/api/calls.h"

API cudaError_t cudaGetDeviceCount(int *count)
{
    REQUIRE(count, cudaErrorInvalidValue);
    *count = sim_device_count();
    return cudaSuccess;
}

API cudaError_t cudaGetDevice(int *device)
{
    REQUIRE(device, cudaErrorInvalidValue);
    *device = sim_current_device;
    return cudaSuccess;
}

API cudaError_t cudaSetDevice(int device)
{
    sim_uses_runtime = true;
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    sim_current_device = device;
    return cudaSuccess;
}

static unsigned device_flags = cudaDeviceMapHost; // guarded by the lock

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    LOCK_MEMORY();
    REQUIRE((flags & ~(unsigned)cudaDeviceMask) == 0, cudaErrorInvalidValue);
    device_flags = flags | cudaDeviceMapHost; // all pinned memory is mapped
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    LOCK_MEMORY();
    REQUIRE(flags, cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

API cudaError_t cudaInitDevice(int device, unsigned requested_flags, unsigned flags)
{
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    REQUIRE(flags == 0 || flags == cudaInitDeviceFlagsAreValid, cudaErrorInvalidValue);
    return flags ? cudaSetDeviceFlags(requested_flags) : cudaSuccess;
}

API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *requested)
{
    REQUIRE(device && requested, cudaErrorInvalidValue);
    *device = 0; // all devices are equal
    return cudaSuccess;
}

API cudaError_t cudaDeviceSynchronize(void)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_device());
    sim_synchronize_host_with_device(sim_current_device);
    return cudaSuccess;
}

// ---- Limits

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    BEGIN_CALL();
    REQUIRE(sim_is_limit(limit), cudaErrorUnsupportedLimit);
    return sim_record_error(sim_set_limit(limit, value));
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    BEGIN_CALL();
    REQUIRE(value, cudaErrorInvalidValue);
    REQUIRE(sim_is_limit(limit), cudaErrorUnsupportedLimit);
    *value = sim_limit(limit);
    return cudaSuccess;
}

// Without effect, because the L2 cache is not simulated.
API cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    RETURN_IF_STICKY_ERROR();
    return cudaSuccess;
}

// ---- Profilers

// Without effect, because profilers cannot attach; SIM_COUNTERS and SIM_TRACE replace them.
API cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}

API cudaError_t cudaProfilerStop(void)
{
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

// Without effect: since Maxwell, shared-memory banks are always 4 bytes wide.
API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    UNUSED(config);
    RETURN_IF_STICKY_ERROR();
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    RETURN_IF_STICKY_ERROR();
    REQUIRE(config, cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
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

static void set_texture_limits(struct cudaDeviceProp *p) // sets the limits of an H200
{
    p->textureAlignment = p->surfaceAlignment = TEXTURE_ALIGNMENT;
    p->texturePitchAlignment = PITCH_ALIGNMENT;
    p->maxTexture1D = p->maxTexture2D[0] = p->maxSurface2D[0] = 131072;
    p->maxTexture2D[1] = p->maxSurface2D[1] = 65536;
    p->maxTexture2DLinear[0] = MAX_PITCHED_WIDTH;
    p->maxTexture2DLinear[1] = MAX_PITCHED_HEIGHT;
    p->maxTexture2DLinear[2] = MAX_PITCH;
    p->maxSurface1D = 32768;
    for (int k = 0; k < 2; k++)
        p->maxTexture2DGather[k] = p->maxTexture2DLayered[k] = p->maxSurface2DLayered[k] = 32768;
    for (int k = 0; k < 3; k++)
        p->maxTexture3D[k] = p->maxSurface3D[k] = 16384;
    p->maxTexture3DAlt[0] = p->maxTexture3DAlt[1] = 8192;
    p->maxTexture3DAlt[2] = p->maxTexture1DLayered[0] = p->maxSurface1DLayered[0] = 32768;
    p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = p->maxSurface1DLayered[1] = p->maxSurface2DLayered[2] =
        2048;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    const Device *d = sim_device();
    RETURN_IF_STICKY_ERROR();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    p->pciBusID = device;
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
    set_texture_limits(p);
    p->unifiedAddressing = p->managedMemory = p->concurrentManagedAccess = p->canMapHostMemory =
        p->cooperativeLaunch = 1;
    p->clusterLaunch = 1;
    p->concurrentKernels = p->streamPrioritiesSupported = p->memoryPoolsSupported = p->hostRegisterSupported = 1;
    p->canUseHostPointerForRegisteredMem = 1;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    RETURN_IF_STICKY_ERROR();
    REQUIRE(value && sim_is_device_attribute(attribute), cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device), cudaErrorInvalidDevice);
    *value = sim_device_attribute(attribute);
    return cudaSuccess;
}

// ---- Peer access

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    REQUIRE(can, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(device) && sim_is_device(peer), cudaErrorInvalidDevice);
    *can = device != peer; // no device is its own peer
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from, int to)
{
    REQUIRE(value && attribute >= cudaDevP2PAttrPerformanceRank && attribute <= cudaDevP2PAttrCudaArrayAccessSupported,
            cudaErrorInvalidValue);
    REQUIRE(sim_is_device(from) && sim_is_device(to) && from != to, cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
    return cudaSuccess;
}

API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    BEGIN_CALL();
    REQUIRE(flags == 0, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(peer) && peer != sim_current_device, cudaErrorInvalidDevice);
    REQUIRE(!sim_has_peer_access(peer, sim_current_device), cudaErrorPeerAccessAlreadyEnabled);
    sim_set_peer_access(peer, sim_current_device, true);
    return cudaSuccess;
}

API cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    BEGIN_CALL();
    REQUIRE(sim_is_device(peer), cudaErrorInvalidDevice);
    REQUIRE(sim_has_peer_access(peer, sim_current_device), cudaErrorPeerAccessNotEnabled);
    sim_set_peer_access(peer, sim_current_device, false);
    return cudaSuccess;
}

// Peer access ends when either device is reset.
static void disable_all_peers(void)
{
    for (int other = 0; other < sim_device_count(); other++)
        if (other != sim_current_device) {
            sim_set_peer_access(other, sim_current_device, false);
            sim_set_peer_access(sim_current_device, other, false);
        }
}

// ---- Reset

API cudaError_t cudaDeviceReset(void)
{
    LOCK_MEMORY();
    sim_synchronize_host_with_device(sim_current_device);
    sim_destroy_all_graphs();
    sim_destroy_textures_and_arrays();
    sim_free_all_allocations();
    sim_destroy_all_pools();
    sim_destroy_all_streams();
    sim_reset_device_state();
    sim_reset_limits();
    disable_all_peers();
    sim_last_error = sim_sticky_error = cudaSuccess;
    return cudaSuccess;
}
