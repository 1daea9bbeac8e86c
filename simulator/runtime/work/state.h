// state.h: all that kernels may touch, as it was at a moment, and what has changed of it since.
#ifndef STATE_H
#define STATE_H

#include "runtime/work/work.h"

// Where memory lies, what it holds, and for the checker which bytes of it somebody wrote: digests of pieces.
typedef struct MemoryState MemoryState;
// As it is before the current operation does anything; NULL: there is no memory for that. Whoever keeps it frees it, by free().
// The lock of lock.c is held, as in all of these.
MemoryState *sim_snapshot_before_op(void);

// Whether the launch that ran last, which has this number, has used memory that the host may have looked at, or changed, meanwhile.
bool sim_launch_used_shared(uint64_t launch);
// What is known of memory that is the kernels' own stays known if each operation tells by these all that it changes.
void sim_invalidate_digests(const void *pointer, size_t bytes); // wherever they lie, and nothing but what is told
void sim_invalidate_launch_writes(void); // what the last launch changed, which the operation is
// Memory that is the kernels' own changes, and no operation changes it.
void sim_invalidate_all_digests(void);

typedef struct Change { // a piece that another state has otherwise, as it is there
    struct Change *next;
    uint64_t address;
    size_t bytes, piece; // its number among all pieces
    Digest digest;       // of it
    bool unread;         // nobody has read its allocation meanwhile
    uint64_t (*written)[2]; // of each of its lines the bytes that somebody wrote; NULL: the checker knows nothing of it
    uint8_t memory[];
} Change;

typedef struct Changes {
    Change *first;
    size_t bytes; // that they take in this process
} Changes;

// What is now, behind the current operation, which is this launch, otherwise than in a state before it. False, and there is none:
// it takes more than `most` bytes, more has changed than bytes, or some lies where the host may have changed it.
bool sim_changes_since(const MemoryState *before, uint64_t launch, size_t most, Changes *changes);
// Whether who changed the state `before` so would do the same in another one, and leave the same. So it is where all that differs is
// unread, and is as it left it.
bool sim_changes_apply_to(const MemoryState *other, const MemoryState *before, const Changes *changes);
// Memory is as it was behind the changes. It was as sim_changes_apply_to wants it, which sim_snapshot_before_op has just found.
void sim_apply_changes(const Changes *changes);
void sim_free_changes(Changes *changes);       // there is none any more

#endif
