// flow.h: control-flow graph, and the analyses on it: flow.c, reconverge.c, loops.c, cas_guesses.c, liveness.c, stores.c.
#ifndef FLOW_H
#define FLOW_H

#include "front/program.h"

// The basic blocks of a function; the last one is its exit. "Block" means basic block in these files. Graphs, and subgraphs that
// share `first` and `block_of`, are freed after the analyses.
typedef struct FlowGraph {
    uint32_t count;
    uint32_t *first;    // index of each block's first instruction; first[count] is one past the last instruction
    uint32_t *block_of; // each instruction's block
    uint32_t **successors, *successor_count;     // indexed by block
    uint32_t **predecessors, *predecessor_count; // indexed by block
} FlowGraph;

// Fills in an empty graph.
void sim_build_flow_graph(Arena *arena, const Program *program, FlowGraph *flow);
// Fills in the predecessors from the successors.
void sim_find_predecessors(Arena *arena, FlowGraph *flow);
// A block's last instruction.
Instr *sim_terminator(const Program *program, const FlowGraph *flow, uint32_t block);

// reconverge.c: finds the reconvergence point of each branch.
void sim_find_reconvergence(Arena *arena, const Function *function, Program *program, const FlowGraph *flow);
// loops.c: sets Instr.loop of branches and volatile loads.
void sim_find_loops(Arena *arena, Program *program, const FlowGraph *flow);
// cas_guesses.c: marks weak loads whose value a compare-and-swap tests.
void sim_find_cas_guesses(Arena *arena, const Function *function, Program *program, const FlowGraph *flow);
// liveness.c: finds the registers that are live on entry. The list is allocated in the module's arena.
void sim_find_live_in(Arena *arena, Arena *module, const Function *function, Program *program, const FlowGraph *flow);
// stores.c: finds what a kernel may write. The list is allocated in the module's arena.
void sim_find_stores(Arena *arena, Arena *module, const Function *function, Program *program);

#endif
