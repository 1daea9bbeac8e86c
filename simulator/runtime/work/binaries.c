// binaries.c: lists the program's fat binaries, and the kernels and variables in them. These functions load no module (loading.c),
// so that operations of the device may use them.
#include "runtime/work/binaries.h"
#include "checker/host_checks.h"

#include <stdlib.h>
#include <string.h>

static Binary *binaries; // registered at program start; excludes libraries loaded at run time
static Kernel *kernels;
static Symbol *symbols;

void sim_register_binary(Binary *binary)
{
    binary->next = binaries;
    binaries = binary;
}

const Binary *sim_registered_binaries(void)
{
    return binaries;
}

Kernel *sim_add_kernel(Binary *binary, const char *name, const void *host_stub)
{
    Kernel *k = calloc(1, sizeof *k);
    if (!k)
        sim_die("out of memory: kernel");
    *k = (Kernel){.host_stub = host_stub ? host_stub : k, .name = name, .binary = binary, .next = kernels};
    for (int device = 0; device < SIM_MAX_DEVICES; device++)
        k->max_dynamic_shared_bytes[device] = -1;
    sim_add_to_kernel_count(1);
    return kernels = k;
}

void sim_remove_kernels(const Binary *binary)
{
    for (Kernel **link = &kernels; *link;) {
        Kernel *k = *link;
        if (k->binary == binary) {
            *link = k->next;
            free(k);
            sim_add_to_kernel_count(-1);
        } else {
            link = &k->next;
        }
    }
}

void sim_reset_kernels(void)
{
    for (Kernel *k = kernels; k; k = k->next) {
        k->max_dynamic_shared_bytes[sim_current_device] = -1;
        k->non_portable_clusters[sim_current_device] = false;
    }
}

Symbol *sim_new_symbol(Binary *binary, const void *host_variable, const char *name, size_t bytes, void **managed)
{
    Symbol *s = calloc(1, sizeof *s);
    if (!s)
        sim_die("out of memory: variable");
    *s = (Symbol){host_variable, name, bytes, binary, managed, symbols};
    return symbols = s;
}

Kernel *sim_kernel_of(const void *host_stub)
{
    for (Kernel *k = kernels; k; k = k->next)
        if (k->host_stub == host_stub)
            return k;
    return NULL;
}

Kernel *sim_kernel_of_code(const Module *module, uint64_t address)
{
    Function *f = module->functions;
    while (f && (uint64_t)(uintptr_t)f != address)
        f = f->next;
    for (Kernel *k = f && f->is_kernel && f->is_defined ? kernels : NULL; k; k = k->next)
        if (sim_slice_is(f->name, k->name) && sim_loaded_module(k->binary) == module) {
            sim_prepare_function(sim_loaded_module(k->binary), f);
            return k;
        }
    return NULL;
}

Kernel *sim_kernel_named(const Binary *binary, const char *name)
{
    for (Kernel *k = kernels; k; k = k->next)
        if (k->binary == binary && strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

bool sim_find_variable_at(uint64_t address, const Binary **binary, const Variable **variable)
{
    for (*binary = binaries; *binary; *binary = (*binary)->next) {
        const Module *m = sim_loaded_module(*binary);
        for (*variable = m ? m->variables : NULL; *variable; *variable = (*variable)->next)
            if ((*variable)->address == address && ((*variable)->space == GLOBAL || (*variable)->space == CONST))
                return true;
    }
    return false;
}

Symbol *sim_symbol_of(const void *host_variable)
{
    for (Symbol *s = symbols; s; s = s->next)
        if (s->host_variable == host_variable)
            return s;
    return NULL;
}

bool sim_in_managed_variable(const void *pointer)
{
    for (const Symbol *s = symbols; s; s = s->next)
        if (s->managed && (uintptr_t)pointer - (uintptr_t)*s->managed < s->bytes)
            return true;
    return false;
}
