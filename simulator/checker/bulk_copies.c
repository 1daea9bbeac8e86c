// bulk_copies.c: whether bulk asynchronous copies (TMA) see the writes of threads to shared memory.
//
// Such a copy uses the async proxy. Without a fence.proxy.async in between, it need not see a thread's earlier writes through the
// generic proxy, even if a barrier orders them. The same holds for the initialisation of the mbarrier that it signals, for which
// fence.mbarrier_init also suffices. As a simplification, a fence by any thread of the block counts; this misses some errors.
#include "checker/block_check.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT_BYTES = 8 }; // granularity of the tracking: the size of an mbarrier

typedef struct LastWriter { // last writer of a unit
    uint32_t time, site : 20, thread : 12;
} LastWriter;

typedef struct GenericWrites { // generic-proxy writes to a block's shared memory
    uint32_t proxy_fence_time, init_fence_time; // times of the block's last fence.proxy.async and fence.mbarrier_init
    LastWriter writers[]; // indexed by unit
} GenericWrites;

void sim_start_generic_writes(Block *b)
{
    if (!b->launch->module->uses_bulk_copies)
        return;
    if (!b->check->generic_writes)
        b->check->generic_writes = calloc(1, sizeof *b->check->generic_writes + (b->launch->shared_bytes / UNIT_BYTES + 1) * sizeof *b->check->generic_writes->writers);
    if (!b->check->generic_writes)
        sim_die("out of memory: checks of bulk copies");
    // Earlier than all writes of this block, later than those of earlier blocks.
    b->check->generic_writes->proxy_fence_time = b->check->generic_writes->init_fence_time = sim_time(b) - 1;
}

void sim_note_generic_writes(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const Block *b = w->block;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const size_t first = (size_t)(access->pointer[l] - b->shared);
        for (size_t unit = first / UNIT_BYTES; unit <= (first + access->bytes - 1) / UNIT_BYTES; unit++)
            b->check->generic_writes->writers[unit] =
                (LastWriter){sim_time(b), i->site & 0xfffff, (unsigned)(w->number * LANES + l) & 0xfff};
    }
}

void sim_note_proxy_fence(Warp *w)
{
    if (!w->block->check->generic_writes)
        return;
    w->block->check->generic_writes->proxy_fence_time = sim_time(w->block);
    sim_advance_time(w->block);
}

void sim_note_init_fence(Warp *w, const Instr *i, uint32_t mask)
{
    if (w->block->check->generic_writes)
        w->block->check->generic_writes->init_fence_time = sim_time(w->block);
    sim_order_by_fence(w, i, mask);
}

static void report(Warp *w, const Instr *i, int lane, const LastWriter *writer, bool is_source)
{
    const Block *b = w->block;
    const Launch *launch = b->launch;
    const FindingLocation locations[] = {sim_location_of(launch, b->number, writer->thread, sim_instruction_at(writer->site),
                                         is_source ? "shared memory write" : "mbarrier.init", OTHER_ROLE),
                            sim_location_of(launch, b->number, (uint32_t)(w->number * LANES + lane), i,
                                         is_source ? "bulk copy from it, started" : "bulk copy that signals it, started", OTHER_ROLE)};
    sim_add_finding(
        RACE_SHARED,
        is_source ? "a bulk asynchronous copy need not see what a thread has written to shared memory"
            : "a bulk asynchronous copy need not see the mbarrier that a thread has initialised",
        locations, 2,
        is_source ? "add a fence.proxy.async between the write and the bulk copy\nnote: a barrier alone does not order the two"
            : "add a fence.mbarrier_init or fence.proxy.async between mbarrier.init and the bulk copy");
}

static bool is_in_memcpy_async(const Module *m, int file)
{
    static const char FOLDER[] = "/cuda/__memcpy_async/";
    const Slice name = file >= 0 && file < m->file_count ? m->files[file] : (Slice){0};
    for (size_t k = 0; k + strlen(FOLDER) <= name.length; k++)
        if (memcmp(name.text + k, FOLDER, strlen(FOLDER)) == 0)
            return true;
    return false;
}

// True if cuda::memcpy_async starts the copy: NVIDIA documents its use without such a fence.
static bool is_from_library(const Warp *w, const Instr *i)
{
    const Module *m = w->block->launch->module;
    const Instr *call = w->current_split->frame->call; // with -G nothing is inlined
    return is_in_memcpy_async(m, i->statement->caller_file) ||
           (call && is_in_memcpy_async(m, call->statement->source_file));
}

static void warn_about_library(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&printed))
        fprintf(stderr, "simulator: cuda::memcpy_async signals a cuda::barrier without the fence that PTX requires after its init; "
                        "this is the library's responsibility, not a finding\n");
}

void sim_check_bulk_copy(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool is_source)
{
    const Block *b = w->block;
    const GenericWrites *generic_writes = b->check->generic_writes;
    const bool uses_proxy_fence = is_source || generic_writes->proxy_fence_time > generic_writes->init_fence_time;
    const uint32_t fence_time = uses_proxy_fence ? generic_writes->proxy_fence_time : generic_writes->init_fence_time;
    for (size_t unit = address / UNIT_BYTES; bytes > 0 && !sim_has_block_rank(address) && unit <= (address + bytes - 1) / UNIT_BYTES;
         unit++)
        if (generic_writes->writers[unit].time > fence_time) {
            sim_wait_for_earlier_blocks(w->block); // not from a speculative run
            if (!is_source && is_from_library(w, i))
                warn_about_library();
            else
                report(w, i, lane, &generic_writes->writers[unit], is_source);
            return;
        }
}
