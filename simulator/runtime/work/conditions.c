// conditions.c: the conditions of conditional graph nodes.
#include "runtime/work/conditions.h"

#include "machine/block.h"

#include <stdlib.h>

static Condition **conditions;
static uint64_t count, capacity;

uint64_t sim_new_condition(const Condition *condition)
{
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 16;
        conditions = realloc(conditions, capacity * sizeof *conditions);
    }
    Condition *copy = malloc(sizeof *copy);
    if (!conditions || !copy)
        sim_die("out of memory: conditional handle");
    *copy = *condition;
    conditions[count++] = copy;
    return count; // 0 is no handle
}

Condition *sim_condition_of(uint64_t handle)
{
    return handle > 0 && handle <= count ? conditions[handle - 1] : NULL;
}

// Executes cudaGraphSetConditional(handle, value); blocks of the kernel run serially. The last lane's value remains.
static void set_condition(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        uint64_t handle = 0;
        uint32_t value = 0;
        sim_call_argument(w, i, lane, 0, &handle, sizeof handle);
        sim_call_argument(w, i, lane, 1, &value, sizeof value);
        Condition *condition = sim_condition_of(handle);
        if (!condition)
            sim_fault(w, i, lane, cudaErrorLaunchFailure,
                      "cudaGraphSetConditional() of a handle that cudaGraphConditionalHandleCreate() did not return");
        condition->value = value;
    }
}

bool sim_decode_condition_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i)
{
    if (!sim_slice_is(name, "cudaGraphSetConditional"))
        return false;
    i->run = set_condition;
    return call->argument_count >= 2 && (call->result_count == 0 || call->results[0] + sizeof(int) <= param_bytes);
}
