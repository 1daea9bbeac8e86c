// repeats.c: a launch that finds all as an earlier one found it does the same, and need not run again.
//
// Programs that measure launch a kernel hundreds of times with the same arguments, alone or in rounds with others. From the
// second or third round on such a launch finds what the one before found, and leaves what that left. So its results are
// copied, if it has any: often it writes what lies there already.
//
// What a launch may find: its kernel, its shape and arguments, and the memory that kernels may touch: where it lies, what
// it holds, and for the checker which bytes of it somebody wrote. Of these there are digests, before a launch that comes again,
// and before the first one if it is long. So it does not matter who changed what in between, nor how: what is not the same
// runs. But what the launch did not read may be as it left it: it would write the same there once more. Textures and surfaces
// stay what they are until one is destroyed. Kernels that depend on more (a clock, the launch's number), or do more than write
// memory (print, allocate, launch; talk with the host through memory that both share), always run; and so does a launch in which
// something was found for the first time.
//
// What a launch leaves that does not run: what it changes, a row among the counters, a launch more for all who count them,
// and, for the checker, that its operation used the same bytes, and that what was found in it was found once more.
#include "checker/uses_again.h"
#include "runtime/work/repeats.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    MEMO_ENTRIES = 1024,               // launches that are known: a power of two
    MIN_INSTRUCTIONS = 10000,  // of warps: what takes no time may run
    BYTES_PER_INSTRUCTION = 40,    // of memory, at most: a digest takes far less time than the launch
    BYTES_PER_FIRST_INSTRUCTION = 4,          // the same of a launch that may not come again
    MAX_FIRST_SNAPSHOTS = 8,           // of these that are looked at one after the other while none comes again
    BYTES_PER_ALLOCATION = 4096,  // more: to come to it takes time, too
    MAX_BACKOFF = 64
};
enum { MEMORY_FRACTION = 8 }; // of the host's, that the changes of all launches may take

// Of each key the last launch. Under the lock of lock.c.
typedef struct MemoizedLaunch {
    Digest key;      // the launch
    UsesOfOp *uses;  // NULL: the rest is not known, or it did more than change memory
    MemoryState *found;
    Changes changes; // what it left otherwise than it was found
    LaunchResult ran;
    TimesFound *repeated_findings; // what was found in it; NULL: nothing
    uint64_t last_lookup; // when it was last looked at: see `looks`
    unsigned backoff, skips_left; // launches that run without being looked at: each time twice as many, if that is in vain
} MemoizedLaunch;

static MemoizedLaunch *memo_table;
static unsigned first_snapshots; // launches that were looked at the first time since one was left out
static uint64_t lookup_clock;
static size_t changes_bytes; // of all of them

static Digest key_of(const KernelLaunch *l, size_t stack)
{
    Digest key = {{0}};
    const uint64_t shape[] = {(uint64_t)(uintptr_t)l->function, l->grid.x, l->grid.y, l->grid.z,
                              l->block.x, l->block.y, l->block.z, l->cluster.x, l->cluster.y, l->cluster.z,
                              l->cooperative, l->dynamic_bytes, stack, (uint64_t)sim_current_device};
    sim_digest(&key, shape, sizeof shape);
    int index = 0;
    for (const Variable *v = l->function->params; v; v = v->next, index++)
        sim_digest(&key, l->arguments[index], v->bytes);
    return key;
}

// Whether memory is all that the kernel may find, and change.
static bool depends_on_memory_only(const KernelLaunch *l)
{
    const Program *p = l->function->program;
    return !p->effects.varies && !p->effects.launches && p->order != SERIAL && !sim_module_of(l->kernel->binary)->launches_kernels;
}

// Whether there is so little memory that looking at it costs less than a launch of so many warp instructions. To find that out
// must not cost more, either.
static bool is_worth_it(uint64_t instructions, uint64_t bytes_an_instruction)
{
    const uint64_t most = instructions * bytes_an_instruction;
    uint64_t bytes = 0;
    if (instructions < MIN_INSTRUCTIONS)
        return false;
    for (const Allocation *a = sim_allocation_above(0); a && bytes <= most; a = sim_allocation_above(a->address)) {
        bytes += a->bytes + BYTES_PER_ALLOCATION;
        if (a->kind == RESERVED_MEMORY || a->file >= 0) // shows what lies elsewhere
            return false;
    }
    return bytes <= most;
}

// About how many warp instructions a launch takes of which that is not known: in each warp all of the kernel's once.
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

// What it found, and left.
static void clear_results(MemoizedLaunch *f)
{
    changes_bytes -= f->changes.bytes;
    sim_free_changes(&f->changes);
    free(f->found);
    free(f->uses);
    free(f->repeated_findings);
    f->found = NULL;
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
    sim_readable_name(l->function->name, name, sizeof name);
    fprintf(stderr,
            "simulator: launch %" PRIu64 " of the program, of kernel %s, finds all as launch %" PRIu64
            " found it: it is counted, gets the same results, and does not run, nor do others like it; SIM_REPEAT=1 runs them\n",
            number, name, entry);
}

// What the launch would leave.
static void apply_memoized(const KernelLaunch *l, MemoizedLaunch *f)
{
    const Module *module = sim_module_of(l->kernel->binary);
    f->backoff = 1;
    first_snapshots = 0;
    sim_apply_changes(&f->changes);
    if (f->repeated_findings)
        sim_find_again(f->repeated_findings);
    report_skip(l, sim_count_skipped_launch(module, l->function, l->grid, l->block, &f->ran.counters), f->ran.number);
}

static void compare_state(MemoLookup *lookup, MemoizedLaunch *f)
{
    lookup->found = sim_snapshot_before_op();
    lookup->times_found = sim_times_found();
    lookup->mismatch = lookup->found && f->uses && !sim_changes_apply_to(lookup->found, f->found, &f->changes);
    lookup->skipped = lookup->found && f->uses && !lookup->mismatch && sim_use_again(f->uses);
    f->last_lookup = ++lookup_clock;
}

MemoLookup sim_memo_lookup(const KernelLaunch *l, size_t stack)
{
    MemoLookup at = {.entry = NULL};
    const Settings *s = sim_settings();
    if (s->repeats || s->trace || s->record || !depends_on_memory_only(l))
        return at;
    const Digest key = key_of(l, stack);
    MemoizedLaunch *f = at.entry = memo_entry(&key);
    if (!f)
        return at;
    if (!sim_same_digest(&f->key, &key)) {
        clear_entry(f);
        f->key = key;
        if (first_snapshots < MAX_FIRST_SNAPSHOTS && is_worth_it(estimate_instructions(l), BYTES_PER_FIRST_INSTRUCTION)) {
            first_snapshots++;
            compare_state(&at, f);
        }
    } else if (f->skips_left > 0) {
        f->skips_left--;
    } else if (is_worth_it(f->ran.counters.warp_instructions, BYTES_PER_INSTRUCTION)) {
        compare_state(&at, f);
    }
    if (at.skipped) {
        free(at.found);
        apply_memoized(l, f);
    }
    return at;
}

static size_t max_changes_bytes(void)
{
    return sim_host_bytes() / MEMORY_FRACTION;
}

// There is room for what a launch changed: those that were looked at longest ago change nothing by themselves any more.
static void evict_changes(const MemoizedLaunch *but)
{
    while (changes_bytes > max_changes_bytes()) {
        MemoizedLaunch *oldest = NULL;
        for (MemoizedLaunch *f = memo_table; f < memo_table + MEMO_ENTRIES; f++)
            if (f != but && f->changes.bytes && (!oldest || f->last_lookup < oldest->last_lookup))
                oldest = f;
        clear_results(oldest);
    }
}

// Keeps what has been found in the launch, which has run; false: something for the first time.
static bool remember_findings(MemoizedLaunch *f, const TimesFound *before)
{
    const TimesFound after = sim_times_found();
    TimesFound more;
    if (!sim_found_more_often(before, &after, &more))
        return false;
    bool any = false;
    for (int n = 0; n < more.count; n++)
        any |= more.times[n] > 0;
    f->repeated_findings = any ? malloc(sizeof more) : NULL;
    if (f->repeated_findings)
        *f->repeated_findings = more;
    return !any || f->repeated_findings;
}

// Whether the launch may have told the host something, or asked it, which need not give the same answer again.
static bool may_have_communicated(const KernelLaunch *l, uint64_t number)
{
    const EffectSummary *effects = &l->function->program->effects;
    return (effects->publishes_to_host || effects->observes) && sim_launch_used_shared(number);
}

// Keeps what the launch used and changed; false: that cannot be kept.
static bool remember(const KernelLaunch *l, MemoizedLaunch *f, const TimesFound *found_before)
{
    if (may_have_communicated(l, f->ran.number) || !remember_findings(f, found_before) || !sim_changes_since(f->found, f->ran.number, max_changes_bytes(), &f->changes))
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
    f->found = lookup->found;
    if (error == cudaSuccess)
        f->ran = sim_last_launch();
    else
        f->key = (Digest){{0}};
    if (!lookup->found)
        return;
    const bool worth_another = !lookup->mismatch || f->backoff == 1; // what was found otherwise once may stay so
    const bool kept = error == cudaSuccess && worth_another && remember(l, f, &lookup->times_found);
    if (!kept) {
        clear_results(f);
        f->skips_left = f->backoff;
    }
    if (!kept || lookup->mismatch)
        f->backoff = f->backoff < MAX_BACKOFF ? 2 * f->backoff : MAX_BACKOFF;
}
