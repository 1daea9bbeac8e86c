// launches.c: driver API: launches and occupancy.
#include "driver/driver.h"

enum { MAX_ARGUMENTS = 4096 };

// Sets *arguments to pointers to the arguments if these are packed in `extra`. `unpacked` has room for MAX_ARGUMENTS pointers.
static CUresult unpack_extra(CUfunction function, void ***arguments, void **extra, void **unpacked)
{
    Kernel *kernel;
    const Function *f;
    LOCK_MEMORY();
    if (!extra)
        return CUDA_SUCCESS;
    CU_REQUIRE(!*arguments, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(sim_driver_error(sim_find_kernel(function, &kernel, &f)));
    CU_RETURN_IF_ERROR(sim_driver_error(sim_unpack_arguments(f, extra, unpacked, MAX_ARGUMENTS)));
    *arguments = unpacked;
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, CUstream stream,
                            void **arguments, void **extra)
{
    void *unpacked[MAX_ARGUMENTS];
    REQUIRE_CONTEXT();
    CU_RETURN_IF_ERROR(unpack_extra(function, &arguments, extra, unpacked));
    return CALL_RUNTIME(cudaLaunchKernel(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z}, arguments,
                                 dynamic_shared_bytes, stream));
}

API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes,
                                       CUstream stream, void **arguments)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaLaunchCooperativeKernel(function, (dim3){grid_x, grid_y, grid_z}, (dim3){block_x, block_y, block_z},
                                            arguments, dynamic_shared_bytes, stream));
}

_Static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "launch attributes have the same layout in both APIs");

API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **arguments, void **extra)
{
    void *unpacked[MAX_ARGUMENTS];
    REQUIRE_CONTEXT();
    CU_REQUIRE(c, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(unpack_extra(function, &arguments, extra, unpacked));
    const cudaLaunchConfig_t config = {.gridDim = {c->gridDimX, c->gridDimY, c->gridDimZ},
                                       .blockDim = {c->blockDimX, c->blockDimY, c->blockDimZ},
                                       .dynamicSmemBytes = c->sharedMemBytes, .stream = c->hStream,
                                       .attrs = (cudaLaunchAttribute *)c->attrs, .numAttrs = c->numAttrs};
    return CALL_RUNTIME(cudaLaunchKernelExC(&config, function, arguments));
}

API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaLaunchHostFunc(stream, function, data));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                  size_t dynamic_shared_bytes, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(
        cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared_bytes, flags));
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                         size_t dynamic_shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic_shared_bytes, 0);
}

// Chooses the block size with the most resident threads per SM; if several have, the largest.
API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *threads, CUfunction function, CUoccupancyB2DSize dynamic_bytes_for,
                                                       size_t dynamic_shared_bytes, int limit, unsigned flags)
{
    int max_threads = 0, max_resident_threads = 0, blocks;
    CUresult error = CUDA_SUCCESS;
    REQUIRE_CONTEXT();
    CU_REQUIRE(grid && threads, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(cuFuncGetAttribute(&max_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    max_threads = limit > 0 && limit < max_threads ? limit : max_threads;
    *grid = *threads = 0;
    for (int block_size = max_threads; block_size >= 1 && !error; block_size = (block_size - 1) / LANES * LANES) {
        const size_t bytes = dynamic_bytes_for ? dynamic_bytes_for(block_size) : dynamic_shared_bytes;
        error = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, block_size, bytes, flags);
        if (!error && blocks * block_size > max_resident_threads) {
            max_resident_threads = blocks * block_size;
            *threads = block_size;
            *grid = blocks * sim_device()->sm_count;
        }
    }
    return error;
}

API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *threads, CUfunction function,
                                              CUoccupancyB2DSize dynamic_bytes_for, size_t dynamic_shared_bytes, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, threads, function, dynamic_bytes_for, dynamic_shared_bytes, limit, 0);
}
