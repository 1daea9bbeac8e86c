// driver.h: internal header of the CUDA driver API.
//
// Driver calls use runtime/api, not runtime/work, so that checks, capture and synchronisation are written once. Streams and
// events are the same handles in both APIs, and a CUfunction is a kernel's host address. Only calls without a counterpart in
// the runtime (32-bit fills) use runtime/work directly.
//
// The reference is NVIDIA's "CUDA Driver API"; comments describe only differences.
#ifndef DRIVER_H
#define DRIVER_H

#include "runtime/api/graphs.h"

#include <cuda.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // deprecated functions are defined, too

// Converts a runtime error; most have the same number.
CUresult sim_driver_error(cudaError_t error);

// A 2D copy with an array on at least one side.
CUresult sim_copy_rows_of_arrays(const CUDA_MEMCPY2D *p, bool async, CUstream stream);

// Calls a runtime function, and restores the runtime's last error.
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
CUresult sim_check_device(CUdevice device); // an error if it is no device, or before cuInit

// The error of a call before cuInit, or without a context.
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
// Returns `error` unless the condition holds.
#define NEED(condition, error) RETURN_IF((condition) ? CUDA_SUCCESS : (error))

static inline void *pointer_at(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

#endif
