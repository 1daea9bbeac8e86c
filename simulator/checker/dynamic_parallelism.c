// dynamic_parallelism.c: data races between a kernel and the grids that it launches, and between these grids.
//
// What happens before the launch, for the launching thread, happens before the child grid. Nothing that the parent does later is ordered
// with the child. Grids of one stream of a parent run in order, each with all of its descendants; grids of two streams are ordered by events
// only; grids of the tail stream follow the parent and all others (clocks.c has a thread's clocks, runtime/work/device_streams.c the streams).
//
// For each word the last reading and the last writing lane are kept, with their grids. Two grids may also synchronise by atomic operations and
// fences: then one counts as ordered after everything that the other does. Parts of words are ignored, and so is what follows very many
// accesses: some races are missed, but there are no false positives.
#include "checker/dynamic_parallelism.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, LANE_BITS = 5, MAX_USES = 1 << 23, RECENT = 64, MAX_HOPS = 8 };

typedef struct Use { // an access by lanes of a warp of a grid
    const Grid *grid;
    AccessRecord record;
} Use;

struct LaunchTreeUses { // accesses of global memory by a kernel and its descendants
    Use *uses; // by number, from 1 on
    uint32_t count, capacity;
    uint32_t recent[RECENT]; // uses, by warp and instruction
    Arena arena;
};

typedef struct AcquiredGrid { // a grid with which another one has synchronised by atomic operations
    const Grid *grid;
    struct AcquiredGrid *next;
} AcquiredGrid;

typedef struct Shadow { // of an allocation: for each word, number and lane of the last use
    uint32_t *read, *written;
} Shadow;

// ---- Bookkeeping

LaunchTreeUses *sim_start_tree_uses(const Function *kernel)
{
    if (!sim_checker_enabled() || !kernel->program->effects.launches)
        return NULL;
    LaunchTreeUses *tree = calloc(1, sizeof *tree);
    if (!tree)
        sim_die("out of memory for the checker's state of kernels that launch kernels");
    tree->count = 1;
    return tree;
}

void sim_end_tree_uses(LaunchTreeUses *tree)
{
    if (!tree)
        return;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        sim_end_shadow(a);
    sim_free_arena(&tree->arena);
    free(tree->uses);
    free(tree);
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

// The number of a use; 0 beyond MAX_USES.
static uint32_t number_of(LaunchTreeUses *tree, const Use *use)
{
    uint32_t *recent = &tree->recent[(use->record.site * 8 + use->record.warp + use->record.kind) % RECENT];
    const Use *last = &tree->uses[*recent];
    const AccessRecord *e = &use->record;
    if (*recent && last->grid == use->grid && last->record.block == e->block && last->record.time == e->time &&
        last->record.site == e->site && last->record.warp == e->warp && last->record.kind == e->kind)
        return *recent;
    if (tree->count == MAX_USES)
        return 0;
    if (tree->count >= tree->capacity) {
        tree->capacity = tree->capacity ? 2 * tree->capacity : 1024;
        tree->uses = realloc(tree->uses, tree->capacity * sizeof *tree->uses);
        if (!tree->uses)
            sim_die("out of memory for a use by a kernel");
    }
    tree->uses[tree->count] = *use;
    return *recent = tree->count++;
}

// ---- Which grids are ordered

// True if one of two children of a grid has ended, with all of its descendants, when the other begins.
static bool ends_before(const Grid *one, const Grid *two)
{
    if (one->stream == two->stream)
        return one->number < two->number;
    if (one->tail || two->tail)
        return two->tail;
    for (int k = 0; two->waits && k < two->waits->count; k++)
        if (two->waits->prefixes[k].stream == one->stream && one->number < two->waits->prefixes[k].count)
            return true;
    return false;
}

typedef struct Branches { // of two grids
    const Grid *ancestor;       // their lowest common ancestor
    const Grid *one, *two;  // its children that lead to the two; NULL: the ancestor is that grid itself
} Branches;

static Branches branches_of(const Grid *one, const Grid *two)
{
    Branches b = {one, NULL, NULL};
    for (; b.ancestor->level > two->level; b.ancestor = b.ancestor->parent)
        b.one = b.ancestor;
    const Grid *other = two;
    for (; other->level > b.ancestor->level; other = other->parent)
        b.two = other;
    for (; other != b.ancestor; other = other->parent, b.ancestor = b.ancestor->parent) {
        b.one = b.ancestor;
        b.two = other;
    }
    return b;
}

// True if a use happens before everything that the other grid does.
static bool is_ordered(const Use *use, const Grid *grid, int hops)
{
    const Branches b = branches_of(use->grid, grid);
    if (!b.two)
        return true;
    if (b.one ? ends_before(b.one, b.two) : b.two->tail || sim_snapshot_covers(b.two->launch_snapshot, &use->record))
        return true;
    for (const Grid *g = grid; g && hops < MAX_HOPS; g = g->parent)
        for (const AcquiredGrid *h = g->acquired_grids; h; h = h->next)
            if (h->grid == use->grid || is_ordered(use, h->grid, hops + 1))
                return true;
    return false;
}

// ---- Messages

static void describe(const Use *use, bool writes, size_t bytes, Place *place) // bytes: 0 if unknown
{
    char access[100];
    const Grid *g = use->grid;
    const uint32_t thread = use->record.warp * LANES + (uint32_t)__builtin_ctz(use->record.lanes);
    if (g->kind == KERNEL_GRID) {
        if (bytes)
            snprintf(access, sizeof access, "%zu-byte %s", bytes, writes ? "write" : "read");
        else
            snprintf(access, sizeof access, "%s", writes ? "write" : "read");
        *place = sim_place_of(&g->launch, use->record.block, thread, sim_instruction_at(use->record.site), access);
    } else {
        snprintf(access, sizeof access, "%s by a %s, started", writes ? "write" : "read", g->kind == COPY_GRID ? "copy" : "fill");
        *place = sim_place_of(&g->parent->launch, g->block, g->thread, g->from, access);
    }
}

static void report(const Use *earlier, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    const Branches b = branches_of(earlier->grid, use->grid);
    const AccessRecord *e = &earlier->record;
    const uint32_t thread = e->warp * LANES + (uint32_t)__builtin_ctz(e->lanes);
    const size_t known_bytes = earlier->grid->kind == KERNEL_GRID && use->grid->kind == KERNEL_GRID ? bytes : 0;
    const int line = sim_place_of(&b.ancestor->launch, b.two->block, b.two->thread, b.two->from, "").line;
    Place places[2];
    char hint[HINT_BYTES];
    describe(earlier, earlier_writes, known_bytes, &places[0]);
    describe(use, writes, known_bytes, &places[1]);
    if (b.one)
        snprintf(hint, sizeof hint,
                 "launch both in one stream, or order the streams by an event (cudaStreamWaitEvent)\n"
                 "note: each block has its own default stream");
    else if (e->block != b.two->block)
        snprintf(hint, sizeof hint,
                 "let the last block launch, after all blocks have counted with __threadfence() and an atomic operation; or launch "
                 "in cudaStreamTailLaunch, which follows the whole grid\n"
                 "note: the launch in line %d follows its own thread, not other blocks",
                 line);
    else if (thread == b.two->thread || places[0].line > line)
        snprintf(hint, sizeof hint,
                 "do what needs both in a kernel that is launched after the child, or in cudaStreamTailLaunch\n"
                 "note: the parent continues while the child of line %d runs, and cannot wait for it",
                 line);
    else
        snprintf(hint, sizeof hint,
                 "add __syncthreads() before the launch in line %d\n"
                 "note: a child sees only what happens before its launch",
                 line);
    sim_add_finding(RACE_GLOBAL,
                    b.one ? "two grids that a kernel launched access the same bytes, without synchronisation"
                          : "a kernel and a grid that it launched access the same bytes, without synchronisation",
                    places, 2, hint);
}

// ---- Accesses

static bool is_strong(const Use *use)
{
    return use->record.kind == ATOMIC_UPDATE || use->record.kind == STRONG_READ || use->record.kind == STRONG_WRITE;
}

// The grid reads by a strong operation what another grid has written so: it synchronises with that grid.
static void synchronise(LaunchTreeUses *tree, Grid *grid, const Use *writer)
{
    if (!writer->grid->fences)
        return;
    for (const AcquiredGrid *h = grid->acquired_grids; h; h = h->next)
        if (h->grid == writer->grid)
            return;
    AcquiredGrid *h = sim_allocate(&tree->arena, sizeof *h);
    *h = (AcquiredGrid){writer->grid, grid->acquired_grids};
    grid->acquired_grids = h;
}

// Reports a race of the current use with an earlier one of the table; returns whether there is one.
static bool races(LaunchTreeUses *tree, uint32_t entry, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    Use earlier = tree->uses[entry >> LANE_BITS];
    earlier.record.lanes = 1u << (entry & (LANES - 1));
    if (entry == 0 || earlier.grid == use->grid || (is_strong(&earlier) && is_strong(use)) ||
        is_ordered(&earlier, use->grid, 0))
        return false;
    report(&earlier, earlier_writes, use, writes, bytes);
    return true;
}

// Checks one lane's access: the whole words in it. Returns whether it is a race.
static bool use_words(LaunchTreeUses *tree, Grid *grid, Allocation *a, uint64_t address, size_t bytes, const Use *use,
                      bool reads, bool writes)
{
    const Shadow *shadow = shadow_of(a);
    const uint32_t number = number_of(tree, use);
    const uint32_t entry = number << LANE_BITS | (uint32_t)__builtin_ctz(use->record.lanes);
    const uint64_t end = (address - a->address + bytes) / WORD;
    bool race = false;
    for (uint64_t k = (address - a->address + WORD - 1) / WORD; k < end; k++) {
        const uint32_t written = shadow->written[k];
        const Use *writer = &tree->uses[written >> LANE_BITS];
        if (reads && written && is_strong(use) && writer->grid != grid && is_strong(writer))
            synchronise(tree, grid, writer);
        race = race || races(tree, written, true, use, writes, bytes) ||
               (writes && races(tree, shadow->read[k], false, use, writes, bytes));
        if (number)
            (writes ? shadow->written : shadow->read)[k] = entry;
    }
    return race;
}

void sim_note_tree_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    Grid *grid = w->block->launch->launch_tree_grid;
    Allocation *a = w->last_allocation;
    const bool updates = access->kind == ACCESS_ATOMIC;
    const bool writes = updates || access->kind == ACCESS_WRITE || access->kind == ACCESS_ASYNC_WRITE;
    if (a->kind == PARAMETER_MEMORY)
        return;
    grid->fences |= writes && (i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE);
    Use use = {grid, {.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                      .warp = (unsigned)w->number & 31, .kind = (unsigned)sim_record_kind(i, access) & 7, .byte_mask = 15}};
    for (bool race = false; mask && !race; mask &= mask - 1) {
        use.record.lanes = mask & -mask;
        race = use_words(grid->tree_uses, grid, a, access->address[__builtin_ctz(mask)], access->bytes, &use,
                         updates || !writes, writes);
    }
}

void sim_note_tree_copy(Grid *g, uint64_t address, size_t bytes, bool writes)
{
    Allocation *a = sim_allocation_at(address);
    const Use use = {g, {.lanes = 1, .site = g->from->site & 0xfffff, .kind = writes ? PLAIN_WRITE : PLAIN_READ}};
    if (g->tree_uses && a && bytes)
        use_words(g->tree_uses, g, a, address, bytes, &use, !writes, writes);
}
