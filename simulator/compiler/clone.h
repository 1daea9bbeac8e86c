// clone.h: clones regions of blocks (clone.c), and computes trip counts of loops (trips.c).
#ifndef CLONE_H
#define CLONE_H

#include "compiler/passes.h"

typedef struct CloneEntry { // entry of a hash table by the original's id
    const void *original;
    void *copy;
} CloneEntry;

typedef struct Clone { // maps the blocks and values of a region to their copies
    CloneEntry *blocks, *values;
    uint32_t block_mask, value_mask;
} Clone;

// Inserts copies of the blocks of a region before `insert_before`. Edges within the region are copied. Edges out of the region are
// duplicated, with the phis' operands. Edges into the region are not copied: the caller makes one to the copy of the region's entry,
// and appends operands to the phis there.
Clone *clone_blocks(IrModule *module, IrFunction *function, IrBlock *const *blocks, uint32_t count, IrBlock *insert_before);
IrInstruction *cloned_value(const Clone *clone, IrInstruction *value); // `value` itself if it is outside the region
IrBlock *cloned_block(const Clone *clone, const IrBlock *block);       // NULL if the block is outside the region
// Demotes values of the loop that are used outside of it, except by exit phis, to local variables, so that the loop can be cloned.
void demote_outside_uses(IrModule *module, IrFunction *function, const Loops *loops, const Loop *loop);

// ---- trips.c

typedef struct CountedLoop { // a loop that compares an induction variable with an invariant bound at its latch; may have other exits
    IrInstruction *phi, *next;  // the induction variable, and its value in the next iteration; or NULL
    IrInstruction *step;        // the invariant that each iteration adds
    IrInstruction *compare;     // compares `next` or `phi` with `bound` at the latch
    IrInstruction *bound;       // the invariant bound
    bool compares_next;         // false: compares the phi
    IrCompare relation;         // the loop continues while (variable relation bound)
    bool is_signed;
} CountedLoop;

// The number of iterations of a loop if it is constant and at most `limit`; otherwise 0. Found by evaluating the loop's exit test.
uint32_t constant_trip_count(IrModule *module, const Loops *loops, const Loop *loop, uint32_t limit);
// True if the loop counts towards an invariant bound; describes the count.
bool find_counted_loop(const Loops *loops, const Loop *loop, CountedLoop *counted);

// Computes the number of times that the back edge is taken, before the preheader's jump; NULL if the number is not known on entry.
IrInstruction *count_back_edges(IrModule *module, const Loop *loop, const CountedLoop *counted, IrInstruction *start, IrBlock *preheader);
// True if the loop's only exit is at its latch, so that count_back_edges may succeed.
bool is_countable_loop(const Loops *loops, const Loop *loop);

// ---- unroll_runtime.c: loops whose trip count is known on entry

enum { MAX_PHIS = 200 };

// Adds a remainder loop for the trip count modulo `count`, a power of two.
void add_remainder(IrModule *module, const Loops *loops, const Loop *loop, IrInstruction *back_edges, IrBlock *exit, uint32_t count);
uint32_t predecessor_index(const IrBlock *block, const IrBlock *predecessor);
uint32_t back_target(const IrBlock *latch, const IrBlock *header); // index of the back edge in the latch's terminator
IrBlock *block_after_loop(const Loops *loops, const Loop *loop);   // in layout order

#endif
