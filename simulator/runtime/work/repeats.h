// repeats.h: launches that find all as an earlier one found it, and so would do the same.
#ifndef REPEATS_H
#define REPEATS_H

#include "checker/findings.h"
#include "runtime/work/state.h"

typedef struct MemoLookup { // at a launch, before it runs
    struct MemoizedLaunch *entry; // what is known of the last one like it; NULL: none is looked at
    bool skipped;            // it would do what that did: all that it leaves is done, and it need not run
    bool mismatch;          // what that did is known, but this one finds something else
    MemoryState *found;          // all that kernels may touch; NULL: that is not looked at
    TimesFound times_found; // what the checker has found by now
} MemoLookup;

// The current operation is this launch, of which a thread has so many bytes for calls. The lock of lock.c is held, until
// sim_memo_update has been told how the launch ended, if it ran.
MemoLookup sim_memo_lookup(const KernelLaunch *launch, size_t stack);
void sim_memo_update(const KernelLaunch *l, const MemoLookup *lookup, cudaError_t error);
// A function is gone, and another one may take its place; or a texture, or surface, is.
void sim_clear_memo(void);

#endif
