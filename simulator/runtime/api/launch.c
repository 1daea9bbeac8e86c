// launch.c: launches kernels and host functions. Launches are synchronous: they return when the kernel has ended.
#include "checker/host_checks.h"
#include "runtime/api/graphs.h"
#include "runtime/work/device_runtime.h"

enum { PREFERRED_CARVEOUT = 14, NVLINK_SCHEDULING = 16 }; // launch attributes added after CUDA 12.0

// ---- kernel<<<grid, block, bytes, stream>>>(arguments), which nvcc compiles to two calls

typedef struct Configuration {
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    cudaStream_t stream;
    dim3 cluster;          // x == 0: use the kernel's __cluster_dims__, if any
    bool is_dependent;     // cudaLaunchAttributeProgrammaticStreamSerialization
    const void *call_site; // return address
} Configuration;

// A stack, because arguments are evaluated between the two calls and may launch other kernels.
enum { MAX_NESTED_LAUNCHES = 64 };
static _Thread_local Configuration configurations[MAX_NESTED_LAUNCHES];
static _Thread_local int depth;
// The return address of a kernel<<<...>>> launch, which returns no error to the program; NULL for other launches.
static _Thread_local const void *chevron_call_site;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared_bytes, cudaStream_t stream)
{
    REQUIRE(depth < MAX_NESTED_LAUNCHES, cudaErrorLaunchOutOfResources);
    configurations[depth++] =
        (Configuration){grid, block, dynamic_shared_bytes, stream, {0, 0, 0}, false, __builtin_return_address(0)};
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared_bytes, void *stream)
{
    REQUIRE(depth > 0, cudaErrorMissingConfiguration);
    const Configuration c = configurations[--depth];
    *grid = c.grid;
    *block = c.block;
    *dynamic_shared_bytes = c.dynamic_shared_bytes;
    memcpy(stream, &c.stream, sizeof c.stream);
    chevron_call_site = c.call_site;
    return cudaSuccess;
}

// ---- Launches

static bool is_stream_of_device(cudaStream_t stream)
{
    const Stream *s = sim_stream_of(stream);
    return s && s->device == sim_current_device;
}

// Writes a hint on how to fix a rejected launch, or an empty string.
static void suggest_fix(const Kernel *kernel, const Function *f, const Configuration *c, char *hint, size_t space)
{
    const uint64_t threads = (uint64_t)c->block.x * c->block.y * c->block.z,
                   blocks = (uint64_t)c->grid.x * c->grid.y * c->grid.z;
    hint[0] = 0;
    if (threads == 0 || blocks == 0)
        snprintf(hint, space, "launch at least one %s: is the number of elements 0, or was it divided and rounded down?",
                 threads == 0 ? "thread" : "block");
    else if (threads > MAX_THREADS)
        snprintf(hint, space, "launch at most %d threads per block, not %llu", MAX_THREADS, (unsigned long long)threads);
    else if (f && f->max_threads && threads > (uint64_t)f->max_threads)
        snprintf(hint, space, "launch at most %d threads per block, as the kernel's __launch_bounds__ say, not %llu",
                 f->max_threads, (unsigned long long)threads);
    else if (f && c->dynamic_shared_bytes > sim_max_dynamic_shared_bytes(kernel, f))
        snprintf(hint, space, "request at most %zu bytes of dynamic shared memory, not %zu, or raise the limit with cudaFuncSetAttribute()",
                 sim_max_dynamic_shared_bytes(kernel, f), c->dynamic_shared_bytes);
}

static void record_rejection(const Kernel *kernel, const Function *f, const Configuration *c, cudaError_t error,
                           const void *call_site, bool was_returned)
{
    char name[200] = "(unknown)", launch[300], hint[200];
    if (kernel)
        sim_demangle((Slice){kernel->name, strlen(kernel->name)}, name, sizeof name);
    snprintf(launch, sizeof launch, "kernel %s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>", name, c->grid.x, c->grid.y, c->grid.z,
             c->block.x, c->block.y, c->block.z, c->dynamic_shared_bytes);
    suggest_fix(kernel, f, c, hint, sizeof hint);
    if (error == cudaErrorCooperativeLaunchTooLarge)
        snprintf(hint, sizeof hint, "launch at most as many blocks as the device holds at once: "
                                    "cudaOccupancyMaxActiveBlocksPerMultiprocessor() times the number of SMs");
    sim_note_rejected_launch(kernel, launch, error, hint, call_site, was_returned);
}

static cudaError_t launch_kernel(const void *host_stub, const Configuration *c, void **arguments, bool is_cooperative)
{
    Kernel *kernel = NULL;
    const Function *f = NULL;
    const bool is_chevron_launch = chevron_call_site != NULL;
    const void *call_site = is_chevron_launch ? chevron_call_site : c->call_site;
    chevron_call_site = NULL;
    BEGIN_CALL();
    sim_note_launch_attempt();
    cudaError_t error = sim_find_kernel(host_stub, &kernel, &f);
    const KernelLaunch launch = {kernel, f, c->grid, c->block, c->dynamic_shared_bytes, arguments, is_cooperative, c->cluster, c->is_dependent};
    if (!error)
        error = sim_check_launch(&launch);
    if (!error && !is_stream_of_device(c->stream))
        error = cudaErrorInvalidResourceHandle;
    if (error) {
        record_rejection(kernel, f, c, error, call_site, !is_chevron_launch);
        return sim_record_error(error);
    }
    sim_note_accepted_launch(kernel);
    if (c->is_dependent)
        sim_expect_early_launches();
    CAPTURE(c->stream, &(NodeParams){cudaGraphNodeTypeKernel,
                               .kernel = {host_stub, c->grid, c->block, c->dynamic_shared_bytes, is_cooperative, arguments, NULL}});
    sim_set_sticky_error(sim_run_kernel(&launch, call_site));
    return cudaSuccess; // as on a GPU, the next call returns the kernel's error
}

API cudaError_t cudaLaunchKernel(const void *host_stub, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared_bytes,
                                 cudaStream_t stream)
{
    const Configuration c = {grid, block, dynamic_shared_bytes, stream, {0, 0, 0}, false, __builtin_return_address(0)};
    return launch_kernel(host_stub, &c, arguments, false);
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host_stub)
{
    REQUIRE(kernel, cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)(uintptr_t)host_stub;
    return cudaSuccess;
}

API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared_bytes,
                                   cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_shared_bytes, stream);
}

// Ignores attributes that only affect scheduling; rejects unsupported attributes that change a launch's effects.
cudaError_t sim_check_attribute(const cudaLaunchAttribute *attribute, bool *is_cooperative, dim3 *cluster)
{
    switch ((int)attribute->id) {
    case cudaLaunchAttributeCooperative:
        *is_cooperative = attribute->val.cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case PREFERRED_CARVEOUT:
    case NVLINK_SCHEDULING:
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        *cluster = (dim3){attribute->val.clusterDim.x, attribute->val.clusterDim.y, attribute->val.clusterDim.z};
        return cluster->x && cluster->y && cluster->z ? cudaSuccess : cudaErrorInvalidValue;
    default:
        return (int)attribute->id > NVLINK_SCHEDULING ? cudaErrorInvalidValue : cudaErrorNotSupported;
    }
}

// Returns an error if a captured launch has a cluster attribute, because kernel nodes always use the kernel's __cluster_dims__.
static cudaError_t check_cluster_capture(cudaStream_t stream, dim3 cluster)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (cluster.x * cluster.y * cluster.z <= 1 || cudaStreamIsCapturing(stream, &status) ||
        status == cudaStreamCaptureStatusNone)
        return cudaSuccess;
    fprintf(stderr, "simulator: a launch with the attribute cudaLaunchAttributeClusterDimension cannot be captured\n");
    return sim_record_error(cudaErrorNotSupported);
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host_stub, void **arguments)
{
    bool is_cooperative = false, is_dependent = false;
    dim3 cluster = {0, 0, 0};
    REQUIRE(config && (config->attrs || config->numAttrs == 0), cudaErrorInvalidValue);
    for (unsigned k = 0; k < config->numAttrs; k++) {
        const cudaError_t error = sim_check_attribute(&config->attrs[k], &is_cooperative, &cluster);
        if (error)
            return sim_record_error(error);
        if (config->attrs[k].id == cudaLaunchAttributeProgrammaticStreamSerialization)
            is_dependent = config->attrs[k].val.programmaticStreamSerializationAllowed != 0;
    }
    RETURN_IF_ERROR(check_cluster_capture(config->stream, cluster));
    const Configuration c = {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, cluster, is_dependent,
                             __builtin_return_address(0)};
    return launch_kernel(host_stub, &c, arguments, is_cooperative);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *host_stub, dim3 grid, dim3 block, void **arguments, size_t bytes,
                                            cudaStream_t stream)
{
    const Configuration c = {grid, block, bytes, stream, {0, 0, 0}, false, __builtin_return_address(0)};
    return launch_kernel(host_stub, &c, arguments, true);
}

// Sets *run_now if the caller must call the host function now, because it was not captured.
static cudaError_t begin_host_function(cudaStream_t stream, cudaHostFn_t function, void *data, bool *run_now)
{
    BEGIN_CALL();
    REQUIRE(function, cudaErrorInvalidValue);
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeHost, .host = {function, data}});
    sim_synchronize_host(sim_current_timeline()); // the function may signal any host thread
    *run_now = true;
    return cudaSuccess;
}

API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    bool run_now = false;
    RETURN_IF_ERROR(begin_host_function(stream, function, data, &run_now));
    if (run_now)
        function(data);
    return cudaSuccess;
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaLaunchKernel, _ptsz);
PER_THREAD(cudaLaunchKernelExC, _ptsz);
PER_THREAD(cudaLaunchCooperativeKernel, _ptsz);
PER_THREAD(cudaLaunchHostFunc, _ptsz);
PER_THREAD(__cudaLaunchKernel, _ptsz);
