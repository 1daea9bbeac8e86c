// repeats.h: launches that find all as an earlier one found it, and so would do the same.
#ifndef REPEATS_H
#define REPEATS_H

#include "checker/findings.h"
#include "runtime/work/state.h"

typedef struct Look { // at a launch, before it runs
    struct MemoizedLaunch *former; // what is known of the last one like it; NULL: none is looked at
    bool again;            // it would do what that did: all that it leaves is done, and it need not run
    bool in_vain;          // what that did is known, but this one finds something else
    State *found;          // all that kernels may touch; NULL: that is not looked at
    TimesFound times_found; // what the checker has found by now
} Look;

// The current operation is this launch, of which a thread has so many bytes for calls. The lock of lock.c is held, until
// sim_look_behind has been told how the launch ended, if it ran.
Look sim_look_before(const KernelLaunch *launch, size_t stack);
void sim_look_behind(const KernelLaunch *l, const Look *look, cudaError_t error);
// A function is gone, and another one may take its place; or a texture, or surface, is.
void sim_forget_launches(void);

#endif
