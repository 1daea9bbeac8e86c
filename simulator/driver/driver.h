// driver.h: internal header of the CUDA driver API.
//
// Driver functions call runtime/api rather than runtime/work, and so share its checks, capture and synchronisation. Only functions
// without a counterpart in the runtime (32-bit fills) call runtime/work. Streams and events are the same handles in both APIs, and
// a CUfunction is the address of a kernel's host stub.
//
// The reference is NVIDIA's "CUDA Driver API"; comments describe only differences.
#ifndef DRIVER_H
#define DRIVER_H

#include "runtime/api/graphs.h"

#include <cuda.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // this folder defines deprecated functions, too

// Converts a runtime error. Most errors have the same number in both APIs.
CUresult sim_driver_error(cudaError_t error);

// Converts the parameters of a copy; it fails if a position or width in an array is not a whole number of elements.
CUresult sim_convert_copy(const CUDA_MEMCPY3D *p, struct cudaMemcpy3DParms *copy);
void sim_convert_copy_back(const struct cudaMemcpy3DParms *copy, CUDA_MEMCPY3D *p); // the type of memory is CU_MEMORYTYPE_UNIFIED
// Executes a 2D copy whose source or destination is an array.
CUresult sim_copy_2d_arrays(const CUDA_MEMCPY2D *p, bool is_async, CUstream stream);

// Calls a runtime function without changing the runtime's last error and sim_uses_runtime.
#define CALL_RUNTIME(call)                                   \
    ({                                                       \
        const cudaError_t last_error = sim_last_error;       \
        const bool uses_runtime = sim_uses_runtime;          \
        const CUresult call_result = sim_driver_error(call); \
        sim_last_error = last_error;                         \
        sim_uses_runtime = uses_runtime;                     \
        call_result;                                         \
    })

enum { SIM_MAX_DRIVER_DEVICES = 64 };
CUresult sim_check_device(CUdevice device); // returns an error for an invalid device, or before cuInit

CUresult sim_require_cuinit(void);  // returns an error before cuInit
CUresult sim_require_context(void); // returns an error before cuInit, or without a current context

#define CU_RETURN_IF_ERROR(error)        \
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
