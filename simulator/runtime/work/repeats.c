// repeats.c: memoised launches. Benchmarks launch a kernel many times with equal arguments. After the first iterations, inputs and
// results of such a launch equal those of the launch before, so the results are copied instead.
//
//   inputs    the key: kernel, launch configuration, arguments; and digests of all memory that kernels may access: addresses,
//             content, and (for the checker) which bytes are initialised. Digests are computed when a key repeats, or on its
//             first launch if that is long. Memory that the launch only wrote may already contain its results.
//   results   changed memory, a row of counters, the launch count; for the checker, accessed bytes and repeated findings
//
// A launch always runs if its kernel has other inputs (a clock, the launch's number) or other effects (prints, allocates,
// launches, communicates with the host), or if the earlier launch had a new finding. Textures and surfaces are immutable
// until one is destroyed.
#include "checker/memoized_uses.h"
#include "machine/shortcuts.h"
#include "runtime/work/repeats.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MEMO_ENTRIES = 1024,             // size of the direct-mapped table; a power of two
    MIN_INSTRUCTIONS = 10000,        // warp instructions; shorter launches are not memoised
    BYTES_PER_INSTRUCTION = 40,      // hashing more memory would take too long, compared with the launch
    BYTES_PER_FIRST_INSTRUCTION = 4, // limit for the first launch of a key
    MAX_FIRST_SNAPSHOTS = 8,         // consecutive first launches with a snapshot but no repetition
    BYTES_PER_ALLOCATION = 4096,     // cost of visiting an allocation, added to its size
    MAX_BACKOFF = 64
};
enum { MEMORY_FRACTION = 8 }; // stored changes may take 1/8 of the host's memory

// The last launch of a key. Guarded by the lock of machine/memory/lock.c.
typedef struct MemoizedLaunch {
    Digest key;      // of kernel, configuration and arguments
    UsesOfOp *uses;  // accessed bytes; NULL: the results are unknown or cannot be replayed
    MemoryState *state_before; // memory before the launch
    Changes changes; // memory after the launch
    LaunchResult result;
    OccurrenceCounts *repeated_findings; // findings of the launch, or NULL
    uint64_t last_lookup; // value of lookup_clock
    unsigned backoff;    // number of launches to run without a comparison after the next mismatch; grows exponentially
    unsigned uncompared; // number of these launches that remain
} MemoizedLaunch;

static MemoizedLaunch *memo_table;
static unsigned first_snapshots; // first launches with a snapshot since the last skipped launch
static uint64_t lookup_clock;
static size_t changes_bytes; // size of all entries' changes

static Digest key_of(const KernelLaunch *l, size_t stack)
{
    Digest key = {{0}};
    const uint64_t configuration[] = {(uint64_t)(uintptr_t)l->function, l->grid.x, l->grid.y, l->grid.z,
                              l->block.x, l->block.y, l->block.z, l->cluster.x, l->cluster.y, l->cluster.z,
                              l->is_cooperative, l->dynamic_shared_bytes, stack, (uint64_t)sim_current_device};
    sim_digest(&key, configuration, sizeof configuration);
    int index = 0;
    for (const Variable *v = l->function->params; v; v = v->next, index++)
        sim_digest(&key, l->arguments[index], v->bytes);
    return key;
}

// True if the kernel's only inputs and effects are arguments and memory.
static bool depends_on_memory_only(const KernelLaunch *l)
{
    const Program *p = l->function->program;
    return !p->effects.nondeterministic && !p->effects.launches && p->block_concurrency != SERIAL && !sim_loaded_module(l->kernel->binary)->launches_kernels;
}

// True if hashing all memory is cheap, compared with a launch of this many warp instructions.
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

// Estimates the warp instructions of a first launch, as if each warp executed each instruction once.
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
static void clear_results(MemoizedLaunch *entry)
{
    changes_bytes -= entry->changes.bytes;
    sim_free_changes(&entry->changes);
    free(entry->state_before);
    free(entry->uses);
    free(entry->repeated_findings);
    entry->state_before = NULL;
    entry->uses = NULL;
    entry->repeated_findings = NULL;
}

static void clear_entry(MemoizedLaunch *entry)
{
    clear_results(entry);
    *entry = (MemoizedLaunch){.backoff = 1};
}

void sim_clear_memo(void)
{
    for (MemoizedLaunch *entry = memo_table; entry && entry < memo_table + MEMO_ENTRIES; entry++)
        clear_entry(entry);
}

static void report_skip(const KernelLaunch *l, uint64_t number, uint64_t earlier)
{
    static bool reported;
    char name[200];
    if (reported)
        return;
    reported = true;
    sim_demangle(l->function->name, name, sizeof name);
    fprintf(stderr,
            "simulator: launch %" PRIu64 " of the program, of kernel %s, has the arguments and memory of launch %" PRIu64
            ": its results and counters are copied, and it does not run, nor do others like it; SIM_REPEAT=1 runs them\n",
            number, name, earlier);
}

// Copies the results of a skipped launch.
static void apply_memoized(const KernelLaunch *l, MemoizedLaunch *entry)
{
    const Module *module = sim_loaded_module(l->kernel->binary);
    entry->backoff = 1;
    first_snapshots = 0;
    sim_apply_changes(&entry->changes);
    if (entry->repeated_findings)
        sim_add_occurrences(entry->repeated_findings);
    report_skip(l, sim_count_skipped_launch(module, l->function, l->grid, l->block, &entry->result.counters), entry->result.number);
}

static void compare_state(MemoLookup *lookup, MemoizedLaunch *entry)
{
    lookup->state_before = sim_snapshot_before_op();
    lookup->counts_before = sim_occurrence_counts();
    lookup->mismatch = lookup->state_before && entry->uses && !sim_changes_apply_to(lookup->state_before, entry->state_before, &entry->changes);
    lookup->skipped = lookup->state_before && entry->uses && !lookup->mismatch && sim_repeat_uses(entry->uses);
    entry->last_lookup = ++lookup_clock;
}

MemoLookup sim_memo_lookup(const KernelLaunch *l, size_t stack)
{
    MemoLookup lookup = {.entry = NULL};
    const Settings *s = sim_settings();
    if (!sim_takes_shortcuts() || s->trace || s->record || !depends_on_memory_only(l))
        return lookup;
    const Digest key = key_of(l, stack);
    MemoizedLaunch *entry = lookup.entry = memo_entry(&key);
    if (!entry)
        return lookup;
    if (!sim_same_digest(&entry->key, &key)) {
        clear_entry(entry);
        entry->key = key;
        if (first_snapshots < MAX_FIRST_SNAPSHOTS && is_worth_hashing(estimate_instructions(l), BYTES_PER_FIRST_INSTRUCTION)) {
            first_snapshots++;
            compare_state(&lookup, entry);
        }
    } else if (entry->uncompared > 0) {
        entry->uncompared--;
    } else if (is_worth_hashing(entry->result.counters.warp_instructions, BYTES_PER_INSTRUCTION)) {
        compare_state(&lookup, entry);
    }
    if (lookup.skipped) {
        free(lookup.state_before);
        apply_memoized(l, entry);
    }
    return lookup;
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
        for (MemoizedLaunch *entry = memo_table; entry < memo_table + MEMO_ENTRIES; entry++)
            if (entry != except && entry->changes.bytes && (!oldest || entry->last_lookup < oldest->last_lookup))
                oldest = entry;
        clear_results(oldest);
    }
}

// Stores the findings of a launch that has run; false if one was new.
static bool memoize_findings(MemoizedLaunch *entry, const OccurrenceCounts *before)
{
    const OccurrenceCounts after = sim_occurrence_counts();
    OccurrenceCounts difference;
    if (!sim_subtract_counts(before, &after, &difference))
        return false;
    bool any = false;
    for (int n = 0; n < difference.count; n++)
        any |= difference.counts[n] > 0;
    entry->repeated_findings = any ? malloc(sizeof difference) : NULL;
    if (entry->repeated_findings)
        *entry->repeated_findings = difference;
    return !any || entry->repeated_findings;
}

// True if the launch may have communicated with the host, whose answers may differ next time.
static bool may_have_communicated(const KernelLaunch *l, uint64_t number)
{
    const EffectSummary *effects = &l->function->program->effects;
    return (effects->publishes_to_host || effects->observes) && sim_launch_accessed_host_visible(number);
}

// Stores the launch's accesses, changes and findings; false if the launch cannot be memoised.
static bool memoize(const KernelLaunch *l, MemoizedLaunch *entry, const OccurrenceCounts *counts_before)
{
    if (may_have_communicated(l, entry->result.number) || !memoize_findings(entry, counts_before) || !sim_changes_since(entry->state_before, entry->result.number, max_changes_bytes(), &entry->changes))
        return false;
    changes_bytes += entry->changes.bytes;
    evict_changes(entry);
    entry->uses = sim_uses_of_op();
    return entry->uses != NULL;
}

void sim_memo_update(const KernelLaunch *l, const MemoLookup *lookup, cudaError_t error)
{
    MemoizedLaunch *entry = lookup->entry;
    if (!entry)
        return;
    clear_results(entry);
    entry->state_before = lookup->state_before;
    if (error == cudaSuccess)
        entry->result = sim_last_launch();
    else
        entry->key = (Digest){{0}};
    if (!lookup->state_before)
        return;
    const bool may_repeat = !lookup->mismatch || entry->backoff == 1; // after a single change, the inputs may repeat
    const bool is_stored = error == cudaSuccess && may_repeat && memoize(l, entry, &lookup->counts_before);
    if (!is_stored) {
        clear_results(entry);
        entry->uncompared = entry->backoff;
    }
    if (!is_stored || lookup->mismatch)
        entry->backoff = entry->backoff < MAX_BACKOFF ? 2 * entry->backoff : MAX_BACKOFF;
}
