// dependent_launches.c: which threads of a dependent kernel have waited for the previous one, and which writes of a kernel its dependents
// may not see.
//
// A warp counts as waiting if one of its lanes does, and a fence by one thread releases all earlier writes of its block. By the PTX ISA a
// block lets dependents begin by its first launch_dependents; here each warp does so for itself, or by a barrier after one that has. Only the
// newest unreleased writes of a block are kept. So some errors are missed, but there are no false positives.
#include "checker/dependent_launches.h"
#include "checker/block_check.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>

enum { MAX_UNRELEASED = 256 };

typedef struct UnreleasedWrite {
    const Allocation *allocation;
    uint64_t address;
    size_t bytes;
    UseKind kind;
    int warp;
} UnreleasedWrite;

struct UnreleasedWrites { // of a block, a ring of the newest ones
    size_t count;         // of all that were added
    UnreleasedWrite writes[MAX_UNRELEASED];
};

static bool is_early;          // of the current operation; constant while it runs
static atomic_bool has_waited; // of the current operation
static atomic_bool has_waited_first; // a block had waited before it executed launch_dependents

void sim_begin_dependent_launch(void)
{
    is_early = sim_begin_early_op();
    has_waited = has_waited_first = false;
}

void sim_end_dependent_launch(void)
{
    if (is_early)
        sim_end_early_op(has_waited_first);
    is_early = false;
}

bool sim_is_early_launch(void)
{
    return is_early;
}

bool sim_has_waited(void)
{
    return has_waited;
}

// Dependents may not see the unreleased writes of these warps, which have executed launch_dependents or ended.
static void note_unreleased_as_late(const Block *b, uint32_t warps)
{
    const struct UnreleasedWrites *u = b->check->unreleased_writes;
    const size_t count = u ? u->count : 0;
    for (size_t k = count > MAX_UNRELEASED ? count - MAX_UNRELEASED : 0; k < count; k++) {
        const UnreleasedWrite *w = &u->writes[k % MAX_UNRELEASED];
        if (warps >> w->warp & 1)
            sim_note_late_use(w->allocation, w->address, w->bytes, w->kind);
    }
}

void sim_begin_dependencies(Block *b)
{
    sim_end_dependencies(b);
    b->check->waited_warps = b->check->triggered_warps = 0;
}

void sim_end_dependencies(Block *b)
{
    note_unreleased_as_late(b, ~0u);
    sim_release_writes(b);
}

void sim_control_dependents(Warp *w, bool waits)
{
    BlockCheck *check = w->block->check;
    const uint32_t warp = 1u << w->number;
    if (!waits) {
        note_unreleased_as_late(w->block, warp);
        check->triggered_warps |= warp;
        return;
    }
    check->waited_warps |= warp;
    has_waited = true;
    if (!(check->triggered_warps & warp))
        has_waited_first = true;
}

void sim_release_writes(Block *b)
{
    if (b->check->unreleased_writes)
        b->check->unreleased_writes->count = 0;
}

void sim_share_dependencies(Block *b)
{
    if (b->check->waited_warps)
        b->check->waited_warps = ~0u;
    if (b->check->triggered_warps)
        b->check->triggered_warps = ~0u;
}

void sim_acquire_wait(Warp *w)
{
    if (has_waited)
        w->block->check->waited_warps |= 1u << w->number;
}

void sim_acquire_from_previous(Warp *w)
{
    w->block->check->waited_warps |= 1u << w->number;
}

UseKind sim_dependency_bits(const Warp *w)
{
    const BlockCheck *check = w->block->check;
    const bool early = is_early && !w->block->launch->nested_grid && !(check->waited_warps >> w->number & 1);
    return (early ? USE_EARLY : 0) | (check->triggered_warps >> w->number & 1 ? USE_LATE : 0);
}

void sim_note_unreleased(const Warp *w, const Allocation *a, uint64_t address, size_t bytes, UseKind kind)
{
    struct UnreleasedWrites **u = &w->block->check->unreleased_writes;
    if (!*u && !(*u = calloc(1, sizeof **u)))
        sim_die("out of memory: writes of a block");
    UnreleasedWrite *last = &(*u)->writes[((*u)->count - 1) % MAX_UNRELEASED];
    if ((*u)->count && last->allocation == a && last->kind == kind && last->warp == w->number && last->address + last->bytes == address)
        last->bytes += bytes;
    else
        (*u)->writes[(*u)->count++ % MAX_UNRELEASED] = (UnreleasedWrite){a, address, bytes, kind, w->number};
}
