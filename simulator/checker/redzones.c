// redzones.c: checks the bounds of variables in shared memory, between which there are red zones.
#include "checker/shadow.h"

#include <string.h>

static void describe_variable(const SharedVariable *v, char *name, size_t space)
{
    char text[300];
    sim_demangle(v->variable->name, text, sizeof text);
    const char *last = strrchr(text, ':'); // strips the scope of reduce(float*)::sums
    snprintf(name, space, "array '%s'", last ? last + 1 : text);
}

// Ends the launch with an error: the bytes of a lane are not all in one variable.
static _Noreturn void report_out_of_bounds(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Launch *launch = w->block->launch;
    const SharedVariable *nearest = sim_shared_variable_at(launch, offset);
    for (uint64_t at = offset; nearest->bytes == 0 && at >= LINE_BYTES;)
        nearest = sim_shared_variable_at(launch, at -= LINE_BYTES); // a red zone is as large as the variable before it
    char name[320] = "dynamic shared memory";
    if (nearest->variable)
        describe_variable(nearest, name, sizeof name);
    const bool after = offset >= nearest->address + nearest->bytes;
    if (nearest->bytes == 0 || offset < nearest->address)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx of shared memory, in no array\ncheck the index before the access", access->bytes,
                  (unsigned long long)offset);
    sim_fault(w, i, lane, cudaErrorIllegalAddress,
              "%zu bytes of shared memory, %llu bytes %s the end of the %zu-byte %s\ncheck the index before the access", access->bytes,
              (unsigned long long)(after ? offset - nearest->address - nearest->bytes : nearest->address + nearest->bytes - offset),
              after ? "past" : "before", nearest->bytes, name);
}

static void check_lane(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const SharedVariable *v = sim_shared_variable_at(w->block->launch, offset);
    if (offset < v->address || access->bytes > v->bytes || offset - v->address > v->bytes - access->bytes)
        report_out_of_bounds(w, i, access, lane, offset);
}

// Whether all bytes from the lowest to the highest address are in one variable: the usual case.
static bool is_in_one_variable(const Launch *launch, const Access *access)
{
    if (access->highest >= launch->shared_bytes) // also true for another block's memory in a cluster
        return false;
    const SharedVariable *lowest_variable = sim_shared_variable_at(launch, access->lowest), *highest_variable = sim_shared_variable_at(launch, access->highest);
    return lowest_variable->address == highest_variable->address && access->lowest >= lowest_variable->address &&
           access->highest - lowest_variable->address + access->bytes <= lowest_variable->bytes;
}

void sim_check_shared_bounds(Warp *w, const Instr *i, const Access *access, uint32_t mask, const uint8_t *base)
{
    const int first = __builtin_ctz(mask), last = LANES - 1 - __builtin_clz(mask);
    if (mask == access->mask && is_in_one_variable(w->block->launch, access))
        return;
    check_lane(w, i, access, first, (uint64_t)(access->pointer[first] - base));
    check_lane(w, i, access, last, (uint64_t)(access->pointer[last] - base)); // in a strided access, the lane that is furthest out of bounds
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        check_lane(w, i, access, __builtin_ctz(rest), (uint64_t)(access->pointer[__builtin_ctz(rest)] - base));
}
