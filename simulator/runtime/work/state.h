// state.h: digests of all memory that kernels may access, and changes between two of them. The lock of machine/lock.c is held
// by callers of these functions.
#ifndef STATE_H
#define STATE_H

#include "runtime/work/work.h"

// Digests of 64 KiB pieces: addresses, content, and for the checker which bytes are initialised.
typedef struct MemoryState MemoryState;
// Memory before the current operation's effects; freed by the caller with free(). NULL: out of memory.
MemoryState *sim_snapshot_before_op(void);

// True if the last launch, with this number, accessed memory that the host may have accessed during the launch.
bool sim_launch_used_shared(uint64_t launch);
// Digests of memory that only operations can change are cached; each operation must invalidate what it changes.
// Of any memory; an operation's calls must name all memory that it changes.
void sim_invalidate_digests(const void *pointer, size_t bytes);
void sim_invalidate_launch_writes(void); // the writes of the last launch, which is the current operation
// After a change outside an operation.
void sim_invalidate_all_digests(void);

typedef struct Change { // the new content of a piece
    struct Change *next;
    uint64_t address;
    size_t bytes;
    size_t piece;        // index in MemoryState
    Digest digest;       // of the new content
    bool unread;         // the launch did not read its allocation
    uint64_t (*written)[2]; // the initialised bytes of each of its lines; NULL: not tracked
    uint8_t memory[];
} Change;

typedef struct Changes {
    Change *first;
    size_t bytes; // allocated for the list
} Changes;

// The changes of the current operation, which is this launch. False, and an empty list, if they take more than max_bytes bytes,
// if allocations changed, or if the host may have changed some of the memory.
bool sim_changes_since(const MemoryState *before, uint64_t launch, size_t max_bytes, Changes *changes);
// True if a launch that made these changes to `before` would have the same results in `other`: all pieces that differ are
// unread, and already have the new content.
bool sim_changes_apply_to(const MemoryState *other, const MemoryState *before, const Changes *changes);
// Stores the new content; `other` of sim_changes_apply_to must be the current state.
void sim_apply_changes(const Changes *changes);
void sim_free_changes(Changes *changes);

#endif
