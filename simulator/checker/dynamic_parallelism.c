// dynamic_parallelism.c: reports data races between a kernel and the grids that it launches, and between these grids; checks the copies and
// fills that a kernel starts.
#include "checker/dynamic_parallelism.h"
#include "checker/block_check.h"
#include "checker/shadow.h"

typedef struct Use { // an access by lanes of a warp of a grid
    const Grid *grid;
    AccessRecord record;
} Use;

static uint64_t block_number(const Use *use) // in its grid
{
    return use->record.block - use->grid->check->first_block;
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
        *location = sim_location_of(&g->launch, block_number(use), thread, sim_instruction_at(use->record.site), access, OTHER_ROLE);
    } else {
        snprintf(access, sizeof access, "%s by a %s, started", writes ? "write" : "read", g->kind == COPY_GRID ? "copy" : "fill");
        *location = sim_location_of(&g->parent->launch, g->block, g->thread, g->launch_instr, access, OTHER_ROLE);
    }
}

static void report(const Use *earlier, bool earlier_writes, const Use *use, bool writes, size_t bytes)
{
    const LaunchPaths paths = sim_launch_paths(earlier->grid, use->grid);
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
    else if (block_number(earlier) != paths.two->block)
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

void sim_report_grid_race(const AccessCheck *check)
{
    const Race *race = &check->race;
    const Grid *grid = check->w->block->launch->nested_grid;
    const Use earlier = {sim_grid_of(grid->check->nested, race->earlier.block), race->earlier}, later = {grid, race->later};
    report(&earlier, writes(&race->earlier), &later, writes(&race->later), check->access->bytes);
}

// ---- Copies

// Checks a copy's access to bytes of one line as if a thread of a block did it: whole words, or one byte.
static bool check_copied(AccessCheck *check, Access *access, uint8_t *pointer, size_t bytes)
{
    access->bytes = bytes;
    access->pointer[0] = pointer;
    sim_check_lines(check, 1);
    if (check->race.found)
        sim_report_grid_race(check);
    return !check->race.found;
}

void sim_note_nested_copy(Grid *g, uint64_t address, size_t bytes, bool writes)
{
    static Launch launch; // guarded, with the following ones, by the lock of lock.c
    static LaunchClocks clocks;
    static BlockCheck state;
    static Block block = {.launch = &launch, .check = &state};
    Allocation *a = sim_allocation_at(address);
    if (!g->check || !a || bytes == 0)
        return;
    if (g->check->first_block == 0)
        sim_add_grid(g, 1);
    clocks.first_block = g->check->first_block;
    launch = (Launch){.blocks = 1, .kernel = g->parent->launch.kernel, .nested_grid = g, .vector_clocks = &clocks};
    block.warps[0].block = &block;
    Access access = {.kind = writes ? ACCESS_WRITE : ACCESS_READ, .space = GLOBAL, .mask = 1};
    AccessCheck check = {.w = &block.warps[0], .i = g->launch_instr, .access = &access,
                         .memory = {sim_lines_of(a), a->memory, g->check->nested->generation, .checks_values = false},
                         .allocation = a, .single_threaded = true,
                         .record = {.block = clocks.first_block, .time = 1, .lanes = 1, .site = g->launch_instr->site & 0xfffff,
                                    .kind = writes ? PLAIN_WRITE : PLAIN_READ, .byte_mask = 15}};
    size_t count;
    for (uint64_t at = address - a->address, end = at + bytes; at < end; at += count) {
        const uint64_t line_end = (at / LINE_BYTES + 1) * LINE_BYTES, until = end < line_end ? end : line_end;
        count = at % 4 || until - at < 4 ? 1 : (until - at) / 4 * 4;
        if (!check_copied(&check, &access, a->memory + at, count))
            return;
    }
}
