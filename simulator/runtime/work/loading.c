// loading.c: loads the module of a binary when the program first uses one of its kernels or variables on a device.
#include "runtime/work/binaries.h"

#include <stdlib.h>
#include <string.h>

Binary *sim_new_binary(void)
{
    Binary *binary = calloc(1, sizeof *binary);
    if (!binary)
        sim_die("out of memory: fat binary");
    return binary;
}

Module *sim_module_of(Binary *binary)
{
    Module **module = &binary->modules[sim_current_device];
    if (!*module && binary->ptx_count)
        *module = sim_load_ptx(binary->ptx, binary->ptx_count, binary->modules[0]);
    return *module;
}

void sim_unload_binary(Binary *binary)
{
    sim_remove_kernels(binary);
    for (int device = SIM_MAX_DEVICES - 1; device >= 0; device--) // the first device's module last, because others share its variables
        if (binary->modules[device])
            sim_unload_module(binary->modules[device]);
    sim_free_arena(&binary->arena);
    free(binary);
}

Variable *sim_variable_of(const Symbol *symbol)
{
    const Module *m = sim_module_of(symbol->binary);
    return m ? sim_find_variable(m->variables, (Slice){symbol->name, strlen(symbol->name)}) : NULL;
}

void sim_add_symbol(Binary *binary, const void *host_variable, const char *name, size_t bytes, void **managed)
{
    const Variable *v = sim_variable_of(sim_new_symbol(binary, host_variable, name, bytes, managed));
    if (managed && v)
        *managed = (void *)(uintptr_t)v->address;
}

cudaError_t sim_find_kernel(const void *host_stub, Kernel **kernel, const Function **function)
{
    *kernel = sim_kernel_of(host_stub);
    if (!*kernel)
        return cudaErrorInvalidDeviceFunction;
    Module *m = sim_module_of((*kernel)->binary);
    if (!m)
        return cudaErrorNoKernelImageForDevice;
    if (m->error[0])
        return cudaErrorInvalidPtx;
    Function *f = sim_find_function(m, (Slice){(*kernel)->name, strlen((*kernel)->name)});
    if (!f || !f->is_defined)
        return cudaErrorInvalidDeviceFunction;
    sim_prepare_function(m, f);
    *function = f;
    return cudaSuccess;
}

void sim_reset_device_state(void)
{
    for (const Binary *b = sim_registered_binaries(); b; b = b->next)
        if (sim_loaded_module(b))
            sim_initialise_variables(sim_loaded_module(b));
    sim_reset_kernels();
}
