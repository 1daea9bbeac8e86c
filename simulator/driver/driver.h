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

// Converts a runtime error; most have the same number in both APIs.
CUresult sim_driver_error(cudaError_t error);

// A 2D copy with an array on at least one side.
CUresult sim_copy_2d_arrays(const CUDA_MEMCPY2D *p, bool async, CUstream stream);

// Calls a runtime function, and restores the runtime's last error and sim_uses_runtime.
#define CALL_RUNTIME(call)                                                 \
    ({                                                             \
        const cudaError_t last_error = sim_last_error;             \
        const bool uses_runtime = sim_uses_runtime;                \
        const CUresult call_result = sim_driver_error(call);       \
        sim_last_error = last_error;                               \
        sim_uses_runtime = uses_runtime;                           \
        call_result;                                               \
    })

enum { SIM_MAX_DRIVER_DEVICES = 64 };
CUresult sim_check_device(CUdevice device); // an error for an invalid device, or before cuInit

CUresult sim_require_cuinit(void);  // an error before cuInit
CUresult sim_require_context(void); // an error before cuInit, or without a current context

#define CU_RETURN_IF_ERROR(error)                 \
    do {                                 \
        const CUresult result = (error); \
        if (result)                      \
            return result;               \
    } while (0)
#define REQUIRE_CUINIT() CU_RETURN_IF_ERROR(sim_require_cuinit())
#define REQUIRE_CONTEXT() CU_RETURN_IF_ERROR(sim_require_context())
// Returns `error` unless the condition holds.
#define CU_REQUIRE(condition, error) CU_RETURN_IF_ERROR((condition) ? CUDA_SUCCESS : (error))

static inline void *pointer_at(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

#endif
