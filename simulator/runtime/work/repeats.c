// repeats.c: memoised launches. Benchmarks launch a kernel many times with the same arguments; after the first rounds such a
// launch has the same inputs and results as the one before, so its results are copied instead.
//
//   inputs    the key: kernel, launch configuration, arguments; and digests of all memory that kernels may access: addresses, content,
//             and for the checker which bytes are initialised. Digests are taken when a key repeats, or on its first launch
//             if that is long. Memory that the launch only wrote may already hold its results.
//   results   changed memory, a row of counters, the launch count; for the checker, the accessed bytes, and repeated findings
//
// A launch always runs if its kernel depends on more (a clock, the launch's number), has other effects (prints, allocates,
// launches, communicates with the host through shared memory), or had a new finding. Textures and surfaces are
// immutable until one is destroyed.
#include "checker/memoized_uses.h"
#include "runtime/work/repeats.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MEMO_ENTRIES = 1024,             // size of the direct-mapped table; a power of two
    MIN_INSTRUCTIONS = 10000,        // warp instructions; shorter launches simply run
    BYTES_PER_INSTRUCTION = 40,      // hashing more memory takes too long, compared with the launch
    BYTES_PER_FIRST_INSTRUCTION = 4, // for the first launch of a key
    MAX_FIRST_SNAPSHOTS = 8,         // consecutive first launches with a snapshot and no repetition
    BYTES_PER_ALLOCATION = 4096,     // added to its size: the cost of visiting it
    MAX_BACKOFF = 64
};
enum { MEMORY_FRACTION = 8 }; // changes may take 1/8 of the host's memory

// The last launch of a key. Guarded by the lock of machine/lock.c.
typedef struct MemoizedLaunch {
    Digest key;      // of kernel, configuration and arguments
    UsesOfOp *uses;  // accessed bytes; NULL: the results are unknown or cannot be replayed
    MemoryState *state_before; // memory before the launch
    Changes changes; // memory after the launch
    LaunchResult result;
    OccurrenceCounts *repeated_findings; // its findings; NULL: none
    uint64_t last_lookup; // value of lookup_clock
    unsigned backoff;    // exponential: launches to run without a comparison after the next mismatch
    unsigned skips_left; // of these, still to run
} MemoizedLaunch;

static MemoizedLaunch *memo_table;
static unsigned first_snapshots; // first launches with a snapshot since the last skipped launch
static uint64_t lookup_clock;
static size_t changes_bytes; // of all entries

static Digest key_of(const KernelLaunch *l, size_t stack)
{
    Digest key = {{0}};
    const uint64_t configuration[] = {(uint64_t)(uintptr_t)l->function, l->grid.x, l->grid.y, l->grid.z,
                              l->block.x, l->block.y, l->block.z, l->cluster.x, l->cluster.y, l->cluster.z,
                              l->cooperative, l->dynamic_shared_bytes, stack, (uint64_t)sim_current_device};
    sim_digest(&key, configuration, sizeof configuration);
    int index = 0;
    for (const Variable *v = l->function->params; v; v = v->next, index++)
        sim_digest(&key, l->arguments[index], v->bytes);
    return key;
}

// True if the kernel reads and writes nothing but memory.
static bool depends_on_memory_only(const KernelLaunch *l)
{
    const Program *p = l->function->program;
    return !p->effects.nondeterministic && !p->effects.launches && p->block_concurrency != SERIAL && !sim_module_of(l->kernel->binary)->launches_kernels;
}

// True if hashing all memory costs less than a launch of this many warp instructions.
static bool is_worth_hashing(uint64_t instructions, uint64_t bytes_an_instruction)
{
    const uint64_t max_bytes = instructions * bytes_an_instruction;
    uint64_t bytes = 0;
    if (instructions < MIN_INSTRUCTIONS)
        return false;
    for (const Allocation *a = sim_allocation_above(0); a && bytes <= max_bytes; a = sim_allocation_above(a->address)) {
        bytes += a->bytes + BYTES_PER_ALLOCATION;
        if (a->kind == RESERVED_MEMORY || a->file >= 0) // aliases other memory
            return false;
    }
    return bytes <= max_bytes;
}

// Estimates the warp instructions of a first launch: each warp executes each instruction once.
static uint64_t estimate_instructions(const KernelLaunch *l)
{
    const uint64_t blocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z, threads = (uint64_t)l->block.x * l->block.y * l->block.z;
    return blocks * ((threads + LANES - 1) / LANES) * l->function->program->count;
}

static MemoizedLaunch *memo_entry(const Digest *key)
{
    if (!memo_table)
        memo_table = calloc(MEMO_ENTRIES, sizeof *memo_table);
    return memo_table ? &memo_table[key->lanes[0] % MEMO_ENTRIES] : NULL;
}

// Frees inputs and results, but keeps the key.
static void clear_results(MemoizedLaunch *f)
{
    changes_bytes -= f->changes.bytes;
    sim_free_changes(&f->changes);
    free(f->state_before);
    free(f->uses);
    free(f->repeated_findings);
    f->state_before = NULL;
    f->uses = NULL;
    f->repeated_findings = NULL;
}

static void clear_entry(MemoizedLaunch *f)
{
    clear_results(f);
    *f = (MemoizedLaunch){.backoff = 1};
}

void sim_clear_memo(void)
{
    for (MemoizedLaunch *f = memo_table; f && f < memo_table + MEMO_ENTRIES; f++)
        clear_entry(f);
}

static void report_skip(const KernelLaunch *l, uint64_t number, uint64_t entry)
{
    static bool reported;
    char name[200];
    if (reported)
        return;
    reported = true;
    sim_demangle(l->function->name, name, sizeof name);
    fprintf(stderr,
            "simulator: launch %" PRIu64 " of the program, of kernel %s, finds all as launch %" PRIu64
            " found it: it is counted, gets the same results, and does not run, nor do others like it; SIM_REPEAT=1 runs them\n",
            number, name, entry);
}

// Produces the results of a skipped launch.
static void apply_memoized(const KernelLaunch *l, MemoizedLaunch *f)
{
    const Module *module = sim_module_of(l->kernel->binary);
    f->backoff = 1;
    first_snapshots = 0;
    sim_apply_changes(&f->changes);
    if (f->repeated_findings)
        sim_add_occurrences(f->repeated_findings);
    report_skip(l, sim_count_skipped_launch(module, l->function, l->grid, l->block, &f->result.counters), f->result.number);
}

static void compare_state(MemoLookup *lookup, MemoizedLaunch *f)
{
    lookup->state_before = sim_snapshot_before_op();
    lookup->counts_before = sim_occurrence_counts();
    lookup->mismatch = lookup->state_before && f->uses && !sim_changes_apply_to(lookup->state_before, f->state_before, &f->changes);
    lookup->skipped = lookup->state_before && f->uses && !lookup->mismatch && sim_repeat_uses(f->uses);
    f->last_lookup = ++lookup_clock;
}

MemoLookup sim_memo_lookup(const KernelLaunch *l, size_t stack)
{
    MemoLookup at = {.entry = NULL};
    const Settings *s = sim_settings();
    if (s->runs_all_launches || s->trace || s->record || !depends_on_memory_only(l))
        return at;
    const Digest key = key_of(l, stack);
    MemoizedLaunch *f = at.entry = memo_entry(&key);
    if (!f)
        return at;
    if (!sim_same_digest(&f->key, &key)) {
        clear_entry(f);
        f->key = key;
        if (first_snapshots < MAX_FIRST_SNAPSHOTS && is_worth_hashing(estimate_instructions(l), BYTES_PER_FIRST_INSTRUCTION)) {
            first_snapshots++;
            compare_state(&at, f);
        }
    } else if (f->skips_left > 0) {
        f->skips_left--;
    } else if (is_worth_hashing(f->result.counters.warp_instructions, BYTES_PER_INSTRUCTION)) {
        compare_state(&at, f);
    }
    if (at.skipped) {
        free(at.state_before);
        apply_memoized(l, f);
    }
    return at;
}

static size_t max_changes_bytes(void)
{
    return sim_host_memory_bytes() / MEMORY_FRACTION;
}

// Clears the least recently used entries until the changes fit.
static void evict_changes(const MemoizedLaunch *except)
{
    while (changes_bytes > max_changes_bytes()) {
        MemoizedLaunch *oldest = NULL;
        for (MemoizedLaunch *f = memo_table; f < memo_table + MEMO_ENTRIES; f++)
            if (f != except && f->changes.bytes && (!oldest || f->last_lookup < oldest->last_lookup))
                oldest = f;
        clear_results(oldest);
    }
}

// Stores the findings of a launch that has run; false if one was new.
static bool memoize_findings(MemoizedLaunch *f, const OccurrenceCounts *before)
{
    const OccurrenceCounts after = sim_occurrence_counts();
    OccurrenceCounts difference;
    if (!sim_subtract_counts(before, &after, &difference))
        return false;
    bool any = false;
    for (int n = 0; n < difference.count; n++)
        any |= difference.counts[n] > 0;
    f->repeated_findings = any ? malloc(sizeof difference) : NULL;
    if (f->repeated_findings)
        *f->repeated_findings = difference;
    return !any || f->repeated_findings;
}

// True if the launch may have communicated with the host, whose answers may differ next time.
static bool may_have_communicated(const KernelLaunch *l, uint64_t number)
{
    const EffectSummary *effects = &l->function->program->effects;
    return (effects->publishes_to_host || effects->observes) && sim_launch_accessed_host_visible(number);
}

// Stores accesses, changes and findings of the launch; false if it cannot be memoised.
static bool memoize(const KernelLaunch *l, MemoizedLaunch *f, const OccurrenceCounts *counts_before)
{
    if (may_have_communicated(l, f->result.number) || !memoize_findings(f, counts_before) || !sim_changes_since(f->state_before, f->result.number, max_changes_bytes(), &f->changes))
        return false;
    changes_bytes += f->changes.bytes;
    evict_changes(f);
    f->uses = sim_uses_of_op();
    return f->uses != NULL;
}

void sim_memo_update(const KernelLaunch *l, const MemoLookup *lookup, cudaError_t error)
{
    MemoizedLaunch *f = lookup->entry;
    if (!f)
        return;
    clear_results(f);
    f->state_before = lookup->state_before;
    if (error == cudaSuccess)
        f->result = sim_last_launch();
    else
        f->key = (Digest){{0}};
    if (!lookup->state_before)
        return;
    const bool worth_another = !lookup->mismatch || f->backoff == 1; // after a single change the inputs may repeat
    const bool kept = error == cudaSuccess && worth_another && memoize(l, f, &lookup->counts_before);
    if (!kept) {
        clear_results(f);
        f->skips_left = f->backoff;
    }
    if (!kept || lookup->mismatch)
        f->backoff = f->backoff < MAX_BACKOFF ? 2 * f->backoff : MAX_BACKOFF;
}
