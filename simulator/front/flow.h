// flow.h: the ways through a function. Included by the files that look at a program between its decoding and
// its first run: flow.c, reconverge.c, loops.c, cas_guesses.c, liveness.c, stores.c.
#ifndef FLOW_H
#define FLOW_H

#include "front/program.h"

// Basic blocks and what may follow them; the last one is the function's end. It lies in an arena of sim_analyse, on whose
// stack it is, and so do variants of it with fewer ways, which share its blocks: none of it stays.
typedef struct FlowGraph {
    uint32_t count;
    uint32_t *first;    // first instruction of each block, and behind them the number of all instructions
    uint32_t *block_of; // block of each instruction
    uint32_t **successors, *successor_count;
    uint32_t **predecessors, *predecessor_count;
} FlowGraph;

// Fills in the predecessors that belong to the successors.
void sim_find_predecessors(Arena *arena, FlowGraph *flow);
// The last instruction of a block.
Instr *sim_terminator(const Program *program, const FlowGraph *flow, uint32_t block);

// reconverge.c: for each branch, where its lanes meet again.
void sim_find_reconvergence(Arena *arena, const Function *function, Program *program, const FlowGraph *flow);
// loops.c: for each branch, what its loop does, and whether it leaves one; which volatile loads loops wait for.
void sim_find_loops(Arena *arena, Program *program, const FlowGraph *flow);
// cas_guesses.c: which plain loads are guesses that a compare-and-swap tests.
void sim_find_cas_guesses(Arena *arena, const Function *function, Program *program, const FlowGraph *flow);
// liveness.c: the registers that may be read before they are written. The list lies in the module's arena.
void sim_find_live_in(Arena *arena, Arena *module, const Function *function, Program *program, const FlowGraph *flow);
// stores.c: into what the function may write, if it is a kernel. The list lies in the module's arena.
void sim_find_stores(Arena *arena, Arena *module, const Function *function, Program *program);

#endif
