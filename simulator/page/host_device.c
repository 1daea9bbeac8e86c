// host_device.c: the simulated device's answers to queries of host code that the compiler evaluates (compiler/compiler.h).
#include "page/host_device.h"
#include "runtime/work/properties.h"
#include "runtime/work/work.h"

#include <stdlib.h>
#include <string.h>

static void load_ptx(void *context, const char *ptx, size_t bytes)
{
    HostDeviceState *state = context;
    state->ptx = malloc(bytes + 1);
    if (!state->ptx)
        sim_die("out of memory: PTX");
    memcpy(state->ptx, ptx, bytes);
    state->ptx[bytes] = 0;
}

// Registers the binary when the host code first queries a kernel.
static cudaError_t find_kernel(HostDeviceState *state, const char *name, Kernel **kernel, const Function **f)
{
    if (!state->binary) {
        state->binary = sim_new_binary();
        state->binary->ptx = (const char **)&state->ptx;
        state->binary->ptx_count = 1;
        sim_register_binary(state->binary);
    }
    *kernel = sim_kernel_named(state->binary, name);
    if (!*kernel)
        *kernel = sim_add_kernel(state->binary, name, NULL);
    return sim_find_kernel((*kernel)->host_stub, kernel, f);
}

static int read_attribute(void *context, int attribute)
{
    (void)context;
    return sim_device_attribute((enum cudaDeviceAttr)attribute);
}

static int get_resident_blocks(void *context, const char *name, int threads, uint64_t dynamic_shared_bytes)
{
    Kernel *kernel;
    const Function *f;
    if (find_kernel(context, name, &kernel, &f) || threads > MAX_THREADS)
        return 0;
    return sim_blocks_per_sm(f, threads, dynamic_shared_bytes);
}

static bool describe_kernel(void *context, const char *name, HostKernelFacts *facts)
{
    Kernel *kernel;
    const Function *f;
    struct cudaFuncAttributes attributes;
    if (find_kernel(context, name, &kernel, &f))
        return false;
    sim_describe_kernel(&attributes, kernel, f);
    *facts = (HostKernelFacts){.shared_bytes = attributes.sharedSizeBytes, .local_bytes = attributes.localSizeBytes,
                               .max_threads = attributes.maxThreadsPerBlock, .registers = attributes.numRegs, .ptx_version = attributes.ptxVersion};
    return true;
}

static dim3 dim3_of(const uint32_t size[3])
{
    return (dim3){size[0], size[1], size[2]};
}

static const char *find_rejection(void *context, const char *name, const HostShape *shape)
{
    Kernel *kernel;
    const Function *f;
    if (find_kernel(context, name, &kernel, &f))
        return "the simulator cannot read its PTX";
    kernel->max_dynamic_shared_bytes[sim_current_device] = (int)shape->max_dynamic_shared_bytes;
    kernel->non_portable_clusters[sim_current_device] = shape->non_portable_clusters;
    void *arguments[MAX_KERNEL_ARGUMENTS], *placeholder = arguments; // the check does not read the arguments
    int count = 0;
    for (const Variable *v = f->params; v && count < MAX_KERNEL_ARGUMENTS; v = v->next)
        arguments[count++] = placeholder;
    const cudaError_t error = sim_check_launch(&(KernelLaunch){kernel, f, dim3_of(shape->grid), dim3_of(shape->block), shape->dynamic_shared_bytes, arguments,
                                                               shape->is_cooperative, dim3_of(shape->cluster), false});
    return error ? sim_last_rejection() : NULL;
}

HostDevice sim_host_device(HostDeviceState *state)
{
    *state = (HostDeviceState){0};
    return (HostDevice){state, load_ptx, read_attribute, get_resident_blocks, describe_kernel, find_rejection};
}

void sim_end_host_device(HostDeviceState *state)
{
    if (state->binary)
        sim_unload_binary(state->binary);
    free(state->ptx);
}
