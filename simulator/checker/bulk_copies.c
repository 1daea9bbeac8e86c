// bulk_copies.c: whether bulk asynchronous copies (TMA) see the writes of threads to shared memory.
//
// Such a copy uses the async proxy. Without a fence.proxy.async in between, it need not see a thread's earlier writes through the
// generic proxy, even if a barrier orders them. The same holds for the initialisation of the mbarrier that it signals, for which
// fence.mbarrier_init also suffices. As a simplification, a fence by any thread of the block counts; this misses some errors.
#include "checker/block_check.h"
#include "checker/shadow.h"

void sim_start_proxy_fences(Block *b)
{
    // Earlier than all writes of this block, later than those of earlier blocks.
    b->check->proxy_fence_time = b->check->init_fence_time = clocks_of(b)->time - 1;
}

void sim_note_proxy_fence(Warp *w)
{
    w->block->check->proxy_fence_time = clocks_of(w->block)->time++;
}

void sim_note_init_fence(Warp *w, const Instr *i, uint32_t mask)
{
    w->block->check->init_fence_time = clocks_of(w->block)->time;
    sim_order_by_fence(w, i, mask);
}

static void report(Warp *w, const Instr *i, int lane, const AccessRecord *writer, bool is_source)
{
    const char *written = is_source ? "shared memory write" : "mbarrier.init",
               *copied = is_source ? "bulk copy from it, started" : "bulk copy that signals it, started";
    const FindingLocation locations[] = {
        sim_lane_location(&w->block->warps[writer->warp], __builtin_ctz(writer->lanes), sim_instruction_at(writer->site), written, OTHER_ROLE),
        sim_lane_location(w, lane, i, copied, OTHER_ROLE)};
    sim_add_finding(
        RACE_SHARED,
        is_source ? "a bulk asynchronous copy need not see what a thread has written to shared memory"
            : "a bulk asynchronous copy need not see the mbarrier that a thread has initialised",
        locations, 2,
        is_source ? "add a fence.proxy.async between the write and the bulk copy\nnote: a barrier alone does not order the two"
            : "add a fence.mbarrier_init or fence.proxy.async between mbarrier.init and the bulk copy");
}

// True if cuda::memcpy_async starts the copy: NVIDIA documents its use without such a fence.
static bool is_from_library(const Warp *w, const Instr *i)
{
    static const char FOLDER[] = "/cuda/__memcpy_async/";
    const Module *m = w->block->launch->module;
    const Instr *call = w->current_split->frame->call; // with -G nothing is inlined
    return sim_path_contains(m, i->statement->caller_file, FOLDER) || (call && sim_path_contains(m, call->statement->source_file, FOLDER));
}

static void warn_about_library(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&printed))
        fprintf(stderr, "simulator: cuda::memcpy_async signals a cuda::barrier without the fence that PTX requires after its init; "
                        "this is the library's responsibility, not a finding\n");
}

// True for a write by a thread of the block that no proxy fence follows.
static bool lacks_proxy_fence(const AccessRecord *record, const Block *b)
{
    return record->kind == PLAIN_WRITE && record->block == block_id(b) && record->time > b->check->proxy_fence_time;
}

static bool lacks_init_fence(const AccessRecord *record, const Block *b)
{
    return lacks_proxy_fence(record, b) && record->time > b->check->init_fence_time;
}

void sim_check_bulk_copy(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, bool is_source)
{
    AccessRecord writer;
    if (bytes == 0 || sim_has_block_rank(address) ||
        !sim_find_shared_record(w->block, address, bytes, is_source ? lacks_proxy_fence : lacks_init_fence, &writer))
        return;
    sim_wait_for_earlier_blocks(w->block); // not from a speculative run
    if (!is_source && is_from_library(w, i))
        warn_about_library();
    else
        report(w, i, lane, &writer, is_source);
}
