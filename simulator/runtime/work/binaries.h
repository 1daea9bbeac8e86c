// binaries.h: the program's fat binaries, and the kernels and variables in them; guarded by the runtime's lock.
#ifndef BINARIES_H
#define BINARIES_H

#include "runtime/work/module.h"

// Registered at program start, or loaded at run time. sim_unload_binary frees it with its modules and kernels.
typedef struct Binary {
    const char **ptx; // the PTX of each separately compiled file, for the best architecture that this device supports
    int ptx_count;
    Module *modules[SIM_MAX_DEVICES]; // NULL until first used on the device
    Arena arena;
    struct Binary *next;
} Binary;

// Owned by its binary.
typedef struct Kernel {
    const void *host_stub; // address of its host function, which identifies the kernel in API calls
    const char *name;
    Binary *binary;
    int max_dynamic_shared_bytes[SIM_MAX_DEVICES]; // cudaFuncAttributeMaxDynamicSharedMemorySize; -1 if not set
    bool non_portable_clusters[SIM_MAX_DEVICES];   // cudaFuncAttributeNonPortableClusterSizeAllowed
    struct Kernel *next;
} Kernel;

typedef struct Symbol {
    const void *host_variable; // address in the host program, which identifies the variable in API calls
    const char *name;
    size_t bytes;
    Binary *binary;
    void **managed; // the program's pointer to a managed variable; NULL for other variables
    struct Symbol *next;
} Symbol;

// ---- binaries.c: lists and lookups, which load no module

void sim_register_binary(Binary *binary); // adds it to the list of registered binaries
const Binary *sim_registered_binaries(void); // the first of the list, or NULL
// The module of the current device, if it is loaded, as it is after sim_find_kernel; otherwise NULL.
static inline Module *sim_loaded_module(const Binary *binary)
{
    return binary->modules[sim_current_device];
}
// If `host_stub` is NULL, the returned object's address identifies the kernel.
Kernel *sim_add_kernel(Binary *binary, const char *name, const void *host_stub);
void sim_remove_kernels(const Binary *binary);
Kernel *sim_kernel_of(const void *host_stub); // or NULL
Kernel *sim_kernel_of_code(const Module *module, uint64_t address); // prepares the kernel at a device function pointer; or NULL
Kernel *sim_kernel_named(const Binary *binary, const char *name); // or NULL
void sim_reset_kernels(void); // resets kernel attributes on the current device
Symbol *sim_new_symbol(Binary *binary, const void *host_variable, const char *name, size_t bytes, void **managed); // use sim_add_symbol
Symbol *sim_symbol_of(const void *host_variable); // or NULL
// Finds the variable of the current device at this address, and its binary; false if there is none.
bool sim_find_variable_at(uint64_t address, const Binary **binary, const Variable **variable);
bool sim_in_managed_variable(const void *pointer);

// ---- loading.c

Binary *sim_new_binary(void);
Module *sim_module_of(Binary *binary); // for the current device; loads it on first use; NULL: no PTX
void sim_unload_binary(Binary *binary);
// Finds the kernel with this host stub, and its function, prepared for a launch.
cudaError_t sim_find_kernel(const void *host_stub, Kernel **kernel, const Function **function);
void sim_add_symbol(Binary *binary, const void *host_variable, const char *name, size_t bytes, void **managed);
Variable *sim_variable_of(const Symbol *symbol); // or NULL
void sim_reset_device_state(void); // resets kernel attributes and variables of the current device

#endif
