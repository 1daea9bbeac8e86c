// finding_kinds.c: the names of the kinds of findings.
#include "checker/findings.h"

const KindNames sim_kinds[FINDING_KINDS] = {
    [RACE_SHARED] = {"race-shared", "data race in shared memory", 2},
    [RACE_GLOBAL] = {"race-global", "data race in global memory", 2},
    [RACE_OPERATIONS] = {"race-operations", "data race between unordered operations", 2},
    [OUT_OF_BOUNDS] = {"out-of-bounds", "out-of-bounds access", 3},
    [MISALIGNED] = {"misaligned", "misaligned address", 3},
    [USE_AFTER_FREE] = {"use-after-free", "use after free", 3},
    [HOST_POINTER] = {"host-pointer", "host pointer in device code", 3},
    [INVALID_FREE] = {"invalid-free", "invalid free", 3},
    [LEAK] = {"leak", "memory leak", 6},
    [UNINITIALISED] = {"uninitialised", "uninitialised read", 4},
    [BARRIER_DIVERGENCE] = {"barrier", "barrier divergence", 1},
    [INVALID_WARP_OPERATION] = {"lanes", "invalid warp-level operation", 1},
    [INVALID_MBARRIER_OPERATION] = {"mbarrier", "invalid mbarrier operation", 1},
    [KERNEL_FAULT] = {"kernel-fault", "kernel fault", 5},
    [UNCHECKED_ERROR] = {"unchecked-error", "unchecked CUDA error", 0},
};
