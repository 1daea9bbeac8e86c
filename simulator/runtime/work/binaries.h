// binaries.h: what the program has: its binaries, kernels and variables, in tables that the runtime's lock guards.
#ifndef BINARIES_H
#define BINARIES_H

#include "runtime/work/module.h"

// What the program registered, or loaded as it ran: then sim_unload_binary frees it, with its modules and kernels.
typedef struct Binary {
    const char **texts; // the PTX that was chosen, of each file that was compiled apart
    int text_count;     // 0 if there is none
    Module *modules[SIM_MAX_DEVICES]; // what each device has made of it; NULL before it is needed there
    Arena arena;
    struct Binary *next;
} Binary;

// Of its binary, and freed with it.
typedef struct Kernel {
    const void *host; // the address by which the program knows it
    const char *name;
    Binary *binary;
    int max_dynamic_bytes[SIM_MAX_DEVICES]; // cudaFuncAttributeMaxDynamicSharedMemorySize, -1 if not set
    bool large_clusters[SIM_MAX_DEVICES];   // cudaFuncAttributeNonPortableClusterSizeAllowed
    struct Kernel *next;
} Kernel;

typedef struct Symbol {
    const void *host;
    const char *name;
    size_t bytes;
    Binary *binary;
    void **managed; // where the program keeps its pointer to a managed variable
    struct Symbol *next;
} Symbol;

Binary *sim_new_binary(void);
void sim_keep_binary(Binary *binary); // as one that the program registered
Module *sim_module_of(Binary *binary); // for the current device; NULL if the binary holds no PTX
void sim_unload_binary(Binary *binary); // with its kernels
// A kernel that the program knows by this address; if NULL, by that of what is returned.
Kernel *sim_add_kernel(Binary *binary, const char *name, const void *host);
Kernel *sim_kernel_of(const void *host); // or NULL
Kernel *sim_kernel_of_code(const Module *module, uint64_t address); // whose code, now ready, has this address; or NULL
Kernel *sim_kernel_named(const Binary *binary, const char *name); // or NULL
// The kernel with this address in the program, and its code, which is ready.
cudaError_t sim_find_kernel(const void *host, Kernel **kernel, const Function **function);
void sim_add_symbol(Binary *binary, const void *host, const char *name, size_t bytes, void **managed);
Symbol *sim_symbol_of(const void *host); // or NULL
Variable *sim_variable_of(const Symbol *symbol); // or NULL
// The variable, of the current device, that begins at this address, and whose it is; false if there is none.
bool sim_find_variable_at(uint64_t address, const Binary **binary, const Variable **variable);
bool sim_in_managed_variable(const void *pointer);
void sim_reset_program(void); // kernels' attributes and variables on the current device, to what they were at the start

#endif
