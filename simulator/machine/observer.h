// observer.h: events that the machine reports to an observer, the checker.
//
// The machine runs without an observer and knows nothing else about it. An observer keeps its state in opaque members of
// Launch, Block, Warp and Allocation; while such a member is NULL, the callbacks that need it are not called.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "machine/block.h"

// Granularity of shadow memory in bytes. No line of shared memory holds two variables.
enum { LINE_BYTES = 128 };

// Keys of synchronisation objects within a block or cluster. An mbarrier's key is its address.
enum { CLUSTER_KEY = 1 }; // the cluster's barrier
static inline uint64_t sim_barrier_key(int number) // a block barrier with a thread count
{
    return CLUSTER_KEY + 1 + (uint64_t)number;
}

typedef enum FenceKind { MEMORY_FENCE, INITS_FENCE, PROXY_FENCE } FenceKind; // INITS_FENCE: fence.mbarrier_init

// Callbacks for a launch run on the launching thread, which holds the lock of lock.c. Callbacks for a block or warp run on
// the host thread of the block, several at once and without a lock: the observer guards its state of allocations and
// launches itself.
typedef struct Observer {
    // ---- Always called, if there is an observer
    struct LaunchClocks *(*begin_launch)(const Launch *launch); // returns the launch's `clocks`
    void (*end_launch)(Launch *launch); // successful or not
    void (*begin_allocation)(Allocation *a);
    void (*end_allocation)(Allocation *a); // its memory is still mapped
    // A host access to device or managed memory faulted; returns true if it may be retried. `last`: no other handler
    // follows.
    bool (*host_access)(uint64_t address, bool writes, const void *instruction, bool last);
    // A lane accesses an address that it may not. Describes it, and adds lines of help and notes; returns the kind of the fault.
    int (*describe_address)(const Launch *launch, const Instr *i, uint64_t address, char *text, size_t space);

    // ---- Only for launches and blocks with `clocks`
    bool (*make_block)(Block *block); // creates its `clocks`; false: out of memory
    void (*free_block)(Block *block);
    void (*begin_block)(Block *block); // also before a restart
    void (*complete_barrier)(Block *block, const Barrier *barrier); // all of its threads have arrived
    // Release: lanes arrive at a barrier with a key. Acquire: lanes have waited there or tested it.
    void (*arrive)(Warp *w, uint32_t mask, uint64_t key);
    void (*acquire)(Warp *w, uint32_t mask, uint64_t key);
    void (*arrive_after_copy)(Warp *w, int lane, uint64_t key); // the lane's earlier copies are released at the barrier when they
                                                                // complete
    void (*warp_barrier)(Warp *w, uint32_t mask); // at __syncwarp
    void (*fence)(Warp *w, const Instr *i, uint32_t mask, FenceKind kind);
    void (*end_lanes)(Warp *w, const WarpSplit *p, uint32_t mask); // after the split's last instruction

    // Called after translation, before the bytes are read or written. `owner`: the block whose shared memory it is, or NULL;
    // `a`: the allocation, or NULL. Sets access->unwritten if bytes are uninitialised.
    void (*access)(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a);
    void (*access_local)(Warp *w, Access *access);
    // A lane has used a generic address of another block's shared or another thread's local memory; `owner` identifies it.
    void (*use_foreign)(Warp *w, const Instr *i, int lane, Space space, uint64_t owner);
    // A lane starts a bulk copy that reads these bytes of shared memory (`out`), or that completes on this mbarrier.
    void (*begin_bulk)(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool out);
    void (*update_unwritten)(Warp *w, const Instr *i, const Access *access); // for an atomic operation
    // Lanes of a shuffle read lanes that do not take part in it.
    void (*read_inactive_lanes)(Warp *w, const Instr *i, uint32_t mask);

    // Fills fast_path with what lets loads or stores by this instruction, with all lanes in the allocation, skip `access`.
    // False: none may skip it.
    bool (*prepare_fast_path)(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path);
    // A full warp stores to these consecutive bytes by an instruction with a fast path. False: `access` must be called.
    bool (*fast_store)(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes);

    // ---- Conditional
    // last_allocation has `uses`; access_in_tree: the launch has checks_tree.
    void (*access_host_shared)(Warp *w, const Instr *i, const Access *access, uint32_t mask);
    void (*access_in_tree)(Warp *w, const Instr *i, const Access *access, uint32_t mask);
    // A load has read uninitialised bytes, or the warp has undefined registers (w->undefined).
    void (*load)(Warp *w, const Instr *i, const Access *access);
    void (*begin_instruction)(Warp *w, const Instr *i); // the warp has undefined registers
    void (*end_instruction)(Warp *w, const Instr *i, uint32_t mask); // the same, after a plain instruction
    void (*shuffle)(Warp *w, const Instr *i, uint32_t mask); // the same, before a shuffle
    void (*clear_warp)(Warp *w);                        // it has `values`, and starts another block
} Observer;

// Set before main runs; all zeros without an observer.
extern Observer sim_observer __attribute__((visibility("hidden")));

#endif
