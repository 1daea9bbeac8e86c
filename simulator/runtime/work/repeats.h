// repeats.h: launches that would do again what the last one did, and that changed nothing.
#ifndef REPEATS_H
#define REPEATS_H

#include "runtime/work/work.h"

typedef struct Look { // at a launch, before it runs
    struct Former *former; // what is known of the last one like it; NULL: none is looked at
    bool again;    // it would do what that did: all that it leaves is done, and it need not run
    bool looked;   // these are known:
    Digest found;  // all that kernels may touch,
    uint64_t times_found; // and what the checker had found
} Look;

// The current operation is this launch, of which a thread has so many bytes for calls. The lock of lock.c is held, until
// sim_look_behind has been told how the launch ended, if it ran.
Look sim_look_before(const KernelLaunch *launch, size_t stack);
void sim_look_behind(const Look *look, cudaError_t error);
// A function is gone, and another one may take its place; or a texture, or surface, is.
void sim_forget_launches(void);

#endif
