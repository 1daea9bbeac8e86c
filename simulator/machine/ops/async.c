// async.c: cp.async, non-bulk asynchronous copies to shared memory.
//
// A copy reads when it is issued and writes when its thread waits for it, so that code without a wait reads stale values.
// A thread's copies belong to the group that it commits next; its groups are numbered from 0.
#include "machine/ops/lanes.h"

#include <string.h>

enum { MAX_BYTES = 16 };

struct AsyncCopy {          // one instruction's copy, pending for the lanes of `mask`
    struct AsyncCopy *next; // the next in the order of issue
    uint32_t mask;
    uint32_t bytes;
    uint64_t group[LANES], to[LANES];
    uint8_t data[LANES][MAX_BYTES];
};

static struct AsyncCopy *new_copy(Warp *w)
{
    Block *b = w->block;
    struct AsyncCopy *copy = b->free_copies, **link = &w->copies;
    if (copy)
        b->free_copies = copy->next;
    else
        copy = sim_allocate(&b->arena, sizeof *copy);
    while (*link)
        link = &(*link)->next;
    *link = copy;
    copy->next = NULL;
    return copy;
}

void sim_discard_copies(Warp *w)
{
    memset(w->groups, 0, sizeof w->groups);
    while (w->copies) {
        struct AsyncCopy *copy = w->copies;
        w->copies = copy->next;
        copy->next = w->block->free_copies;
        w->block->free_copies = copy;
    }
}

// Reads the lanes' sources. The first source_bytes of i->bytes bytes come from global memory; the rest are 0.
static void read_sources(Warp *w, const Instr *i, uint32_t mask, const uint32_t *source_bytes, struct AsyncCopy *copy)
{
    Access from = {.kind = ACCESS_ASYNC_READ, .space = GLOBAL, .bytes = i->bytes, .alignment = i->bytes};
    for (int l = 0; l < LANES; l++)
        from.address[l] = sim_operand_address(w, &i->addresses[1], l);
    memset(copy->data, 0, sizeof copy->data);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (source_bytes[l] >= i->bytes) {
            from.mask |= 1u << l;
            continue;
        }
        const uint8_t *source =
            source_bytes[l] ? sim_access_lane(w, i, l, GLOBAL, from.address[l], source_bytes[l], i->bytes, ACCESS_ASYNC_READ)
                      : NULL;
        for (uint32_t k = 0; k < source_bytes[l]; k++)
            copy->data[l][k] = (uint8_t)sim_read_bytes(source + k, 1);
    }
    if (from.mask)
        sim_access(w, i, &from);
    for (uint32_t rest = from.mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (int k = 0; k < i->bytes; k += 4)
            sim_write_bytes(copy->data[l] + k, sim_read_bytes(from.pointer[l] + k, 4), 4);
    }
    from.mask = mask; // counts as one load by all lanes
    from.pattern = SCATTERED;
    sim_count_async_load(w, &from);
}

// cp.async [addresses 0], [addresses 1], cp-size, src-size: writes cp-size bytes (i->bytes) to shared memory. The first
// src-size bytes (operand c) come from global memory; the rest are 0.
void sim_copy_async(Warp *w, const Instr *i, uint32_t mask)
{
    Access to = {.kind = ACCESS_ASYNC_WRITE, .space = SHARED, .mask = mask, .bytes = i->bytes, .alignment = i->bytes};
    for (int l = 0; l < LANES; l++)
        to.address[l] = sim_operand_address(w, &i->addresses[0], l);
    sim_access(w, i, &to);
    struct AsyncCopy *copy = new_copy(w);
    copy->mask = mask;
    copy->bytes = i->bytes;
    memcpy(copy->to, to.address, sizeof copy->to);
    memcpy(copy->group, w->groups, sizeof copy->group);
    read_sources(w, i, mask, OPERAND(uint32_t, c), copy);
}

// Writes the lanes' data to shared memory.
static void complete_copy(Warp *w, const Instr *i, const struct AsyncCopy *copy, uint32_t lanes)
{
    // For a thread that waits at an mbarrier, the copy is complete only after that wait.
    const AccessKind kind = i->kind == ARRIVE_AFTER_COPIES ? ACCESS_ASYNC_WRITE : ACCESS_WRITE;
    Access to = {.kind = kind, .space = SHARED, .mask = lanes, .bytes = copy->bytes, .alignment = copy->bytes};
    memcpy(to.address, copy->to, sizeof to.address);
    sim_access(w, i, &to);
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(to.pointer[__builtin_ctz(rest)], copy->data[__builtin_ctz(rest)], copy->bytes);
}

// Completes the lanes' copies in the order of issue, except those in the last `pending` groups and uncommitted ones.
static void await_groups(Warp *w, const Instr *i, uint32_t mask, uint64_t pending)
{
    for (struct AsyncCopy **link = &w->copies; *link;) {
        struct AsyncCopy *copy = *link;
        uint32_t lanes = 0;
        for (uint32_t rest = copy->mask & mask; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            lanes |= (uint32_t)(copy->group[l] + pending < w->groups[l]) << l;
        }
        if (lanes)
            complete_copy(w, i, copy, lanes);
        copy->mask &= ~lanes;
        if (copy->mask) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        copy->next = w->block->free_copies;
        w->block->free_copies = copy;
    }
}

void sim_commit_copies(Warp *w, const Instr *i, uint32_t mask)
{
    (void)i;
    FOR_EACH_LANE(w->groups[l]++)
}

void sim_await_copies(Warp *w, const Instr *i, uint32_t mask)
{
    await_groups(w, i, mask, i->groups);
}

void sim_await_all_copies(Warp *w, const Instr *i, uint32_t mask)
{
    sim_commit_copies(w, i, mask);
    await_groups(w, i, mask, 0);
}
