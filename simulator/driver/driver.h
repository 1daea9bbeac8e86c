// driver.h: what the files share that hold the functions of the CUDA driver API: all in this folder.
//
// They stand on runtime/api and not on runtime/work: what a call refuses, captures and waits for is the same in both
// libraries, and written once. So both work on the same device: its streams and events are handles here as there, and
// a CUfunction is the address by which the runtime knows a kernel. Only what the runtime has no call for (a fill with
// words) calls runtime/work itself.
// What a function does and returns is NVIDIA's "CUDA Driver API"; only differences are commented.
#ifndef DRIVER_H
#define DRIVER_H

#include "runtime/api/graphs.h"

#include <cuda.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // old programs ask for old functions

// The driver's error for one of the runtime's: most have the same number.
CUresult sim_driver_error(cudaError_t error);

// A copy of rows of which one end, or both, is an array.
CUresult sim_copy_rows_of_arrays(const CUDA_MEMCPY2D *p, bool async, CUstream stream);

// Calls a function of the runtime, which leaves no trace in the runtime's last error.
#define CALL(call)                                                 \
    ({                                                             \
        const cudaError_t last_error = sim_last_error;             \
        const bool uses_runtime = sim_uses_runtime;                \
        const CUresult called = sim_driver_error(call);            \
        sim_last_error = last_error;                               \
        sim_uses_runtime = uses_runtime;                           \
        called;                                                    \
    })

enum { SIM_MAX_DRIVER_DEVICES = 64 };
CUresult sim_check_device(CUdevice device); // whether it may be asked for

// Why a call cannot be made now: before cuInit, or without a context.
CUresult sim_driver_ready(void);
CUresult sim_context_is_current(void);

#define RETURN_IF(error)                 \
    do {                                 \
        const CUresult returned = (error); \
        if (returned)                    \
            return returned;             \
    } while (0)
#define NEED_CUINIT() RETURN_IF(sim_driver_ready())
#define NEED_CONTEXT() RETURN_IF(sim_context_is_current())
// Ends a call whose arguments are wrong.
#define NEED(condition, error) RETURN_IF((condition) ? CUDA_SUCCESS : (error))

static inline void *pointer_at(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

#endif
