// errors.c: the last error, and what errors are called.
#define _GNU_SOURCE // for a mutex that a thread may lock twice
#include "runtime/api/calls.h"
#include "checker/findings.h"

_Thread_local cudaError_t sim_last_error;
_Thread_local bool sim_uses_runtime;
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

// ---- Launches that were refused while nobody asked
//
// kernel<<<...>>> returns nothing: who does not ask never knows that it was refused. So it is a finding that a host
// thread had such a launch and has called neither cudaGetLastError nor cudaPeekAtLastError since. All other calls give
// their error to the caller; whether it looked cannot be seen, and many calls are made to see whether they fail: none
// of them is taken for unchecked. (A kernel that fails while it runs is a finding of its own.)

typedef struct Refusal { // the first one of a host thread since it last asked
    _Atomic cudaError_t error; // cudaSuccess: there was none, or the thread has asked
    char launch[300], why[200];
    const void *from; // where its kernel<<<...>>> comes back to
    struct Refusal *next;
} Refusal;

static _Atomic(Refusal *) refusals; // one of each host thread that ever had one; the lock is held to add one
static _Thread_local Refusal *own_refusal;

static void say_what_nobody_asked(void)
{
    char title[400];
    for (const Refusal *r = refusals; r; r = r->next) {
        if (!r->error || !sim_checks())
            continue;
        snprintf(title, sizeof title, "%s did not run: %s (%s), and the program never asked", r->launch,
                 cudaGetErrorString(r->error), cudaGetErrorName(r->error));
        Place host = {.access = "launches it"};
        sim_find_line_before(r->from, &host);
        sim_add_finding(UNCHECKED_ERROR, title, &host, 1, r->why);
    }
}

void sim_note_refusal(const char *launch, cudaError_t error, const char *why, const void *from)
{
    if (!own_refusal) {
        own_refusal = calloc(1, sizeof *own_refusal);
        if (!own_refusal)
            return;
        if (!refusals)
            atexit(say_what_nobody_asked);
        own_refusal->next = refusals;
        refusals = own_refusal;
    }
    if (own_refusal->error)
        return;
    snprintf(own_refusal->launch, sizeof own_refusal->launch, "%s", launch);
    snprintf(own_refusal->why, sizeof own_refusal->why, "%s", why);
    own_refusal->from = from;
    own_refusal->error = error;
}

static void note_that_it_asks(void)
{
    if (own_refusal)
        own_refusal->error = cudaSuccess;
}

// ---- The last error

// A kernel's failure is told once here, as any other, and by all calls that do something.
API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = sim_last_error;
    note_that_it_asks();
    sim_last_error = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    note_that_it_asks();
    return sim_last_error;
}

// ---- What errors are called

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
    ERROR(cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"),
    ERROR(cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"),
    ERROR(cudaErrorInvalidNormSetting, "read as normalized float not supported for 32-bit non float type"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorInvalidClusterSize, "a kernel launch error has occurred due to cluster misconfiguration"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"),
    ERROR(cudaErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences"),
    ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"),
    ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"),
    ERROR(cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"),
    ERROR(cudaErrorStreamCaptureImplicit,
          "operation would make the legacy stream depend on a capturing blocking stream"),
    ERROR(cudaErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream"),
    ERROR(cudaErrorStreamCaptureWrongThread,
          "attempt to terminate a thread-local capture sequence from another thread"),
    ERROR(cudaErrorGraphExecUpdateFailure, "the graph update was not performed because it included changes which "
                                           "violated constraints specific to instantiated graph update"),
    ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state"),
    ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    ERROR(cudaErrorFileNotFound, "file not found"),
    ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    ERROR(cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"),
    ERROR(cudaErrorInvalidSource, "device kernel image is invalid"),
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
