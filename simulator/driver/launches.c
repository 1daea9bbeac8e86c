// launches.c: driver API: launches and occupancy.
#include "driver/driver.h"

// The arguments as pointers, from either form; `unpacked` has room for MAX_ARGUMENTS.
enum { MAX_ARGUMENTS = 4096 };

static CUresult list_arguments(CUfunction function, void ***arguments, void **extra, void **unpacked)
{
    Kernel *kernel;
    const Function *f;
    LOCK_MEMORY();
    if (!extra)
        return CUDA_SUCCESS;
    NEED(!*arguments, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(sim_driver_error(sim_find_kernel(function, &kernel, &f)));
    RETURN_IF(sim_driver_error(sim_unpack_arguments(f, extra, unpacked, MAX_ARGUMENTS)));
    *arguments = unpacked;
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned dynamic_bytes, CUstream stream,
                            void **arguments, void **extra)
{
    void *unpacked[MAX_ARGUMENTS];
    NEED_CONTEXT();
    RETURN_IF(list_arguments(function, &arguments, extra, unpacked));
    return CALL(cudaLaunchKernel(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, arguments,
                                 dynamic_bytes, stream));
}

API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_bytes,
                                       CUstream stream, void **arguments)
{
    NEED_CONTEXT();
    return CALL(cudaLaunchCooperativeKernel(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z},
                                            arguments, dynamic_bytes, stream));
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "attributes are the runtime's");

API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **arguments, void **extra)
{
    void *unpacked[MAX_ARGUMENTS];
    NEED_CONTEXT();
    NEED(c, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(list_arguments(function, &arguments, extra, unpacked));
    const cudaLaunchConfig_t config = {.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                       .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                       .dynamicSmemBytes = c->sharedMemBytes, .stream = c->hStream,
                                       .attrs = (cudaLaunchAttribute *)c->attrs, .numAttrs = c->numAttrs};
    return CALL(cudaLaunchKernelExC(&config, function, arguments));
}

API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    NEED_CONTEXT();
    return CALL(cudaLaunchHostFunc(stream, function, data));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                  size_t dynamic_bytes, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_bytes, flags));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                         size_t dynamic_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_bytes, 0);
}

// Maximises threads on an SM; among equal block sizes the largest.
API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *threads, CUfunction function,
                                              CUoccupancyB2DSize bytes_for, size_t dynamic_bytes, int limit)
{
    int most = 0, best = 0, blocks;
    CUresult error = CUDA_SUCCESS;
    NEED_CONTEXT();
    NEED(grid && threads, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    most = limit > 0 && limit < most ? limit : most;
    *grid = *threads = 0;
    for (int size = most; size >= 1 && !error; size = (size - 1) / LANES * LANES) {
        error = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size,
                                                            bytes_for ? bytes_for(size) : dynamic_bytes);
        if (!error && blocks * size > best) {
            best = blocks * size;
            *threads = size;
            *grid = blocks * sim_device()->sm_count;
        }
    }
    return error;
}
