// deferred_reads.c: reads of shared memory that are checked later, or never.
//
// Most kernels read a tile between two barriers at which nobody writes to shared memory. Such reads race with nothing, and
// the second barrier orders them before all that comes: they need not be noted in their lines at all. So a block whose
// threads only barriers order puts its reads off, in a list. At the barrier it forgets them. If somebody does anything else
// in shared memory before, the list is checked first, in its order, as if it had been at once.
#include "checker/pieces.h"

enum { MOST_LATE = 1024, REST = 7 };

typedef struct LateRead { // by lanes of a warp, of words that somebody wrote
    Warp *w;
    const Instr *i;
    AccessRecord epoch;
    uint32_t mask, alike, beside; // the last two as in the Access
    uint32_t floor, barrier;      // as in the AccessCheck
    uint8_t bytes, pattern;
    bool twice;
    uint32_t offset[LANES]; // in the block's shared memory; of lanes that are off: 0
} LateRead;

struct DeferredReads { // of a block, and its host thread's
    uint32_t run;  // that they are of: a barrier ends them
    uint32_t rest; // runs in which none is put off, as it was in vain
    bool at_once;  // in this run
    uint32_t count;
    LateRead reads[MOST_LATE];
};

static struct DeferredReads *reads_of(Block *b)
{
    if (!b->late)
        b->late = calloc(1, sizeof *b->late); // calloc: of pages that nobody needs there are none
    if (!b->late)
        sim_die("out of memory for what a block reads");
    return b->late;
}

static void begin_run(struct DeferredReads *late, uint32_t run)
{
    late->run = run;
    late->count = 0;
    late->at_once = late->rest > 0;
    late->rest -= late->at_once;
}

// Whether somebody wrote these words of a line of shared memory in this block, and no copy goes on there.
static inline bool is_at_rest(const AccessCheck *check, const ShadowLine *line, uint32_t words)
{
    return line->run >= check->first_run && !line->copies && all_written(line, words);
}

// Whether it may as well be checked later: a volatile read, too, but for one of a flag, which may be one of thousands in a loop.
static bool is_read_of_data(const AccessCheck *check)
{
    return check->epoch.kind == PLAIN_READ || (check->epoch.kind == STRONG_READ && check->i->semantics == VOLATILE && !check->asked);
}

bool sim_defer_read(const AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    if (!is_read_of_data(check) || !are_whole_words(access))
        return false;
    struct DeferredReads *late = reads_of(check->w->block);
    if (late->run != check->memory.run)
        begin_run(late, check->memory.run);
    if (late->at_once || late->count == MOST_LATE || !all_words(check, access, mask, is_at_rest))
        return false;
    LateRead *r = &late->reads[late->count++];
    *r = (LateRead){.w = check->w, .i = check->i, .epoch = check->epoch, .mask = mask, .alike = access->alike,
                    .beside = access->beside, .floor = check->floor, .barrier = check->barrier,
                    .bytes = (uint8_t)access->bytes, .pattern = access->pattern, .twice = access->twice};
    for (int l = 0; l < LANES; l++)
        r->offset[l] = mask >> l & 1 ? (uint32_t)(access->pointer[l] - check->memory.base) : 0;
    return true;
}

static void check_late(const AccessCheck *now, const LateRead *r)
{
    Access access = {.kind = ACCESS_READ, .space = SHARED, .mask = r->mask, .bytes = r->bytes, .alignment = r->bytes,
                     .pattern = r->pattern, .alike = r->alike, .beside = r->beside, .twice = r->twice};
    AccessCheck check = *now;
    for (int l = 0; l < LANES; l++)
        access.pointer[l] = (uint8_t *)now->memory.base + r->offset[l];
    check.w = r->w;
    check.i = r->i;
    check.access = &access;
    check.epoch = r->epoch;
    check.floor = r->floor;
    check.barrier = r->barrier;
    check.asked = false;
    sim_check_lines(&check, r->mask);
}

void sim_flush_deferred(const AccessCheck *check)
{
    struct DeferredReads *late = reads_of(check->w->block);
    if (late->run != check->memory.run)
        begin_run(late, check->memory.run);
    for (uint32_t k = 0; k < late->count; k++)
        check_late(check, &late->reads[k]);
    late->rest = late->count > 0 ? REST : late->rest;
    late->count = 0;
    late->at_once = true;
}
