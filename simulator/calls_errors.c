// calls_errors.c: the last error, and what errors are called.
#define _GNU_SOURCE // for a mutex that a thread may lock twice
#include "calls.h"

_Thread_local cudaError_t sim_last_error;
_Atomic cudaError_t sim_sticky_error;

cudaError_t sim_done(cudaError_t error)
{
    if (error != cudaSuccess)
        sim_last_error = error;
    return error;
}

static pthread_mutex_t memory_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

pthread_mutex_t *sim_lock_memory(void)
{
    pthread_mutex_lock(&memory_lock);
    return &memory_lock;
}

void sim_unlock_memory(pthread_mutex_t **lock)
{
    pthread_mutex_unlock(*lock);
}

// A kernel's failure is told once here, as any other, and by all calls that do something.
API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = sim_last_error;
    sim_last_error = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return sim_last_error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} ERRORS[] = {
#define ERROR(name, text) {name, #name, text}
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ERROR(cudaErrorUnknown, "unknown error"),
};

API const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t k = 0; k < sizeof ERRORS / sizeof *ERRORS; k++)
        if (ERRORS[k].error == error)
            return ERRORS[k].name;
    return "unrecognized error code";
}

API const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t k = 0; k < sizeof ERRORS / sizeof *ERRORS; k++)
        if (ERRORS[k].error == error)
            return ERRORS[k].text;
    return "unrecognized error code";
}
