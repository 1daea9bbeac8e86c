// repeats.h: memoised launches. A launch whose inputs equal those of an earlier one is skipped, and its results are copied.
#ifndef REPEATS_H
#define REPEATS_H

#include "checker/findings.h"
#include "runtime/work/state.h"

typedef struct MemoLookup { // result of sim_memo_lookup
    struct MemoizedLaunch *entry; // of the last launch with the same key; NULL: not memoisable
    bool skipped;                 // the inputs match; the results are already in memory, so the launch must not run
    bool mismatch;                // an entry exists, but the inputs differ
    MemoryState *state_before;    // memory before the launch; NULL: not compared
    OccurrenceCounts counts_before; // the checker's counts of findings before the launch
} MemoLookup;

// Called within the launch's operation. `stack`: a thread's local memory for calls, in bytes. Unless `skipped`, pass the result
// to sim_memo_update after the launch. The caller holds the lock of machine/memory/lock.c throughout.
MemoLookup sim_memo_lookup(const KernelLaunch *launch, size_t stack);
void sim_memo_update(const KernelLaunch *l, const MemoLookup *lookup, cudaError_t error);
// Removes all entries. Called when a function is freed, whose address may be reused, or a texture or surface object is destroyed.
void sim_clear_memo(void);

#endif
