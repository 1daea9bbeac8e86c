// dynamic_parallelism.c: data races between a kernel and the grids that it launches, and between these grids.
//
// Accesses that happen before the launch happen before the child grid. Later accesses of the parent are not ordered with the child. Grids
// of one stream of a parent run in order, each with all of its descendants. Grids of two streams are ordered only by events. Grids of the
// tail stream follow the parent and all its other children. (clocks.c has the clocks of threads, runtime/work/device_streams.c the streams.)
//
// For each word, the checker keeps the last reading and the last writing lane, with their grids. Two grids may also synchronise by atomic
// operations and fences; then all accesses of one count as ordered before the other. Accesses to parts of words are ignored, as are those
// after MAX_USES: some races are missed, but there are no false positives.
#include "checker/allocation_check.h"
#include "checker/dynamic_parallelism.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4, LANE_BITS = 5, MAX_USES = 1 << 23, RECENT_USES = 64, MAX_DEPTH = 8 };

typedef struct Use { // an access by lanes of a warp of a grid
    const Grid *grid;
    AccessRecord record;
} Use;

struct NestedLaunchUses { // accesses of global memory by a kernel and its descendants
    Use *uses; // indexed by number; 0 is unused
    uint32_t count, capacity;
    uint32_t recent[RECENT_USES]; // numbers of recent uses, by hash of warp and instruction
    Arena arena;
};

typedef struct AcquiredGrid { // a grid from which another one has acquired by atomic operations
    const Grid *grid;
    struct AcquiredGrid *next;
} AcquiredGrid;

typedef struct Shadow { // shadow of an allocation; for each word: number of the last use << LANE_BITS | lane
    uint32_t *read, *written;
} Shadow;

// ---- Bookkeeping

void sim_begin_nested_check(Grid *root, Arena *arena, const Function *kernel)
{
    if (!sim_checker_enabled() || !kernel->program->effects.launches)
        return;
    NestedLaunchUses *state = calloc(1, sizeof *state);
    if (!state)
        sim_die("out of memory: state of a nested launch");
    state->count = 1;
    root->check = sim_allocate(arena, sizeof *root->check);
    root->check->uses = state;
}

void sim_end_nested_check(const Grid *root)
{
    if (!root->check)
        return;
    NestedLaunchUses *state = root->check->uses;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        sim_end_shadow(a);
    sim_free_arena(&state->arena);
    free(state->uses);
    free(state);
}

void sim_begin_grid_check(Grid *g, Arena *arena, Warp *w, int lane)
{
    g->check = sim_allocate(arena, sizeof *g->check);
    *g->check = (GridCheck){.uses = g->parent->check->uses, .launch_snapshot = sim_take_snapshot(arena, w, lane)};
}

void sim_end_grid_check(const Grid *g)
{
    if (g->check)
        sim_free_launch_clocks(g->check->clocks);
}

static uint32_t *allocate_table(const Allocation *a)
{
    uint32_t *table = calloc(a->bytes / WORD + 1, sizeof *table);
    if (!table)
        sim_die("out of memory: recorded uses of an allocation");
    return table;
}

static Shadow *shadow_of(Allocation *a)
{
    if (a->check->shadow)
        return a->check->shadow;
    a->check->shadow = malloc(sizeof *a->check->shadow);
    if (!a->check->shadow)
        sim_die("out of memory: recorded uses of an allocation");
    *a->check->shadow = (Shadow){allocate_table(a), allocate_table(a)};
    return a->check->shadow;
}

void sim_end_shadow(Allocation *a)
{
    if (!a->check->shadow)
        return;
    free(a->check->shadow->read);
    free(a->check->shadow->written);
    free(a->check->shadow);
    a->check->shadow = NULL;
}

// The number of a use, which is added if it is new; 0: MAX_USES is reached.
static uint32_t number_of(NestedLaunchUses *state, const Use *use)
{
    uint32_t *recent = &state->recent[(use->record.site * 8 + use->record.warp + use->record.kind) % RECENT_USES];
    const Use *latest = &state->uses[*recent];
    const AccessRecord *record = &use->record;
    if (*recent && latest->grid == use->grid && latest->record.block == record->block && latest->record.time == record->time &&
        latest->record.site == record->site && latest->record.warp == record->warp && latest->record.kind == record->kind)
        return *recent;
    if (state->count == MAX_USES)
        return 0;
    if (state->count >= state->capacity) {
        state->capacity = state->capacity ? 2 * state->capacity : 1024;
        state->uses = realloc(state->uses, state->capacity * sizeof *state->uses);
        if (!state->uses)
            sim_die("out of memory: recorded uses of a nested launch");
    }
    state->uses[state->count] = *use;
    return *recent = state->count++;
}

// ---- Which grids are ordered

// True if child `one` of a grid has completed, with all of its descendants, when child `two` of the same grid begins.
static bool child_ends_before(const Grid *one, const Grid *two)
{
    if (one->stream == two->stream)
        return one->stream_index < two->stream_index;
    if (one->is_tail || two->is_tail)
        return two->is_tail;
    for (int k = 0; two->dependencies && k < two->dependencies->count; k++)
        if (two->dependencies->prefixes[k].stream == one->stream && one->stream_index < two->dependencies->prefixes[k].count)
            return true;
    return false;
}

typedef struct LaunchPaths { // the launch paths from the lowest common ancestor of two grids to the grids
    const Grid *ancestor;
    const Grid *one, *two; // the child of the ancestor on the path to each grid; NULL: the grid is the ancestor itself
} LaunchPaths;

static LaunchPaths launch_paths(const Grid *one, const Grid *two)
{
    LaunchPaths paths = {one, NULL, NULL};
    for (; paths.ancestor->level > two->level; paths.ancestor = paths.ancestor->parent)
        paths.one = paths.ancestor;
    const Grid *node = two;
    for (; node->level > paths.ancestor->level; node = node->parent)
        paths.two = node;
    for (; node != paths.ancestor; node = node->parent, paths.ancestor = paths.ancestor->parent) {
        paths.one = paths.ancestor;
        paths.two = node;
    }
    return paths;
}

// True if a use happens before all accesses of the other grid.
static bool is_ordered(const Use *use, const Grid *grid, int depth)
{
    const LaunchPaths paths = launch_paths(use->grid, grid);
    if (!paths.two)
        return true;
    if (paths.one ? child_ends_before(paths.one, paths.two) : paths.two->is_tail || sim_snapshot_covers(paths.two->check->launch_snapshot, &use->record))
        return true;
    for (const Grid *g = grid; g && depth < MAX_DEPTH; g = g->parent)
        for (const AcquiredGrid *acquired = g->check->acquired_grids; acquired; acquired = acquired->next)
            if (acquired->grid == use->grid || is_ordered(use, acquired->grid, depth + 1))
                return true;
    return false;
}

// ---- Messages

static void describe(const Use *use, bool writes, size_t bytes, FindingLocation *location) // bytes: 0 if unknown
{
    char access[100];
    const Grid *g = use->grid;
    const uint32_t thread = use->record.warp * LANES + (uint32_t)__builtin_ctz(use->record.lanes);
    if (g->kind == KERNEL_GRID) {
        if (bytes)
            snprintf(access, sizeof access, "%zu-byte %s", bytes, writes ? "write" : "read");
        else
            snprintf(access, sizeof access, "%s", writes ? "write" : "read");
        *location = sim_location_of(&g->launch, use->record.block, thread, sim_instruction_at(use->record.site), access, OTHER_ROLE);
    } else {
        snprintf(access, sizeof access, "%s by a %s, started", writes ? "write" : "read", g->kind == COPY_GRID ? "copy" : "fill");
        *location = sim_location_of(&g->parent->launch, g->block, g->thread, g->launch_instr, access, OTHER_ROLE);
    }
}

static void report(const Use *earlier, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    const LaunchPaths paths = launch_paths(earlier->grid, use->grid);
    const AccessRecord *record = &earlier->record;
    const uint32_t thread = record->warp * LANES + (uint32_t)__builtin_ctz(record->lanes);
    const size_t known_bytes = earlier->grid->kind == KERNEL_GRID && use->grid->kind == KERNEL_GRID ? bytes : 0;
    const int line = sim_location_of(&paths.ancestor->launch, paths.two->block, paths.two->thread, paths.two->launch_instr, "", OTHER_ROLE).line;
    FindingLocation locations[2];
    char hint[HINT_BYTES];
    describe(earlier, earlier_writes, known_bytes, &locations[0]);
    describe(use, writes, known_bytes, &locations[1]);
    if (paths.one)
        snprintf(hint, sizeof hint,
                 "launch both in one stream, or order the streams by an event (cudaStreamWaitEvent)\n"
                 "note: each block has its own default stream");
    else if (record->block != paths.two->block)
        snprintf(hint, sizeof hint,
                 "let the last block launch, after all blocks have counted with __threadfence() and an atomic operation; or launch "
                 "in cudaStreamTailLaunch, which follows the whole grid\n"
                 "note: the launch in line %d follows its own thread, not other blocks",
                 line);
    else if (thread == paths.two->thread || locations[0].line > line)
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
                    paths.one ? "two grids that a kernel launched access the same bytes, without synchronisation"
                          : "a kernel and a grid that it launched access the same bytes, without synchronisation",
                    locations, 2, hint);
}

// ---- Accesses

static bool is_strong(const Use *use)
{
    return use->record.kind == ATOMIC_UPDATE || use->record.kind == STRONG_READ || use->record.kind == STRONG_WRITE;
}

// The grid has read, by a strong access, a strong write of another grid: it acquires from that grid, if that one has fences.
static void acquire_from_grid(NestedLaunchUses *state, Grid *grid, const Use *writer)
{
    if (!writer->grid->check->has_executed_fence)
        return;
    for (const AcquiredGrid *acquired = grid->check->acquired_grids; acquired; acquired = acquired->next)
        if (acquired->grid == writer->grid)
            return;
    AcquiredGrid *acquired = sim_allocate(&state->arena, sizeof *acquired);
    *acquired = (AcquiredGrid){writer->grid, grid->check->acquired_grids};
    grid->check->acquired_grids = acquired;
}

// Reports a race between the current use and an earlier one from a table; returns whether there is one.
static bool races(NestedLaunchUses *state, uint32_t entry, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    Use earlier = state->uses[entry >> LANE_BITS];
    earlier.record.lanes = 1u << (entry & (LANES - 1));
    if (entry == 0 || earlier.grid == use->grid || (is_strong(&earlier) && is_strong(use)) ||
        is_ordered(&earlier, use->grid, 0))
        return false;
    report(&earlier, earlier_writes, use, writes, bytes);
    return true;
}

// Checks and records the whole words of one lane's access. Returns whether it races.
static bool check_words(NestedLaunchUses *state, Grid *grid, Allocation *a, uint64_t address, size_t bytes, const Use *use,
                      bool reads, bool writes)
{
    const Shadow *shadow = shadow_of(a);
    const uint32_t number = number_of(state, use);
    const uint32_t entry = number << LANE_BITS | (uint32_t)__builtin_ctz(use->record.lanes);
    const uint64_t end = (address - a->address + bytes) / WORD;
    bool race = false;
    for (uint64_t k = (address - a->address + WORD - 1) / WORD; k < end; k++) {
        const uint32_t written = shadow->written[k];
        const Use *writer = &state->uses[written >> LANE_BITS];
        if (reads && written && is_strong(use) && writer->grid != grid && is_strong(writer))
            acquire_from_grid(state, grid, writer);
        race = race || races(state, written, true, use, writes, bytes) ||
               (writes && races(state, shadow->read[k], false, use, writes, bytes));
        if (number)
            (writes ? shadow->written : shadow->read)[k] = entry;
    }
    return race;
}

void sim_note_nested_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    Grid *grid = w->block->launch->nested_grid;
    Allocation *a = w->last_allocation;
    const bool updates = access->kind == ACCESS_ATOMIC;
    const bool writes = updates || access->kind == ACCESS_WRITE || access->kind == ACCESS_ASYNC_WRITE;
    if (a->kind == PARAMETER_MEMORY)
        return;
    grid->check->has_executed_fence |= writes && (i->semantics == RELEASE || i->semantics == ACQUIRE_RELEASE);
    Use use = {grid, {.block = (uint32_t)w->block->number, .time = sim_time(w->block), .site = i->site & 0xfffff,
                      .warp = (unsigned)w->number & 31, .kind = (unsigned)sim_record_kind(i, access) & 7, .byte_mask = 15}};
    for (bool race = false; mask && !race; mask &= mask - 1) {
        use.record.lanes = mask & -mask;
        race = check_words(grid->check->uses, grid, a, access->address[__builtin_ctz(mask)], access->bytes, &use,
                         updates || !writes, writes);
    }
}

void sim_note_nested_copy(Grid *g, uint64_t address, size_t bytes, bool writes)
{
    Allocation *a = sim_allocation_at(address);
    const Use use = {g, {.lanes = 1, .site = g->launch_instr->site & 0xfffff, .kind = writes ? PLAIN_WRITE : PLAIN_READ}};
    if (g->check && a && bytes)
        check_words(g->check->uses, g, a, address, bytes, &use, !writes, writes);
}
