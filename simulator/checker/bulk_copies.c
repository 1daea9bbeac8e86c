// bulk_copies.c: whether bulk asynchronous copies (TMA) see what threads have written to shared memory.
//
// Such a copy uses the async proxy: it need not see a thread's ordinary writes, even after a barrier, without a fence.proxy.async between
// them. The same holds for the mbarrier that it signals, for which fence.mbarrier_init is enough. Here the fence may be any thread's of the
// block, after the write: a simplification that misses some mistakes.
#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 8 }; // bytes of an mbarrier

typedef struct Writer { // the last writer of a unit
    uint32_t time, site : 20, thread : 12;
} Writer;

typedef struct AsyncWriters { // of a block's shared memory
    uint32_t fenced, inits_fenced; // time of the last fence.proxy.async and fence.mbarrier_init of any thread of the block
    Writer writers[];
} AsyncWriters;

void sim_start_async_writers(Block *b)
{
    if (!b->launch->module->uses_bulk_copies)
        return;
    if (!b->async_writers)
        b->async_writers = calloc(1, sizeof *b->async_writers + (b->launch->shared_bytes / UNIT + 1) * sizeof *b->async_writers->writers);
    if (!b->async_writers)
        sim_die("out of memory for the checks of bulk copies");
    b->async_writers->fenced = b->async_writers->inits_fenced = sim_time(b) - 1; // ignores the writes of earlier blocks
}

void sim_note_generic_writes(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const Block *b = w->block;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const size_t first = (size_t)(access->pointer[l] - b->shared);
        for (size_t unit = first / UNIT; unit <= (first + access->bytes - 1) / UNIT; unit++)
            b->async_writers->writers[unit] =
                (Writer){sim_time(b), i->site & 0xfffff, (unsigned)(w->number * LANES + l) & 0xfff};
    }
}

void sim_note_proxy_fence(Warp *w)
{
    if (!w->block->async_writers)
        return;
    w->block->async_writers->fenced = sim_time(w->block);
    sim_advance_time(w->block);
}

void sim_note_init_fence(Warp *w, const Instr *i, uint32_t mask)
{
    if (w->block->async_writers)
        w->block->async_writers->inits_fenced = sim_time(w->block);
    sim_order_by_fence(w, i, mask);
}

static void report(Warp *w, const Instr *i, int lane, const Writer *writer, bool out)
{
    const Block *b = w->block;
    const Launch *launch = b->launch;
    const Place places[] = {sim_place_of(launch, b->number, writer->thread, sim_instruction_at(writer->site),
                                         out ? "shared memory write" : "mbarrier.init"),
                            sim_place_of(launch, b->number, (uint32_t)(w->number * LANES + lane), i,
                                         out ? "bulk copy from it, started" : "bulk copy that signals it, started")};
    sim_add_finding(
        RACE_SHARED,
        out ? "a bulk asynchronous copy need not see what a thread has written to shared memory"
            : "a bulk asynchronous copy need not see the mbarrier that a thread has initialised",
        places, 2,
        out ? "add a fence.proxy.async between the write and the bulk copy\nnote: a barrier alone does not order the two"
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

// True if cuda::memcpy_async starts the copy: NVIDIA documents it without such a fence.
static bool is_from_library(const Warp *w, const Instr *i)
{
    const Module *m = w->block->launch->module;
    const Instr *call = w->current_split->frame->call; // with -G nothing is inlined
    return is_in_memcpy_async(m, i->statement->caller_file) ||
           (call && is_in_memcpy_async(m, call->statement->source_file));
}

static void warn_of_library(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&printed))
        fprintf(stderr, "simulator: cuda::memcpy_async signals a cuda::barrier without the fence after its init that PTX requires; "
                        "this is the library's responsibility, not a finding\n");
}

void sim_check_bulk_copy(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool out)
{
    const Block *b = w->block;
    const AsyncWriters *e = b->async_writers;
    const uint32_t fenced = out || e->fenced > e->inits_fenced ? e->fenced : e->inits_fenced;
    for (size_t unit = address / UNIT; bytes > 0 && !sim_has_block_rank(address) && unit <= (address + bytes - 1) / UNIT;
         unit++)
        if (e->writers[unit].time > fenced) {
            sim_wait_for_earlier_blocks(w->block); // not from a speculative run
            if (!out && is_from_library(w, i))
                warn_of_library();
            else
                report(w, i, lane, &e->writers[unit], out);
            return;
        }
}
