// calls.h: what the files share that hold the functions of the CUDA runtime, calls_*.c.
//
// What a function does and returns is NVIDIA's "CUDA Runtime API"; only differences are commented.
#ifndef CALLS_H
#define CALLS_H

#include "sim.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define UNUSED(x) ((void)(x))

enum { MAX_THREADS = 1024 }; // of a block

// ---- calls_errors.c

extern _Thread_local cudaError_t sim_last_error; // of this host thread
extern _Atomic cudaError_t sim_sticky_error;     // of the process

// Remembers a failed call's error, for cudaGetLastError.
cudaError_t sim_done(cudaError_t error);

// What a call gives that comes after a kernel has failed: the same error, until a reset.
#define STOP_IF_BROKEN()                       \
    do {                                       \
        if (sim_sticky_error)                  \
            return sim_done(sim_sticky_error); \
    } while (0)

// Host threads that look at memory, change it or run kernels do so one after the other.
pthread_mutex_t *sim_lock_memory(void);
void sim_unlock_memory(pthread_mutex_t **lock);

// The lock is held until the function ends.
#define HOLD_MEMORY() \
    __attribute__((cleanup(sim_unlock_memory), unused)) pthread_mutex_t *held = sim_lock_memory()

// ---- calls_registration.c: what the program registers before main

typedef struct Binary {
    Module *module;
    Arena arena;
    struct Binary *next;
} Binary;

typedef struct Kernel {
    const void *host; // the address by which the program knows it
    const char *name;
    Binary *binary;
    int max_dynamic_bytes; // cudaFuncAttributeMaxDynamicSharedMemorySize, -1 if not set
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

Kernel *sim_kernel_of(const void *host); // or NULL
// The kernel with this address in the program, and its code.
cudaError_t sim_find_kernel(const void *host, Kernel **kernel, const Function **function);
Symbol *sim_symbol_of(const void *host); // or NULL
Variable *sim_variable_of(const Symbol *symbol); // or NULL
bool sim_in_managed_variable(const void *pointer);
void sim_reset_program(void); // kernels' attributes and variables, to what they were at the start

// ---- calls_functions.c

// How much dynamic shared memory a launch may ask for: what the program has set for the kernel, or what all have.
size_t sim_most_dynamic_bytes(const Kernel *kernel, const Function *function);

// ---- calls_devices.c

size_t sim_limit(enum cudaLimit limit); // as set, or the usual one

#endif
