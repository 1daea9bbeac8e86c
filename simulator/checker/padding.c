// padding.c: kernels that go behind the end of a row whose pitch CUDA chose, into the padding.
//
// The padding is allocated, and many a kernel is right to touch it: a vector reaches into it, a loop goes through all of
// it, threads without a check at a row's end work up to a round number of elements. CUDA promises that rows begin at
// aligned addresses, but no padding. So what is told is an element that lies wholly in the padding, in a launch that
// goes up to no round number in any of the rows. Of writes, those of launches that go as far in several rows: who uses
// the memory without a thought of rows ends in one of them. Of reads, those of bytes that nobody wrote, for a program
// that fills its padding means to read it.
#include "checker/clocks.h"
#include "checker/host_checks.h"

enum { ROUND_BYTES = 16, ROUND_ELEMENTS = 4 }; // a row of whole vectors, or groups of elements

struct Overrun { // what a launch did in the padding of an allocation
    const Allocation *a;
    struct Reach {
        size_t end;   // how far it went, from the begin of a row on
        uint64_t row; // where the first row begins in which it went so far
        bool several; // it did in others, too
    } reach;
    // The example, of the first block that has one. No instruction: none has.
    const Instr *i;
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

static bool writes(const Access *access)
{
    return access->kind != ACCESS_READ && access->kind != ACCESS_ASYNC_READ;
}

// The further one of the two, or both where they are as far.
static void extend(struct Reach *reach, const struct Reach *by)
{
    if (by->end > reach->end)
        *reach = *by;
    else if (by->end == reach->end)
        reach->several |= by->several || by->row != reach->row;
}

// Lanes of a warp went so far in their rows. `lane`: the first of those of which that is strange, or -1.
static void note(Warp *w, const Instr *i, const Access *access, const Allocation *a, const struct Reach *reach,
                 int lane)
{
    Block *b = w->block;
    sim_await_turn(b); // a block that runs ahead in vain does nothing
    LaunchClocks *clocks = b->launch->clocks;
    sim_lock(&clocks->lock);
    struct Overrun *o = overrun_of(clocks, a);
    extend(&o->reach, reach);
    if (lane >= 0 && (!o->i || b->number < o->block)) {
        o->i = i;
        o->block = b->number;
        o->thread = (uint32_t)(w->number * LANES + lane);
        o->offset = (uint64_t)(access->pointer[lane] - a->memory);
        o->bytes = access->bytes;
        o->writes = writes(access);
    }
    sim_unlock(&clocks->lock);
}

void sim_note_padding(Warp *w, const Instr *i, const Access *access, uint32_t mask, const Allocation *a)
{
    uint64_t row = 0; // where the last lane's row begins
    struct Reach reach = {.end = 0};
    int strange = -1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t offset = (uint64_t)(access->pointer[l] - a->memory);
        if (offset - row >= a->row_pitch)
            row = offset / a->row_pitch * a->row_pitch;
        if (offset - row < a->row_bytes)
            continue;
        extend(&reach, &(struct Reach){offset - row + access->bytes, row, .several = false});
        if (strange < 0 && (writes(access) || (access->has_unwritten && access->unwritten[l])))
            strange = l;
    }
    if (reach.end > 0)
        note(w, i, access, a, &reach, strange);
}

static bool is_round(const struct Overrun *o)
{
    return o->reach.end % ROUND_BYTES == 0 || o->reach.end % (ROUND_ELEMENTS * o->bytes) == 0;
}

static void report(const Launch *launch, const struct Overrun *o)
{
    char owner[200], title[400], does[60];
    const size_t pitch = o->a->row_pitch;
    sim_describe_allocation(o->a, owner, sizeof owner);
    snprintf(title, sizeof title,
             "%zu byte%s at byte %llu of row %llu of %s, whose rows have %zu: the rest, up to the pitch of %zu, is padding",
             o->bytes, o->bytes == 1 ? "" : "s", (unsigned long long)(o->offset % pitch),
             (unsigned long long)(o->offset / pitch), owner, o->a->row_bytes, pitch);
    snprintf(does, sizeof does, "%s %zu byte%s of global memory", o->writes ? "writes" : "reads", o->bytes,
             o->bytes == 1 ? "" : "s");
    const Place p = sim_place_of(launch, o->block, o->thread, o->i, does);
    sim_add_finding(OUT_OF_BOUNDS, title, &p, 1,
                    "how much padding a pitch has, if any, differs between widths and devices");
}

void sim_report_padding(const Launch *launch)
{
    for (const struct Overrun *o = launch->clocks->overruns; o; o = o->next)
        if (o->i && !is_round(o) && (o->reach.several || !o->writes))
            report(launch, o);
}
