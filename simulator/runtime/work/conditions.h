// conditions.h: the conditions of conditional graph nodes, whose values kernels set with cudaGraphSetConditional.
//
// Callers hold the runtime's lock.
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include "machine/ops/ops.h"

typedef struct Condition {
    uint32_t value, initial_value;
    bool is_reset; // to initial_value at each launch of the graph
    const void *graph; // the graph that it belongs to
    bool has_node;
} Condition;

// Returns a handle, valid until the program ends because kernels may keep it.
uint64_t sim_new_condition(const Condition *condition);
Condition *sim_condition_of(uint64_t handle); // or NULL
// Decodes a call of cudaGraphSetConditional. False for other functions, or if the arguments do not match.
bool sim_decode_condition_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i);

#endif
