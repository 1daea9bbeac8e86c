// happens_before.c: whether an earlier access happens before the current one. The relation is described in clocks.c.
#include "checker/block_check.h"
#include "checker/dynamic_parallelism.h"

bool sim_hb_warp_fast(const Warp *w, const AccessRecord *access)
{
    const BlockClocks *clocks = clocks_of(w->block);
    return access->block == block_id(w->block) && !is_in_flight(access) &&
           (access->time <= clocks->min_block_epoch[w->number] ||
            (access->warp == (unsigned)w->number && access->time <= clocks->warp_epoch[w->number]));
}

bool sim_has_fenced(const Warp *w, const AccessRecord *access)
{
    const Block *b = w->block;
    if (access->block != block_id(b))
        return access->time <= b->launch->vector_clocks->last_gpu_fence[access->block % BLOCK_HASH_BUCKETS];
    const ThreadClock *t = clock_in(clocks_of(b), (int)access->warp, __builtin_ctz(access->lanes));
    return access->time <= t->gpu_fence || access->time <= t->cta_fence;
}

// True if the analysis sees all uses of the loaded value: the load is in the kernel itself, compiled with optimisation. A function
// may return the value, and -G stores it before any use.
static bool is_use_visible(const Warp *w, const Instr *i)
{
    const Program *kernel = w->block->launch->kernel->program;
    return i >= kernel->code && i < kernel->code + kernel->count && !w->block->launch->module->is_debug;
}

bool sim_feeds_branch(const Warp *w, const Instr *i)
{
    return i->loop & FEEDS_BRANCH || !is_use_visible(w, i);
}

void sim_note_acquired_from(const Warp *w, const AccessRecord *access)
{
    BlockClocks *clocks = clocks_of(w->block);
    const uint32_t n = (access->block * 31 + access->warp) % INDEX_SLOTS;
    const bool same_warp = clocks->writers[n].block == access->block && clocks->writers[n].warp == access->warp;
    const uint32_t lanes = same_warp ? clocks->writers[n].lanes : 0, time = lanes ? clocks->writers[n].time : 0;
    clocks->writers[n].block = access->block;
    clocks->writers[n].warp = access->warp;
    clocks->writers[n].lanes = lanes | access->lanes;
    clocks->writers[n].time = access->time > time ? access->time : time;
    clocks->has_writers = true;
}

bool sim_acquired_since(const Warp *w, const AccessRecord *access)
{
    const BlockClocks *clocks = clocks_of(w->block);
    const uint32_t n = (access->block * 31 + access->warp) % INDEX_SLOTS;
    return clocks->writers[n].block == access->block && clocks->writers[n].warp == access->warp &&
           clocks->writers[n].lanes & access->lanes && clocks->writers[n].time >= access->time;
}

bool sim_is_spin_read(const Warp *w, const AccessRecord *access)
{
    const Instr *i = sim_instruction_at(access->site);
    return i->loop & IN_SPIN_LOOP || !is_use_visible(w, i) || (i->loop & FEEDS_BRANCH && sim_has_fenced(w, access));
}

// False if no thread of the access's block has executed a release since the access.
static bool may_have_released(const Launch *launch, const AccessRecord *access)
{
    return access->time <= launch->vector_clocks->last_release[access->block % BLOCK_HASH_BUCKETS];
}

// A nonzero key for an unordered pair of instructions.
static uint64_t pair_of(uint32_t site, uint32_t other)
{
    const uint32_t low = site < other ? site : other, high = site < other ? other : site;
    return 1ull << 63 | (uint64_t)low << 32 | high;
}

static void add_pair(uint64_t *pairs, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    pairs[pair % (INDEX_SLOTS - 1)] = pair; // odd, so that both halves of the key affect the slot
}

static bool has_pair(const uint64_t *pairs, uint32_t site, uint32_t other)
{
    const uint64_t pair = pair_of(site, other);
    return pairs[pair % (INDEX_SLOTS - 1)] == pair;
}

void sim_note_race(Block *b, uint32_t site, uint32_t other)
{
    add_pair(clocks_of(b)->raced, site, other);
}

void sim_note_unfenced(Block *b, uint32_t site, uint32_t other)
{
    add_pair(clocks_of(b)->unfenced, site, other);
}

bool sim_take_lacks_fence(const Block *b)
{
    const bool lacks_fence = clocks_of(b)->lacks_fence;
    clocks_of(b)->lacks_fence = false;
    return lacks_fence;
}

static const ReleaseRecord **recent_record_of(const Warp *w, int lane, const AccessRecord *access)
{
    const size_t thread = (size_t)(w->number * LANES + lane);
    return &clocks_of(w->block)->recent[thread * (size_t)w->block->warp_count + access->warp][access->kind == COPY_IN_FLIGHT];
}

MissingFence sim_missing_fence(const Warp *w, int lane, const AccessRecord *access)
{
    const uint32_t reader = block_id(w->block);
    VisitedRange visited[MAX_VISITED];
    for (int side = 0; side < 2; side++) {
        HistorySearch s = {.access = access, .lanes = access->lanes, .visited = visited, .needs_acquire_fence = true,
                           .needs_release_fence = side == 1};
        sim_search_history(&s, clock_of(w, lane)->history, reader);
        if (s.lanes)
            return side == 0 ? ACQUIRE_FENCE : RELEASE_FENCE;
    }
    return NO_FENCE;
}

// Notes whether the order of this block's access after another block's write depends on a barrier instead of a fence. At least one of
// the two is plain. Earlier reads are not considered: simplification 4 accepts them without a fence, too.
static void check_fences(Warp *w, const Instr *i, int lane, const AccessRecord *access)
{
    BlockClocks *clocks = clocks_of(w->block);
    const bool writes = access->kind == PLAIN_WRITE || access->kind == STRONG_WRITE || access->kind == ATOMIC_UPDATE,
               plain = access->kind == PLAIN_WRITE || ((i->kind == LOAD || i->kind == STORE) && i->semantics == WEAK);
    if (writes && plain && !clocks->lacks_fence && !has_pair(clocks->unfenced, access->site, i->site))
        clocks->lacks_fence = sim_missing_fence(w, lane, access) != NO_FENCE;
}

// The lanes whose access no barrier of the block or of the warp, and no program order, orders before the lane's current instruction.
static uint32_t lanes_since_barriers(const Warp *w, int lane, const AccessRecord *access)
{
    const BlockClocks *clocks = clocks_of(w->block);
    if (access->kind == COPY_IN_FLIGHT || access->block != block_id(w->block))
        return access->lanes;
    if (access->time <= clock_of(w, lane)->block_epoch)
        return 0;
    if (access->warp != (unsigned)w->number)
        return access->lanes;
    uint32_t lanes = access->time <= clocks->warp_epoch[w->number] ? 0 : access->lanes & ~(1u << lane);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        if (access->time <= clocks->lane_clocks[w->number][lane][__builtin_ctz(rest)])
            lanes &= ~(rest & -rest);
    return lanes;
}

bool sim_happens_before(Warp *w, const Instr *i, int lane, const AccessRecord *access)
{
    BlockClocks *clocks = clocks_of(w->block);
    const ThreadClock *thread = clock_of(w, lane);
    if (is_of_other_grid(w->block, access))
        return sim_grid_ordered(w->block->launch->nested_grid, access);
    if (access->kind == SOURCE_IN_FLIGHT)
        return false;
    const uint32_t lanes = lanes_since_barriers(w, lane, access), reader = block_id(w->block);
    if (lanes == 0 || !thread->history)
        return lanes == 0;
    VisitedRange visited[MAX_VISITED];
    HistorySearch s = {.access = access, .lanes = lanes, .visited = visited,
                       .is_read = access->kind == PLAIN_READ || access->kind == STRONG_READ};
    // A volatile write may overwrite a value that no thread has read, unless a release orders the two writes.
    s.is_strong_write = access->kind == STRONG_WRITE && i->kind == STORE && i->semantics == VOLATILE;
    // Try the record that ordered this warp's accesses last.
    const ReleaseRecord **recent = access->block == reader && !s.is_strong_write ? recent_record_of(w, lane, access) : NULL;
    if (recent && *recent)
        sim_apply_release(&s, *recent, reader);
    if (s.lanes && may_have_released(w->block->launch, access) && !has_pair(clocks->raced, access->site, i->site)) {
        sim_search_history(&s, thread->history, reader);
        if (recent && s.found) {
            *recent = s.found;
            clocks->has_recent = true;
        }
    }
    if (s.lanes == 0 && access->block != reader && w->block->launch->vector_clocks->has_barrier_orders)
        check_fences(w, i, lane, access);
    return s.lanes == 0;
}

bool sim_hb_all_lanes(Warp *w, const Instr *i, uint32_t mask, const AccessRecord *access)
{
    const bool other_warp = access->block != block_id(w->block) || access->warp != (unsigned)w->number;
    const ThreadClock *previous = NULL; // clock of the previous lane; most lanes share one history
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const ThreadClock *t = clock_of(w, l);
        if (previous && other_warp && t->history == previous->history && t->block_epoch == previous->block_epoch)
            continue;
        if (!sim_happens_before(w, i, l, access))
            return false;
        previous = t;
    }
    return true;
}

bool sim_may_have_released(const Block *b, const AccessRecord *access)
{
    const bool reads = access->kind == PLAIN_READ || access->kind == STRONG_READ;
    return reads && access->block != block_id(b) && b->launch->vector_clocks->reads_only_count == MAX_READS_ONLY;
}

bool sim_lacks_fence(const Warp *w, int lane, const AccessRecord *access)
{
    const ThreadClock *t = clock_of(w, lane);
    const CausalHistory *const pending[] = {t->pending_acquire, t->pending_fence};
    VisitedRange visited[MAX_VISITED];
    for (int n = 0; n < 2; n++) {
        HistorySearch s = {.access = access, .lanes = access->lanes, .visited = visited};
        sim_search_history(&s, pending[n], block_id(w->block));
        if (s.lanes == 0)
            return true;
    }
    return false;
}

bool sim_block_acquired(const Block *b, const AccessRecord *access)
{
    const CausalHistory *previous = NULL;
    VisitedRange visited[MAX_VISITED];
    HistorySearch s = {.access = access, .lanes = access->lanes, .visited = visited, .is_strong_write = true};
    for (uint32_t thread = 0; thread < b->threads && s.lanes; thread++) {
        const ThreadClock *t = clock_in(clocks_of(b), (int)(thread / LANES), (int)(thread % LANES));
        const CausalHistory *const histories[] = {t->history, t->pending_acquire, t->pending_fence};
        for (int n = t->history == previous ? 1 : 0; n < 3 && s.lanes; n++)
            sim_search_history(&s, histories[n], block_id(b));
        previous = t->history;
    }
    return s.lanes == 0;
}
