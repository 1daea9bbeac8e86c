// calls_launch.c: launches of kernels, and of functions of the host.
//
// All work is done when it is asked for: a launch returns when the kernel has ended.
#include "calls.h"

static const size_t LEAST_STACK = 65536; // of a thread that calls functions, in bytes

static _Thread_local struct {
    dim3 grid, block;
    size_t dynamic_bytes;
    cudaStream_t stream;
} configuration; // of kernel<<<...>>>, between its two calls

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_bytes, cudaStream_t stream)
{
    configuration.grid = grid;
    configuration.block = block;
    configuration.dynamic_bytes = dynamic_bytes;
    configuration.stream = stream;
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_bytes, void *stream)
{
    *grid = configuration.grid;
    *block = configuration.block;
    *dynamic_bytes = configuration.dynamic_bytes;
    memcpy(stream, &configuration.stream, sizeof configuration.stream);
    return cudaSuccess;
}

static cudaError_t check_launch(const Kernel *kernel, const Function *f, dim3 grid, dim3 block, size_t dynamic_bytes)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (threads == 0 || threads > MAX_THREADS || block.x > 1024 || block.y > 1024 || block.z > 64 || grid.x == 0 ||
        grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    const uint64_t most = f->max_threads ? (uint64_t)f->max_threads : MAX_THREADS;
    if (threads > most || (f->exact_threads && threads < most) ||
        f->shared_bytes > (size_t)sim_device()->shared_per_block)
        return cudaErrorInvalidValue;
    if (f->cluster_blocks > 1) {
        fprintf(stderr, "simulator: kernel %s: clusters, here of %d blocks, are not supported\n", kernel->name,
                f->cluster_blocks);
        return cudaErrorNotSupported;
    }
    return dynamic_bytes > sim_most_dynamic_bytes(kernel, f) ? cudaErrorInvalidValue : cudaSuccess;
}

// Whether the device holds all blocks of a grid at once.
static bool fits_at_once(const Function *f, dim3 grid, dim3 block, size_t dynamic_bytes)
{
    const int per_sm = sim_blocks_per_sm(f, (int)(block.x * block.y * block.z), dynamic_bytes);
    return (uint64_t)grid.x * grid.y * grid.z <= (uint64_t)per_sm * (uint64_t)sim_device()->sm_count;
}

static cudaError_t launch_kernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, bool cooperative)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    cudaError_t error = sim_find_kernel(host, &kernel, &f);
    if (!error)
        error = check_launch(kernel, f, grid, block, dynamic_bytes);
    if (!error && cooperative && !fits_at_once(f, grid, block, dynamic_bytes))
        error = cudaErrorCooperativeLaunchTooLarge;
    if (error)
        return sim_done(error);
    const size_t asked = sim_limit(cudaLimitStackSize), stack = asked > LEAST_STACK ? asked : LEAST_STACK;
    sim_sticky_error = (cooperative ? sim_launch_cooperative : sim_launch)(kernel->binary->module, f, grid, block, dynamic_bytes,
                                                                       stack, arguments);
    if (sim_sticky_error)
        sim_last_error = sim_sticky_error;
    return cudaSuccess; // as on a GPU, the next call tells that the kernel failed
}

API cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return launch_kernel(host, grid, block, arguments, dynamic_bytes, false);
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t)(uintptr_t)host;
    return cudaSuccess;
}

API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_bytes, stream);
}

API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_bytes, stream);
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host, void **arguments)
{
    bool cooperative = false;
    for (unsigned k = 0; k < config->numAttrs; k++) { // others are hints
        if (config->attrs[k].id == cudaLaunchAttributeClusterDimension)
            return sim_done(cudaErrorNotSupported);
        if (config->attrs[k].id == cudaLaunchAttributeCooperative)
            cooperative = config->attrs[k].val.cooperative != 0;
    }
    return launch_kernel(host, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, cooperative);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return launch_kernel(host, grid, block, arguments, bytes, true);
}

API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    UNUSED(stream);
    STOP_IF_BROKEN();
    function(data);
    return cudaSuccess;
}
