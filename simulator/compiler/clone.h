// clone.h: copies of regions of blocks (clone.c), and how often loops run (trips.c).
#ifndef CLONE_H
#define CLONE_H

#include "compiler/passes.h"

typedef struct Copied { // an entry of a hash table by the original's id
    const void *original;
    void *copy;
} Copied;

typedef struct Clone { // what the blocks and values of a region became
    Copied *blocks, *values;
    uint32_t block_mask, value_mask;
} Clone;

// Copies the blocks of a region before `place`. Edges inside become edges between copies. Edges out of it are there twice, with
// the phis' operands. Edges into it are not copied: the caller makes one to the copy of its entry, and appends operands to that
// block's phis.
Clone *clone_blocks(IrModule *module, IrFunction *function, IrBlock *const *blocks, uint32_t count, IrBlock *place);
IrInstruction *cloned_value(const Clone *clone, IrInstruction *value); // itself if it is not in the region
IrBlock *cloned_block(const Clone *clone, const IrBlock *block);       // NULL if it is not in the region
// Values of the loop that are used after it, but in phis of its exits, go through local variables, so that the loop can be copied.
void demote_outside_uses(IrModule *module, IrFunction *function, const Loops *loops, const Loop *loop);

// ---- trips.c

typedef struct Trips { // of a loop that is left at its latch only, or at several places
    IrInstruction *phi, *next;  // induction variable, and its value in the next iteration; or NULL
    IrInstruction *step;        // that is added; invariant
    IrInstruction *compare;     // at the latch: `next` or `phi` with `bound`
    IrInstruction *bound;       // invariant
    bool compares_next;         // else the phi
    IrCompare relation;         // as long as (variable relation bound) the loop goes on
    bool is_signed;
} Trips;

// How often a loop runs, if that is the same always and at most `most`; else 0. It is found by running the loop's exit test.
uint32_t constant_trips(IrModule *module, const Loops *loops, const Loop *loop, uint32_t most);
// Whether the loop counts towards an invariant bound.
bool find_trips(const Loops *loops, const Loop *loop, Trips *trips);

// How often the loop goes back, computed before the preheader's jump; or NULL if that is not known when the loop begins.
IrInstruction *count_back_edges(IrModule *module, const Loop *loop, const Trips *trips, IrInstruction *start, IrBlock *preheader);
// Whether that can be known: the loop has one exit, at its latch.
bool has_counted_trips(const Loops *loops, const Loop *loop);

// ---- unroll_runtime.c: loops whose number of iterations is known when they begin

enum { MAX_PHIS = 200 };

// Adds a loop for the iterations that are no multiple of `count`, a power of two.
void add_remainder(IrModule *module, const Loops *loops, const Loop *loop, IrInstruction *back_edges, IrBlock *exit, uint32_t count);
uint32_t predecessor_index(const IrBlock *block, const IrBlock *predecessor);
uint32_t back_target(const IrBlock *latch, const IrBlock *header); // of the latch's terminator
IrBlock *block_after_loop(const Loops *loops, const Loop *loop);   // in the text

#endif
