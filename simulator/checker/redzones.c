// redzones.c: checks the bounds of variables in shared memory, between which there are red zones.
#include "checker/shadow.h"

#include <string.h>

// "sums[256]", or "element 256 of dynamic shared memory".
static void describe_element(const SharedVariable *v, int64_t index, char *text, size_t space)
{
    char name[300];
    if (!v->variable || v->variable->is_dynamic) {
        snprintf(text, space, "element %lld of dynamic shared memory", (long long)index);
        return;
    }
    sim_demangle(v->variable->name, name, sizeof name);
    const char *last = strrchr(name, ':'); // strips the scope of reduce(float*)::sums
    snprintf(text, space, "%s[%lld]", last ? last + 1 : name, (long long)index);
}

// The last array that begins at or before the offset, else the first one; NULL if the block has none.
static const SharedVariable *nearest_variable(const Launch *launch, int64_t offset)
{
    const SharedVariable *nearest = NULL;
    for (uint64_t line = 0; line < launch->shared_bytes; line += LINE_BYTES) {
        const SharedVariable *v = sim_shared_variable_at(launch, line);
        if (v->bytes > 0 && (!nearest || (int64_t)v->address <= offset))
            nearest = v;
    }
    return nearest;
}

// Whether an address outside all arrays probably results from an index into this one: it is the only one, or as near as its own size.
static bool is_probably_of(const Launch *launch, const SharedVariable *v, int64_t offset)
{
    const bool is_only = nearest_variable(launch, INT32_MIN)->address == nearest_variable(launch, INT32_MAX)->address;
    const int64_t begin = (int64_t)v->address, bytes = (int64_t)v->bytes;
    return is_only || (offset >= begin - bytes && offset < begin + 2 * bytes);
}

bool sim_describe_shared_address(const Launch *launch, const Instr *i, uint64_t address, char *text, size_t space)
{
    const int64_t offset = (int32_t)address; // shared addresses have 32 bits, so that an index of -1 wraps around
    const SharedVariable *v = nearest_variable(launch, offset);
    if (!v || !is_probably_of(launch, v, offset))
        return false;
    char element[340];
    const int64_t bytes = i->bytes ? i->bytes : 1, distance = offset - (int64_t)v->address;
    describe_element(v, (distance < 0 ? distance - bytes + 1 : distance) / bytes, element, sizeof element);
    if (distance < 0)
        snprintf(text, space, "%s: before the beginning\ncheck the index before the access", element);
    else
        snprintf(text, space, "%s: past the end, size %lld\ncheck the index%s", element, (long long)((int64_t)v->bytes / bytes),
                 launch->dynamic_shared_bytes ? ", and the bytes of dynamic shared memory at the launch" : " before the access");
    return true;
}

// Ends the launch with an error: the bytes of a lane are not all in one variable.
static _Noreturn void report_out_of_bounds(Warp *w, const Instr *i, int lane, uint64_t offset)
{
    char text[500] = "an address in no array of shared memory";
    sim_describe_shared_address(w->block->launch, i, offset, text, sizeof text);
    sim_fault(w, i, lane, cudaErrorIllegalAddress, "%s", text);
}

static void check_lane(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const SharedVariable *v = sim_shared_variable_at(w->block->launch, offset);
    if (offset < v->address || access->bytes > v->bytes || offset - v->address > v->bytes - access->bytes)
        report_out_of_bounds(w, i, lane, offset);
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
