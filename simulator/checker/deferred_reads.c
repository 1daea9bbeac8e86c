// deferred_reads.c: reads of shared memory whose check is deferred, and often unnecessary.
//
// Most kernels read a tile between two barriers without a write to shared memory in between. Such reads cannot race, and the second
// barrier orders them before all later accesses, so they need no records. If barriers are a launch's only synchronisation, each block
// lists its reads, and drops the list at the barrier. Any other access to shared memory first checks the listed reads, in order.
#include "checker/block_check.h"
#include "checker/word_predicates.h"

enum { MAX_DEFERRED = 1024, BACKOFF_INTERVALS = 7 };

typedef struct DeferredRead { // a read of written words by lanes of a warp
    Warp *w;
    const Instr *i;
    AccessRecord record;
    uint32_t mask, same_address, adjacent; // as in Access
    uint32_t block_epoch, warp_epoch;      // as in AccessCheck
    uint8_t bytes, pattern;
    bool repeated_half;
    uint32_t offset[LANES]; // offset in the block's shared memory; 0 for inactive lanes
} DeferredRead;

struct DeferredReads { // deferred reads of a block; owned by its host thread
    uint32_t generation; // the barrier interval of the reads
    uint32_t backoff;    // following barrier intervals in which nothing is deferred, because this list had to be checked
    bool immediate;      // no further read of this interval is deferred
    uint32_t count;
    DeferredRead reads[MAX_DEFERRED];
};

static struct DeferredReads *reads_of(Block *b)
{
    if (!b->check->deferred_reads)
        b->check->deferred_reads = calloc(1, sizeof *b->check->deferred_reads); // calloc: unused pages take no memory
    if (!b->check->deferred_reads)
        sim_die("out of memory: deferred reads");
    return b->check->deferred_reads;
}

static void begin_interval(struct DeferredReads *list, uint32_t generation)
{
    list->generation = generation;
    list->count = 0;
    list->immediate = list->backoff > 0;
    list->backoff -= list->immediate;
}

// True if the block has written these words, and no copy to the line is in flight.
static inline bool is_initialised(const AccessCheck *check, const ShadowLine *line, uint32_t word_mask)
{
    return line->generation >= check->first_generation && !line->has_copies && all_written(line, word_mask);
}

// True for plain and volatile reads, except volatile reads of flags, which a loop may poll thousands of times.
static bool is_read_of_data(const AccessCheck *check)
{
    return check->record.kind == PLAIN_READ || (check->record.kind == STRONG_READ && check->i->semantics == VOLATILE && !check->reads_flag);
}

bool sim_defer_read(const AccessCheck *check, uint32_t mask)
{
    const Access *access = check->access;
    if (!is_read_of_data(check) || !are_whole_words(access))
        return false;
    struct DeferredReads *list = reads_of(check->w->block);
    if (list->generation != check->memory.generation)
        begin_interval(list, check->memory.generation);
    if (list->immediate || list->count == MAX_DEFERRED || !all_words(check, access, mask, is_initialised))
        return false;
    DeferredRead *r = &list->reads[list->count++];
    *r = (DeferredRead){.w = check->w, .i = check->i, .record = check->record, .mask = mask, .same_address = access->same_address,
                    .adjacent = access->adjacent, .block_epoch = check->block_epoch, .warp_epoch = check->warp_epoch,
                    .bytes = (uint8_t)access->bytes, .pattern = access->pattern, .repeated_half = access->repeated_half};
    for (int l = 0; l < LANES; l++)
        r->offset[l] = mask >> l & 1 ? (uint32_t)(access->pointer[l] - check->memory.base) : 0;
    return true;
}

static void check_deferred(const AccessCheck *now, const DeferredRead *r)
{
    Access access = {.kind = ACCESS_READ, .space = SHARED, .mask = r->mask, .bytes = r->bytes, .alignment = r->bytes,
                     .pattern = r->pattern, .same_address = r->same_address, .adjacent = r->adjacent, .repeated_half = r->repeated_half};
    AccessCheck check = *now;
    for (int l = 0; l < LANES; l++)
        access.pointer[l] = (uint8_t *)now->memory.base + r->offset[l];
    check.w = r->w;
    check.i = r->i;
    check.access = &access;
    check.record = r->record;
    check.block_epoch = r->block_epoch;
    check.warp_epoch = r->warp_epoch;
    check.reads_flag = false;
    sim_check_lines(&check, r->mask);
}

void sim_flush_deferred(const AccessCheck *check)
{
    struct DeferredReads *list = reads_of(check->w->block);
    if (list->generation != check->memory.generation)
        begin_interval(list, check->memory.generation);
    for (uint32_t k = 0; k < list->count; k++)
        check_deferred(check, &list->reads[k]);
    list->backoff = list->count > 0 ? BACKOFF_INTERVALS : list->backoff;
    list->count = 0;
    list->immediate = true;
}
