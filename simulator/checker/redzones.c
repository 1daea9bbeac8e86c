// redzones.c: arrays in shared memory, and the red zones between them.
#include "checker/shadow.h"

#include <string.h>

static void name_of(const Object *o, char *name, size_t space)
{
    char text[300];
    sim_readable_name(o->variable->name, text, sizeof text);
    const char *last = strrchr(text, ':'); // of reduce(float*)::sums
    snprintf(name, space, "array '%s'", last ? last + 1 : text);
}

// Reports a lane whose bytes are not all in one array: the launch ends.
static _Noreturn void report_out_of_array(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Launch *launch = w->block->launch;
    const Object *near = sim_object_at(launch, offset);
    for (uint64_t at = offset; near->bytes == 0 && at >= LINE_BYTES;)
        near = sim_object_at(launch, at -= LINE_BYTES); // the red zone after an array is as large as the array
    char name[320] = "dynamic shared memory";
    if (near->variable)
        name_of(near, name, sizeof name);
    const bool after = offset >= near->address + near->bytes;
    if (near->bytes == 0 || offset < near->address)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx of shared memory, in no array\ncheck the index before the access", access->bytes,
                  (unsigned long long)offset);
    sim_fault(w, i, lane, cudaErrorIllegalAddress,
              "%zu bytes of shared memory, %llu bytes %s the end of the %zu-byte %s\ncheck the index before the access", access->bytes,
              (unsigned long long)(after ? offset - near->address - near->bytes : near->address + near->bytes - offset),
              after ? "past" : "before", near->bytes, name);
}

static void check_object(Warp *w, const Instr *i, const Access *access, int lane, uint64_t offset)
{
    const Object *o = sim_object_at(w->block->launch, offset);
    if (offset < o->address || access->bytes > o->bytes || offset - o->address > o->bytes - access->bytes)
        report_out_of_array(w, i, access, lane, offset);
}

// Whether all bytes from the lowest lane's to the highest lane's are in one array: the usual case.
static bool is_in_one_object(const Launch *launch, const Access *access)
{
    if (access->highest >= launch->shared_bytes) // or another block's, in a cluster
        return false;
    const Object *low = sim_object_at(launch, access->lowest), *high = sim_object_at(launch, access->highest);
    return low->address == high->address && access->lowest >= low->address &&
           access->highest - low->address + access->bytes <= low->bytes;
}

void sim_check_shared_bounds(Warp *w, const Instr *i, const Access *access, uint32_t mask, const uint8_t *base)
{
    const int first = __builtin_ctz(mask), last = LANES - 1 - __builtin_clz(mask);
    if (mask == access->mask && is_in_one_object(w->block->launch, access))
        return;
    check_object(w, i, access, first, (uint64_t)(access->pointer[first] - base));
    check_object(w, i, access, last, (uint64_t)(access->pointer[last] - base)); // of a strided access it is the one furthest outside
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        check_object(w, i, access, __builtin_ctz(rest), (uint64_t)(access->pointer[__builtin_ctz(rest)] - base));
}
