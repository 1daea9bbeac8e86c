// conditions.h: the values on which conditional nodes of graphs depend. Kernels set them, by cudaGraphSetConditional.
//
// The lock of calls.h is held by whoever calls these functions.
#ifndef CONDITIONS_H
#define CONDITIONS_H

#include "machine/ops/ops.h"

typedef struct Condition {
    uint32_t value, initial_value;
    bool resets; // with the value initial_value, in each launch of the graph
    const void *graph; // that it was made for
    bool has_node;
} Condition;

// Returns a handle of it. It stays until the program ends: kernels may keep handles.
uint64_t sim_new_condition(const Condition *condition);
Condition *sim_condition_of(uint64_t handle); // or NULL
// A call of cudaGraphSetConditional; false if it is none, or does not fit.
bool sim_decode_condition_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i);

#endif
