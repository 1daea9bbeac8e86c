// state.h: snapshots of all memory that kernels may access, as digests, and the changes between two snapshots. The caller holds the
// lock of machine/memory/lock.c.
#ifndef STATE_H
#define STATE_H

#include "runtime/work/work.h"

// Digests of 64 KiB chunks: addresses, content, and (for the checker) which bytes are initialised.
typedef struct MemoryState MemoryState;
// Returns the state before the current operation's effects, which the caller frees with free(). NULL: out of memory.
MemoryState *sim_snapshot_before_op(void);

// True if the launch with this number, which must be the last one, accessed memory that the host may access concurrently.
bool sim_launch_accessed_host_visible(uint64_t launch);
// Digests of memory that only operations can change are cached, so an operation must invalidate the digests of all memory that it
// changes. The range may be in memory of any kind.
void sim_invalidate_digests(const void *pointer, size_t bytes);
void sim_invalidate_launch_writes(void); // for the writes of the last launch, which is the current operation
// Called after a change outside an operation.
void sim_invalidate_all_digests(void);

typedef struct Change { // new content of a chunk
    struct Change *next;
    uint64_t address;
    size_t bytes;
    size_t chunk;        // index in MemoryState
    Digest digest;       // of the new content
    bool is_unread;      // the launch did not read the allocation
    uint64_t (*initialised)[2]; // for each of its lines, a bitmap of the initialised bytes; NULL: not tracked
    uint8_t memory[];
} Change;

typedef struct Changes {
    Change *first;
    size_t bytes; // allocated for the list
} Changes;

// Sets `changes` to the changes by the current operation, which is this launch. Returns false and an empty list if they take more
// than max_bytes bytes, if allocations changed, or if the host may have changed some of the memory.
bool sim_changes_since(const MemoryState *before, uint64_t launch, size_t max_bytes, Changes *changes);
// True if a launch that made these changes to `before` would have equal results in `other`: the launch did not read the chunks in
// which the two differ, and in `other` these already have the new content.
bool sim_changes_apply_to(const MemoryState *other, const MemoryState *before, const Changes *changes);
// Stores the new content; `other` of sim_changes_apply_to must be the current state.
void sim_apply_changes(const Changes *changes);
void sim_free_changes(Changes *changes);

#endif
