// observer.h: what the machine reports of what happens in it, to whoever observes it: the checker.
//
// The machine knows nothing else of its observer, and runs without one. An observer keeps what it knows of a launch,
// a block, a warp and an allocation in members of these that are named for it; they are NULL, and what follows is not
// called for them, where it does not observe them.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "machine/block.h"

// An observer keeps what it knows of memory by lines of so many bytes. Of shared memory none holds two variables.
enum { LINE_BYTES = 128 };

// By these keys threads of a block, or of a cluster, find each other, and by the place where an mbarrier lies.
enum { CLUSTER_KEY = 1 }; // of the cluster's barrier
static inline uint64_t sim_barrier_key(int number) // of a barrier of the block that counts
{
    return CLUSTER_KEY + 1 + (uint64_t)number;
}

typedef enum FenceKind { MEMORY_FENCE, INITS_FENCE, PROXY_FENCE } FenceKind; // the second: fence.mbarrier_init

// The thread that launches, which holds the lock of lock.c, calls what is of a launch; the host thread that runs a block all
// that is of it and of its warps, without a lock, so that several do at once. What it finds at an allocation or a launch
// the observer guards itself.
typedef struct Observer {
    // ---- Always called, if there is an observer
    struct LaunchClocks *(*begin_launch)(const Launch *launch); // the launch's `clocks`
    void (*end_launch)(Launch *launch);                        // with an error, or without
    void (*begin_allocation)(Allocation *a);
    void (*end_allocation)(Allocation *a); // whose memory is there still
    // The host itself touched memory that is the device's, or that both share. Whether it may try again. `last`: nobody
    // else wants to know.
    bool (*see_host_access)(uint64_t address, bool writes, const void *instruction, bool last);
    // A lane accesses memory where there is none. Says what is there; the kind of the fault.
    int (*describe_address)(uint64_t address, char *text, size_t space);

    // ---- Of a launch and a block that have `clocks`
    bool (*make_block)(Block *block); // gives it its `clocks`; false without memory
    void (*free_block)(Block *block);
    void (*begin_block)(Block *block);                          // perhaps again
    void (*open_barrier)(Block *block, const Barrier *barrier); // all of its threads have come to it
    // Lanes arrive at a barrier that has a key; what they did is known to those who wait there later, or ask.
    void (*arrive)(Warp *w, uint32_t mask, uint64_t key);
    void (*acquire)(Warp *w, uint32_t mask, uint64_t key);
    void (*await_copy)(Warp *w, int lane, uint64_t key); // the lane's copies will have come for those who ask there
    void (*meet)(Warp *w, uint32_t mask);                // lanes, at a barrier of their warp
    void (*fence)(Warp *w, const Instr *i, uint32_t mask, FenceKind kind);
    void (*end_lanes)(Warp *w, const WarpSplit *p, uint32_t mask); // behind the path's last instruction

    // An access, when its bytes have been found and before they are read or written. `owner`: the block whose shared
    // memory it is, else NULL; `a`: the allocation, else NULL. Of what nobody wrote access->unwritten is set.
    void (*access)(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a);
    void (*access_local)(Warp *w, Access *access);
    // A lane has used the generic address of a variable of another block or of another thread, whose number this is.
    void (*use_strange)(Warp *w, const Instr *i, int lane, Space space, uint64_t owner);
    // A lane begins a bulk copy that reads these bytes of shared memory (`out`), or that tells this mbarrier.
    void (*begin_bulk)(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool out);
    void (*update_unwritten)(Warp *w, const Instr *i, const Access *access); // an atomic operation
    // Lanes of a shuffle get values of lanes that take no part in it.
    void (*take_from_strangers)(Warp *w, const Instr *i, uint32_t mask);

    // What to know of loads or stores by this instruction, all of whose lanes lie in the allocation, so that `access` need not be
    // called for those that tell nothing new: see Usual. False: it has to be.
    bool (*expect)(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path);
    // All lanes of the warp store to these bytes of the allocation, side by side, by this instruction, which `expect` was asked about.
    // False: more has to be known, and `access` is called.
    bool (*store)(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes);

    // ---- Where its condition holds
    // An access of the allocation that is near to the warp, which has `uses`; the same in a launch that is `watched`.
    void (*share)(Warp *w, const Instr *i, const Access *access, uint32_t mask);
    void (*use_in_family)(Warp *w, const Instr *i, const Access *access, uint32_t mask);
    // A load has brought bytes that nobody wrote, or the warp's registers hold such values: w->undefined.
    void (*load)(Warp *w, const Instr *i, const Access *access);
    void (*begin_instruction)(Warp *w, const Instr *i);              // and they hold such values
    void (*end_instruction)(Warp *w, const Instr *i, uint32_t mask); // the same, of a plain one
    void (*shuffle)(Warp *w, const Instr *i, uint32_t mask);         // the same, before a shuffle
    void (*clear_warp)(Warp *w);                                     // it has `values`, and begins anew
} Observer;

// Set before the program begins; all zeros without an observer.
extern Observer sim_observer __attribute__((visibility("hidden")));

#endif
