// padding.c: kernels that access the padding of rows whose pitch CUDA chose (cudaMallocPitch).
//
// The padding is allocated, and correct kernels may access it: a vector access extends into it, a loop covers all of it, or threads
// without a bounds check process a round number of elements. Therefore an access is reported only if its element is entirely in the
// padding, and the launch's furthest access in a row does not end at a round number. Of writes, the launch must end equally far in
// several rows, because code that ignores the rows ends in one of them. Of reads, the bytes must be uninitialised, because a program
// may fill its padding.
#include "checker/clocks.h"
#include "checker/host_checks.h"

enum { ROUND_BYTES = 16, ROUND_ELEMENTS = 4 }; // an end at a multiple of one of these is a round number

struct Overrun { // a launch's accesses to the padding of an allocation
    const Allocation *a;
    struct Reach {
        size_t end;   // end of the furthest access, as an offset in its row
        uint64_t row; // offset of the first row in which it was accessed
        bool several; // whether another row was accessed equally far
    } reach;
    // The example, in the lowest block that has one.
    const Instr *i; // NULL: there is no example
    uint64_t block, offset;
    uint32_t thread;
    size_t bytes;
    bool writes;
    struct Overrun *next;
};

static struct Overrun *overrun_of(LaunchClocks *clocks, const Allocation *a)
{
    struct Overrun *o = clocks->overruns;
    while (o && o->a != a)
        o = o->next;
    if (!o) {
        o = sim_allocate(&clocks->arena, sizeof *o);
        *o = (struct Overrun){.a = a, .next = clocks->overruns};
        clocks->overruns = o;
    }
    return o;
}

// Replaces `reach` by the further of the two; if both are equally far, joins their rows.
static void join_reach(struct Reach *reach, const struct Reach *added)
{
    if (added->end > reach->end)
        *reach = *added;
    else if (added->end == reach->end)
        reach->several |= added->several || added->row != reach->row;
}

// Records how far lanes of a warp went in their rows. `lane`: the first lane with a suspicious access, or -1.
static void record_overrun(Warp *w, const Instr *i, const Access *access, const Allocation *a, const struct Reach *reach,
                 int lane)
{
    Block *b = w->block;
    sim_wait_for_earlier_blocks(b); // not from a speculative run
    LaunchClocks *clocks = b->launch->vector_clocks;
    sim_lock(&clocks->lock);
    struct Overrun *o = overrun_of(clocks, a);
    join_reach(&o->reach, reach);
    if (lane >= 0 && (!o->i || b->number < o->block)) {
        o->i = i;
        o->block = b->number;
        o->thread = (uint32_t)(w->number * LANES + lane);
        o->offset = (uint64_t)(access->pointer[lane] - a->memory);
        o->bytes = access->bytes;
        o->writes = writes_memory(access->kind);
    }
    sim_unlock(&clocks->lock);
}

void sim_note_padding(Warp *w, const Instr *i, const Access *access, uint32_t mask, const Allocation *a)
{
    uint64_t row = 0; // offset of the last lane's row
    struct Reach reach = {.end = 0};
    int suspect_lane = -1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t offset = (uint64_t)(access->pointer[l] - a->memory);
        if (offset - row >= a->row_pitch)
            row = offset / a->row_pitch * a->row_pitch;
        if (offset - row < a->row_bytes)
            continue;
        join_reach(&reach, &(struct Reach){offset - row + access->bytes, row, .several = false});
        if (suspect_lane < 0 && (writes_memory(access->kind) || (access->has_unwritten && access->unwritten[l])))
            suspect_lane = l;
    }
    if (reach.end > 0)
        record_overrun(w, i, access, a, &reach, suspect_lane);
}

static bool is_round(const struct Overrun *o)
{
    return o->reach.end % ROUND_BYTES == 0 || o->reach.end % (ROUND_ELEMENTS * o->bytes) == 0;
}

static void report(const Launch *launch, const struct Overrun *o)
{
    char owner[100], title[400], access[60], hint[HINT_BYTES];
    const size_t pitch = o->a->row_pitch;
    sim_describe_allocation(o->a, owner, sizeof owner);
    snprintf(title, sizeof title,
             "%zu byte%s at byte %llu of row %llu of %s with rows of %zu bytes: the rest, up to the pitch of %zu bytes, is padding",
             o->bytes, o->bytes == 1 ? "" : "s", (unsigned long long)(o->offset % pitch),
             (unsigned long long)(o->offset / pitch), owner, o->a->row_bytes, pitch);
    snprintf(access, sizeof access, "%zu-byte %s", o->bytes, o->writes ? "write" : "read");
    const FindingLocation p = sim_location_of(launch, o->block, o->thread, o->i, access, o->writes ? OTHER_ROLE : READS);
    snprintf(hint, sizeof hint, "check the column index against the width of a row\nnote: the size of the padding differs between devices");
    sim_add_allocation_note(o->a, hint);
    sim_add_finding(OUT_OF_BOUNDS, title, &p, 1, hint);
}

void sim_report_padding(const Launch *launch)
{
    for (const struct Overrun *o = launch->vector_clocks->overruns; o; o = o->next)
        if (o->i && !is_round(o) && (o->reach.several || !o->writes))
            report(launch, o);
}
