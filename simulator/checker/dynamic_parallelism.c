// dynamic_parallelism.c: races between a kernel and those that it launches, and between these.
//
// A grid knows what the thread that launched it knew when it did: what this thread had done by then, and what barriers
// and flags had told it. It knows nothing of what its parent does later, and its parent learns nothing of it. Grids of
// one stream of a parent come one after the other, each with all that it launched; those of two streams are ordered by
// events only; and those of the tail stream come behind the parent and all others (clocks.c keeps what a thread
// knows, runtime/work/device_streams.c the streams).
//
// For each word of memory it is kept which lane of which grid read it last, and which wrote it. Two grids may also tell
// each other something by atomic operations and fences: one that reads what another has written so counts as ordered
// behind all of that one. Parts of words are not looked at, nor what comes after very many accesses. So some races are
// missed; none is invented.
#include "checker/dynamic_parallelism.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, LANE_BITS = 5, MOST_USES = 1 << 23, RECENT = 64, MOST_HOPS = 8 };

typedef struct Use { // by lanes of a warp of a grid, at one time
    const Grid *grid;
    AccessRecord epoch;
} Use;

struct FamilyUses { // of global memory, by a kernel and all that it launches
    Use *uses; // by their numbers, from 1 on
    uint32_t count, space;
    uint32_t recent[RECENT]; // uses, by warp and instruction
    Arena arena;
};

typedef struct Heard { // a grid of which another one has learned by atomic operations
    const Grid *grid;
    struct Heard *next;
} Heard;

typedef struct Shadow { // of an allocation: for each word, the last use and its lane
    uint32_t *read, *written;
} Shadow;

// ---- What is kept

FamilyUses *sim_start_family_uses(const Function *kernel)
{
    if (!sim_checks() || !kernel->program->effects.launches)
        return NULL;
    FamilyUses *family = calloc(1, sizeof *family);
    if (!family)
        sim_die("out of memory for the checker's state of kernels that launch kernels");
    family->count = 1;
    return family;
}

void sim_end_family_uses(FamilyUses *family)
{
    if (!family)
        return;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        sim_end_shadow(a);
    sim_free_arena(&family->arena);
    free(family->uses);
    free(family);
}

static uint32_t *new_table(const Allocation *a)
{
    uint32_t *table = calloc(a->bytes / WORD + 1, sizeof *table);
    if (!table)
        sim_die("out of memory for the uses of an allocation");
    return table;
}

static Shadow *shadow_of(Allocation *a)
{
    if (a->shadow)
        return a->shadow;
    a->shadow = malloc(sizeof *a->shadow);
    if (!a->shadow)
        sim_die("out of memory for the uses of an allocation");
    *a->shadow = (Shadow){new_table(a), new_table(a)};
    return a->shadow;
}

void sim_end_shadow(Allocation *a)
{
    if (!a->shadow)
        return;
    free(a->shadow->read);
    free(a->shadow->written);
    free(a->shadow);
    a->shadow = NULL;
}

// The number of a use; 0 where no more are kept.
static uint32_t number_of(FamilyUses *family, const Use *use)
{
    uint32_t *recent = &family->recent[(use->epoch.site * 8 + use->epoch.warp + use->epoch.kind) % RECENT];
    const Use *last = &family->uses[*recent];
    const AccessRecord *e = &use->epoch;
    if (*recent && last->grid == use->grid && last->epoch.block == e->block && last->epoch.time == e->time &&
        last->epoch.site == e->site && last->epoch.warp == e->warp && last->epoch.kind == e->kind)
        return *recent;
    if (family->count == MOST_USES)
        return 0;
    if (family->count >= family->space) {
        family->space = family->space ? 2 * family->space : 1024;
        family->uses = realloc(family->uses, family->space * sizeof *family->uses);
        if (!family->uses)
            sim_die("out of memory for a use by a kernel");
    }
    family->uses[family->count] = *use;
    return *recent = family->count++;
}

// ---- Which grids are ordered

// Of two children of one grid, whether one has ended, with all of its own, when the other begins.
static bool ends_before(const Grid *one, const Grid *two)
{
    if (one->stream == two->stream)
        return one->number < two->number;
    if (one->tail || two->tail)
        return two->tail;
    for (int k = 0; two->waits && k < two->waits->count; k++)
        if (two->waits->of[k].stream == one->stream && one->number < two->waits->of[k].count)
            return true;
    return false;
}

typedef struct Branches { // of two grids: the last ancestor that both have, or are; its children that lead to them
    const Grid *both, *one, *two; // NULL: it is that grid itself
} Branches;

static Branches branches_of(const Grid *one, const Grid *two)
{
    Branches b = {one, NULL, NULL};
    for (; b.both->level > two->level; b.both = b.both->parent)
        b.one = b.both;
    const Grid *other = two;
    for (; other->level > b.both->level; other = other->parent)
        b.two = other;
    for (; other != b.both; other = other->parent, b.both = b.both->parent) {
        b.one = b.both;
        b.two = other;
    }
    return b;
}

// Whether a use came before all that the other grid does.
static bool is_ordered(const Use *use, const Grid *grid, int hops)
{
    const Branches b = branches_of(use->grid, grid);
    if (!b.two)
        return true;
    if (b.one ? ends_before(b.one, b.two) : b.two->tail || sim_snapshot_covers(b.two->knower, &use->epoch))
        return true;
    for (const Grid *g = grid; g && hops < MOST_HOPS; g = g->parent)
        for (const Heard *h = g->heard; h; h = h->next)
            if (h->grid == use->grid || is_ordered(use, h->grid, hops + 1))
                return true;
    return false;
}

// ---- What is said of a race

static void describe(const Use *use, bool writes, size_t bytes, Place *place) // bytes: 0 if that says nothing
{
    char access[100];
    const Grid *g = use->grid;
    const uint32_t thread = use->epoch.warp * LANES + (uint32_t)__builtin_ctz(use->epoch.lanes);
    if (g->kind == KERNEL_GRID) {
        const char *effects = writes ? "writes" : "reads";
        if (bytes)
            snprintf(access, sizeof access, "%s %zu bytes of global memory", effects, bytes);
        else
            snprintf(access, sizeof access, "%s global memory", effects);
        *place = sim_place_of(&g->launch, use->epoch.block, thread, sim_instruction_at(use->epoch.site), access);
    } else {
        snprintf(access, sizeof access, "starts a %s, which %s it", g->kind == COPY_GRID ? "copy" : "fill",
                 writes ? "writes" : "reads");
        *place = sim_place_of(&g->parent->launch, g->block, g->thread, g->from, access);
    }
}

static void report(const Use *earlier, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    const Branches b = branches_of(earlier->grid, use->grid);
    const AccessRecord *e = &earlier->epoch;
    const uint32_t thread = e->warp * LANES + (uint32_t)__builtin_ctz(e->lanes);
    const size_t told = earlier->grid->kind == KERNEL_GRID && use->grid->kind == KERNEL_GRID ? bytes : 0;
    const int line = sim_place_of(&b.both->launch, b.two->block, b.two->thread, b.two->from, "").line;
    Place places[2];
    char hint[400];
    describe(earlier, earlier_writes, told, &places[0]);
    describe(use, writes, told, &places[1]);
    if (b.one)
        snprintf(hint, sizeof hint,
                 "they were launched in two streams (the default streams of two blocks are two): launch both in one, "
                 "or order the streams by an event (cudaStreamWaitEvent)");
    else if (e->block != b.two->block)
        snprintf(hint, sizeof hint,
                 "the launch in line %d is ordered behind its own thread, not behind other blocks: let them count with "
                 "__threadfence() and an atomic operation, and the last one launch; or launch in "
                 "cudaStreamTailLaunch, behind all of the grid",
                 line);
    else if (thread == b.two->thread || places[0].line > line)
        snprintf(hint, sizeof hint,
                 "the parent goes on while the child of line %d runs, and cannot wait for it: what needs both belongs "
                 "into a kernel that is launched behind it, or in cudaStreamTailLaunch",
                 line);
    else
        snprintf(hint, sizeof hint,
                 "a child sees what the thread that launches it has done, or knows of: a __syncthreads() is missing "
                 "before the launch in line %d",
                 line);
    sim_add_finding(RACE_GLOBAL,
                    b.one ? "two grids that kernels launched use the same bytes, one of them writes, and nothing "
                            "orders them"
                          : "a kernel and one that it launched use the same bytes, one of them writes, and nothing "
                            "orders them",
                    places, 2, hint);
}

// ---- Accesses

static bool is_strong(const Use *use)
{
    return use->epoch.kind == ATOMIC_UPDATE || use->epoch.kind == STRONG_READ || use->epoch.kind == STRONG_WRITE;
}

// The grid reads with a strong operation what one of another grid has written: it learns what that one did.
static void hear(FamilyUses *family, Grid *grid, const Use *writer)
{
    if (!writer->grid->fences)
        return;
    for (const Heard *h = grid->heard; h; h = h->next)
        if (h->grid == writer->grid)
            return;
    Heard *h = sim_allocate(&family->arena, sizeof *h);
    *h = (Heard){writer->grid, grid->heard};
    grid->heard = h;
}

// Whether a use that a table knows races with the one that comes now: it is told then.
static bool races(FamilyUses *family, uint32_t entry, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    Use earlier = family->uses[entry >> LANE_BITS];
    earlier.epoch.lanes = 1u << (entry & (LANES - 1));
    if (entry == 0 || earlier.grid == use->grid || (is_strong(&earlier) && is_strong(use)) ||
        is_ordered(&earlier, use->grid, 0))
        return false;
    report(&earlier, earlier_writes, use, writes, bytes);
    return true;
}

// One lane uses some bytes: the whole words among them. Returns whether that is a race.
static bool use_words(FamilyUses *family, Grid *grid, Allocation *a, uint64_t address, size_t bytes, const Use *use,
                      bool reads, bool writes)
{
    const Shadow *shadow = shadow_of(a);
    const uint32_t number = number_of(family, use);
    const uint32_t entry = number << LANE_BITS | (uint32_t)__builtin_ctz(use->epoch.lanes);
    const uint64_t end = (address - a->address + bytes) / WORD;
    bool race = false;
    for (uint64_t k = (address - a->address + WORD - 1) / WORD; k < end; k++) {
        const uint32_t written = shadow->written[k];
        const Use *writer = &family->uses[written >> LANE_BITS];
        if (reads && written && is_strong(use) && writer->grid != grid && is_strong(writer))
            hear(family, grid, writer);
        race = race || races(family, written, true, use, writes, bytes) ||
               (writes && races(family, shadow->read[k], false, use, writes, bytes));
        if (number)
            (writes ? shadow->written : shadow->read)[k] = entry;
    }
    return race;
}

void sim_note_family_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    Grid *grid = w->block->launch->family_grid;
    Allocation *a = w->near;
    const bool updates = access->kind == ACCESS_ATOMIC;
    const bool writes = updates || access->kind == ACCESS_WRITE || access->kind == ACCESS_ASYNC_WRITE;
    if (a->kind == PARAMETER_MEMORY)
        return;
    grid->fences |= writes && (i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE);
    Use use = {grid, {.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                      .warp = (unsigned)w->number & 31, .kind = (unsigned)sim_record_kind(i, access) & 7, .bytes = 15}};
    for (bool race = false; mask && !race; mask &= mask - 1) {
        use.epoch.lanes = mask & -mask;
        race = use_words(grid->family_uses, grid, a, access->address[__builtin_ctz(mask)], access->bytes, &use,
                         updates || !writes, writes);
    }
}

void sim_note_family_copy(Grid *g, uint64_t address, size_t bytes, bool writes)
{
    Allocation *a = sim_allocation_at(address);
    const Use use = {g, {.lanes = 1, .site = g->from->site & 0xfffff, .kind = writes ? PLAIN_WRITE : PLAIN_READ}};
    if (g->family_uses && a && bytes)
        use_words(g->family_uses, g, a, address, bytes, &use, !writes, writes);
}
