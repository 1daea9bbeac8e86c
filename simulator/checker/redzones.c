// redzones.c: arrays in shared memory, and the gaps between them.
#include "checker/shadow.h"

#include <string.h>

static void name_of(const Object *o, char *name, size_t space)
{
    char text[300];
    sim_readable_name(o->variable->name, text, sizeof text);
    const char *last = strrchr(text, ':'); // of reduce(float*)::sums
    snprintf(name, space, "array '%s'", last ? last + 1 : text);
}

// A lane's bytes lie in a gap, or partly: the launch ends.
static _Noreturn void leave_object(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Launch *launch = w->block->launch;
    const Object *near = sim_object_at(launch, offset);
    for (uint64_t at = offset; near->bytes == 0 && at >= LINE_BYTES;)
        near = sim_object_at(launch, at -= LINE_BYTES); // the gap behind an array is as large as the array
    char name[320] = "the dynamic part";
    if (near->variable)
        name_of(near, name, sizeof name);
    const bool behind = offset >= near->address + near->bytes;
    if (near->bytes == 0 || offset < near->address)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx of shared memory, where no array lies",
                  access->bytes, (unsigned long long)offset);
    sim_fault(
        w, i, lane, cudaErrorIllegalAddress,
        "%zu bytes %llu bytes %s the end of %s, which has %zu bytes of shared memory", access->bytes,
        (unsigned long long)(behind ? offset - near->address - near->bytes : near->address + near->bytes - offset),
        behind ? "behind" : "before", name, near->bytes);
}

static void check_object(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Object *o = sim_object_at(w->block->launch, offset);
    if (offset < o->address || access->bytes > o->bytes || offset - o->address > o->bytes - access->bytes)
        leave_object(w, i, access, lane, offset);
}

// Whether all bytes from the lowest lane's to the highest one's lie in one array, as they mostly do.
static bool is_in_one_object(const Launch *launch, const Access *access)
{
    if (access->most >= launch->shared_bytes) // or of another block of the cluster
        return false;
    const Object *low = sim_object_at(launch, access->least), *high = sim_object_at(launch, access->most);
    return low->address == high->address && access->least >= low->address &&
           access->most - low->address + access->bytes <= low->bytes;
}

void sim_check_objects(Warp *w, const Instr *i, const Access *access, uint32_t mask, const uint8_t *base)
{
    const int first = __builtin_ctz(mask), last = LANES - 1 - __builtin_clz(mask);
    if (mask == access->mask && is_in_one_object(w->block->launch, access))
        return;
    check_object(w, i, access, first, (uint64_t)(access->pointer[first] - base));
    check_object(w, i, access, last, (uint64_t)(access->pointer[last] - base)); // of a row it is the one furthest outside
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        check_object(w, i, access, __builtin_ctz(rest), (uint64_t)(access->pointer[__builtin_ctz(rest)] - base));
}
