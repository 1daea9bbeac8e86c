// dominators.h: the dominator tree and the natural loops of a function. Passes that change the control flow invalidate them.
#ifndef DOMINATORS_H
#define DOMINATORS_H

#include "compiler/rewrite.h"

typedef struct Dominators { // tables indexed by the id of a block
    IrBlock **order;        // reachable blocks in reverse postorder
    uint32_t count;
    uint32_t *number;       // index in `order`; UINT32_MAX: unreachable
    IrBlock **parent;       // immediate dominator; NULL: entry
    IrBlock **first_child, **sibling; // in reverse postorder
    uint32_t *enter, *leave; // times of a depth-first walk: a dominates b if a's interval contains b's
} Dominators;

Dominators *dominators_of(IrModule *module, IrFunction *function);
bool block_dominates(const Dominators *d, const IrBlock *a, const IrBlock *b);
// Whether the value dominates the user, which is not a phi.
bool value_dominates(const Dominators *d, const IrInstruction *value, const IrInstruction *user);
IrBlock *common_dominator(const Dominators *d, IrBlock *a, IrBlock *b);

typedef struct Frontiers { // dominance frontiers, indexed by the id of a block
    IrBlock ***blocks;
    uint32_t *count;
} Frontiers;

Frontiers *frontiers_of(IrModule *module, IrFunction *function, const Dominators *d);

// ---- loops.c

typedef struct Loop Loop;
struct Loop {
    IrBlock *header;
    Loop *parent, *next; // next: in Loops.all, where inner loops precede outer ones
    uint32_t depth;      // 1: an outermost loop
    IrBlock **blocks;    // including those of inner loops, in reverse postorder
    uint32_t block_count;
    bool is_changed;     // scratch of the running pass
};

typedef struct Loops {
    Loop *all;
    Loop **innermost; // indexed by the id of a block; NULL: in no loop
    uint32_t count, block_capacity;
} Loops;

Loops *loops_of(IrModule *module, IrFunction *function, const Dominators *d);
bool loop_contains(const Loops *loops, const Loop *loop, const IrBlock *block);
// The only predecessor of the header outside the loop, if the header is its only successor; or NULL.
IrBlock *loop_preheader(const Loops *loops, const Loop *loop);
// The only predecessor of the header in the loop, or NULL.
IrBlock *loop_latch(const Loops *loops, const Loop *loop);
bool is_loop_invariant(const Loops *loops, const Loop *loop, const IrInstruction *value);
void loops_add_block(IrModule *module, Loops *loops, IrBlock *block, Loop *owner); // owner: the innermost loop, or NULL
// Gives each loop a preheader, one latch, and dedicated exits (LLVM: loop-simplify). Invalidates the analyses.
bool loops_simplify(IrModule *module, IrFunction *function);

#endif
