// observer.h: the callbacks by which the machine reports events to an observer, which is the checker.
//
// The machine also runs without an observer. An observer keeps its state in opaque members of Launch, Block, Warp, Grid and
// Allocation; while such a member is NULL, the machine does not call the callbacks that need it.
#ifndef OBSERVER_H
#define OBSERVER_H

#include "machine/block.h"

// Granularity of shadow memory in bytes. A line of shared memory never holds parts of two variables.
enum { LINE_BYTES = 128 };

// Keys of synchronisation objects within a block or cluster. An mbarrier's key is its address.
enum { CLUSTER_KEY = 1 }; // the cluster's barrier
static inline uint64_t sim_named_barrier_key(int number) // a barrier with a thread count (bar.sync a, b)
{
    return CLUSTER_KEY + 1 + (uint64_t)number;
}

typedef enum FenceKind { MEMORY_FENCE, MBARRIER_INIT_FENCE, PROXY_FENCE } FenceKind; // fence.mbarrier_init; fence.proxy

// Callbacks for a launch run on the launching thread, which holds the lock of lock.c. Callbacks for a block or warp run on
// the block's host thread, concurrently with those of other blocks and without a lock: the observer guards its own state of
// allocations and launches.
typedef struct Observer {
    // ---- Called for every launch and allocation
    struct LaunchClocks *(*begin_launch)(const Launch *launch); // returns the launch's vector_clocks
    void (*end_launch)(Launch *launch); // successful or not
    void (*begin_allocation)(Allocation *a);
    void (*end_allocation)(Allocation *a); // its memory is still mapped
    // A host access to device or managed memory faulted; returns true if it may be retried. `is_last`: no other handler
    // is installed.
    bool (*host_access)(uint64_t address, bool writes, const void *instruction, bool is_last);
    // A lane has accessed an invalid address. Describes the address, with lines of help and notes; returns the kind of finding.
    int (*describe_address)(const Launch *launch, const Instr *i, uint64_t address, char *text, size_t capacity);
    // The same for an address outside the shared memory of a checked launch's block; false: it is not clear which array was meant.
    bool (*describe_shared_address)(const Launch *launch, const Instr *i, uint64_t address, char *text, size_t capacity);

    // ---- Only for checked launches and blocks: is_launch_checked, is_block_checked
    bool (*make_block)(Block *block); // creates its `check`; false: out of memory
    void (*free_block)(Block *block);
    void (*begin_block)(Block *block); // also before a restart
    // The bytes from `from` to `to` of each thread's local memory are uninitialised, and may be accessed from now on.
    void (*extend_local)(Block *block, size_t from, size_t to);
    void (*complete_barrier)(Block *block, const Barrier *barrier); // all of its threads have arrived
    // Release: lanes arrive at the barrier or mbarrier with this key. Acquire: lanes have waited for it, or tested it.
    void (*arrive)(Warp *w, uint32_t mask, uint64_t key);
    void (*acquire)(Warp *w, uint32_t mask, uint64_t key);
    // The mbarrier will release the lane's earlier cp.async copies when they complete.
    void (*arrive_after_copy)(Warp *w, int lane, uint64_t key);
    void (*warp_barrier)(Warp *w, uint32_t mask); // at __syncwarp
    void (*fence)(Warp *w, const Instr *i, uint32_t mask, FenceKind kind);
    void (*control_dependents)(Warp *w, bool waits); // griddepcontrol.wait; otherwise griddepcontrol.launch_dependents
    void (*exit_lanes)(Warp *w, const WarpSplit *p, uint32_t mask); // p->pc is past the lanes' last instruction

    // Called after address translation, before the bytes are read or written. `owner`: the block whose shared memory is
    // accessed, or NULL; `a`: the allocation, or NULL. Sets access->unwritten if bytes are uninitialised.
    void (*access)(Warp *w, const Instr *i, Access *access, uint32_t mask, Block *owner, Allocation *a);
    void (*access_local)(Warp *w, Access *access);
    // A lane has used a generic address of another block's shared or another thread's local memory. `owner`: the number of
    // that block, modulo 2^20 - 1, or the index of that thread in its block.
    void (*use_foreign_address)(Warp *w, const Instr *i, int lane, Space space, uint64_t owner);
    // A lane starts a bulk copy. to_global: the copy reads these bytes of shared memory; otherwise `address` is the mbarrier
    // on which it completes.
    void (*begin_bulk_copy)(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool to_global);
    void (*atomic_on_uninitialised)(Warp *w, const Instr *i, const Access *access); // the access has `has_unwritten`
    // Lanes of a shuffle read lanes that do not take part in it.
    void (*read_inactive_lanes)(Warp *w, const Instr *i, uint32_t mask);

    // Fills in fast_path with the conditions under which loads or stores by this instruction, with all lanes in the
    // allocation, need no call of `access`. False: each needs one.
    bool (*prepare_fast_path)(const Warp *w, const Instr *i, Allocation *a, FastPath *fast_path);
    // A full warp stores to these consecutive bytes by an instruction with a fast path. False: `access` must be called.
    bool (*fast_store)(const Warp *w, const Instr *i, Allocation *a, uint64_t first, size_t bytes);

    // ---- Conditional
    // The warp's last_allocation has `records_uses`.
    void (*access_host_shared)(Warp *w, const Instr *i, const Access *access, uint32_t mask);
    // A load has read uninitialised bytes, or the warp has undefined registers (w->undefined_count).
    void (*load)(Warp *w, const Instr *i, const Access *access);
    // A warp with undefined registers: these lanes are about to execute an instruction; a warp-level operation that all of them have
    // reached, at different instructions if `gathered` is not NULL, which executes it; have executed a store.
    void (*begin_instruction)(Warp *w, const Instr *i, uint32_t mask);
    void (*begin_warp_operation)(Warp *w, const Instr *i, uint32_t mask, Handler *gathered);
    void (*end_store)(Warp *w, const Instr *i, uint32_t mask);
    // The same warp calls a function or returns from it: an argument or result, at its addresses in the frames of the first lane.
    void (*copy_argument)(Warp *w, const uint8_t *to, const uint8_t *from, size_t bytes, uint32_t mask);
    // The same warp arrives at a barrier that combines predicates: returns the lanes whose predicate is undefined.
    uint32_t (*undefined_operand_of_barrier)(Warp *w, const Instr *i, uint32_t mask);
    // Such a barrier has set its result in the split's lanes; is_defined: undefined predicates do not decide it.
    void (*end_barrier_reduction)(Warp *w, const WarpSplit *p, const Instr *i, bool is_defined);
    void (*clear_warp)(Warp *w); // a warp with `values` starts another block
    void (*end_program)(int status); // the program is about to end with this status, in the middle of a launch; may exit with another one
} Observer;

// Set before main runs; all zeros without an observer.
extern Observer sim_observer __attribute__((visibility("hidden")));

#endif
