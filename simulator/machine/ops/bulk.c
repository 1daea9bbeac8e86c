// bulk.c: bulk asynchronous copies (TMA) and mbarriers.
//
// A copy executes when it is issued. A phase completes when all expected arrivals and transaction bytes have been counted.
// Bytes may complete before they are expected.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

#include <string.h>

struct BulkSource { // shared memory that a pending copy reads, until its thread waits
    struct BulkSource *next;
    const Instr *copy;
    int lane;
    uint64_t group, address;
    size_t bytes;
};

enum { VALID = 1, MAX_ARRIVALS = (1 << 20) - 1, MAX_BYTES = (1 << 20) - 1 };

typedef struct Mbarrier { // the 8 bytes of an mbarrier
    uint64_t phase : 1;                   // parity of the current phase
    uint64_t pending : 20, expected : 20; // arrivals: still missing in this phase; needed in each phase
    int64_t bytes : 21;                   // expected minus completed transaction bytes
    uint64_t state : 2;                   // VALID after mbarrier.init
} Mbarrier;

_Static_assert(sizeof(Mbarrier) == 8, "an mbarrier has 8 bytes");

// Host pointer to a lane's operand in brackets.
static uint8_t *operand_pointer(Warp *w, const Instr *i, const Address *operand, int lane, size_t bytes,
                                size_t alignment, AccessKind kind)
{
    return sim_access_lane(w, i, lane, (Space)operand->space, sim_operand_address(w, operand, lane), bytes, alignment,
                           kind);
}

// Host pointers to the lanes' mbarriers.
static void translate_mbarriers(Warp *w, const Instr *i, const Address *operand, uint32_t mask, AccessKind kind,
                          Mbarrier *found[LANES])
{
    const bool generic = operand->space == GENERIC;
    Access access = {.kind = kind, .space = SHARED, .mask = mask, .bytes = sizeof(Mbarrier),
                     .alignment = sizeof(Mbarrier), .pattern = SCATTERED};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        access.address[l] = sim_operand_address(w, operand, l);
        if ((generic ? sim_space_at(access.address[l]) : operand->space) != SHARED)
            sim_fault(w, i, l, cudaErrorIllegalAddress, "the mbarrier is not in shared memory");
        if (generic)
            access.address[l] = sim_resolve_generic(w, i, l, access.address[l]);
    }
    sim_access(w, i, &access);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        found[__builtin_ctz(rest)] = (Mbarrier *)access.pointer[__builtin_ctz(rest)];
}

static void require_valid(Warp *w, const Instr *i, int lane, const Mbarrier *b)
{
    if (b->state != VALID)
        sim_fault(w, i, lane, cudaErrorLaunchFailure, "the mbarrier is not initialised: mbarrier.init has not run\ninitialise it in one thread, then call __syncthreads()");
}

static void find_valid_mbarriers(Warp *w, const Instr *i, const Address *operand, uint32_t mask, Mbarrier *found[LANES])
{
    translate_mbarriers(w, i, operand, mask, ACCESS_ATOMIC, found);
    FOR_EACH_LANE(require_valid(w, i, l, found[l]))
}

static Mbarrier *find_valid_mbarrier(Warp *w, const Instr *i, const Address *operand, int lane)
{
    Mbarrier *found[LANES];
    find_valid_mbarriers(w, i, operand, 1u << lane, found);
    return found[lane];
}

// Applies arrivals, and expected or (negative) completed bytes; completes the phase if none is outstanding.
static void apply_arrivals(Warp *w, const Instr *i, int lane, Mbarrier *b, uint32_t arrivals, int64_t bytes)
{
    const int64_t sum = b->bytes + bytes;
    if (arrivals > b->pending)
        sim_fault(w, i, lane, cudaErrorLaunchFailure, "%u arrivals at an mbarrier that expects only %u more in this phase", arrivals,
                  (unsigned)b->pending);
    if (sum < -MAX_BYTES || sum > MAX_BYTES)
        sim_fault(w, i, lane, cudaErrorLaunchFailure, "the mbarrier expects %lld bytes, but its count is limited to %d",
                  (long long)sum, MAX_BYTES);
    b->pending -= arrivals;
    b->bytes = sum;
    if (b->pending == 0 && sum == 0) {
        b->phase ^= 1;
        b->pending = b->expected;
    }
}

void sim_mbarrier_init(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t *count = OPERAND(uint32_t, b);
    Mbarrier *barriers[LANES];
    translate_mbarriers(w, i, i->addresses, mask, ACCESS_WRITE, barriers);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (count[l] < 1 || count[l] > MAX_ARRIVALS)
            sim_fault(w, i, l, cudaErrorLaunchFailure, "an mbarrier for %u arrivals; allowed are 1 to %d", count[l],
                      MAX_ARRIVALS);
        *barriers[l] = (Mbarrier){.pending = count[l], .expected = count[l], .state = VALID};
    }
}

void sim_mbarrier_inval(Warp *w, const Instr *i, uint32_t mask)
{
    Mbarrier *barriers[LANES];
    translate_mbarriers(w, i, i->addresses, mask, ACCESS_ATOMIC, barriers);
    for (uint32_t rest = mask; rest; rest &= rest - 1) { // the second of two lanes with the same mbarrier faults
        const int l = __builtin_ctz(rest);
        require_valid(w, i, l, barriers[l]);
        *barriers[l] = (Mbarrier){.state = 0};
    }
}

// The lanes whose mbarrier is that of the first lane.
static uint32_t lanes_at_first_mbarrier(uint32_t mask, Mbarrier *const barriers[LANES])
{
    uint32_t same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (barriers[__builtin_ctz(rest)] == barriers[__builtin_ctz(mask)])
            same |= rest & -rest;
    return same;
}

// arrive, expect_tx and arrive.expect_tx: b is the number of arrivals, c the number of bytes, d the previous state. arrive_drop
// also lowers the expected count of later phases.
void sim_mbarrier_arrive(Warp *w, const Instr *i, uint32_t mask)
{
    const uint32_t *arrivals = OPERAND(uint32_t, b), *bytes = OPERAND(uint32_t, c);
    Mbarrier *barriers[LANES];
    find_valid_mbarriers(w, i, i->addresses, mask, barriers);
    w->block->counters.block_barriers += sim_settings()->counts_atomic_loads && mask && arrivals[__builtin_ctz(mask)]; // it can replace a block barrier
    for (uint32_t rest = is_block_checked(w->block) ? mask : 0, same; rest; rest &= ~same) {
        same = lanes_at_first_mbarrier(rest, barriers);
        if (arrivals[__builtin_ctz(rest)]) // releases the lanes' earlier accesses
            sim_observer.arrive(w, same, (uint64_t)(uintptr_t)barriers[__builtin_ctz(rest)]);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Mbarrier before = *barriers[l];
        if (i->flags & DROPS_ARRIVALS)
            barriers[l]->expected -= arrivals[l] < barriers[l]->expected ? arrivals[l] : barriers[l]->expected;
        apply_arrivals(w, i, l, barriers[l], arrivals[l], bytes[l]);
        if (i->d != NO_OFFSET)
            OPERAND(Mbarrier, d)[l] = before;
    }
}

// cp.async.mbarrier.arrive: completes the lanes' copies now, then arrives b times.
void sim_arrive_after_copies(Warp *w, const Instr *i, uint32_t mask)
{
    Mbarrier *barriers[LANES];
    sim_await_all_copies(w, i, mask);
    if (is_block_checked(w->block)) {
        find_valid_mbarriers(w, i, i->addresses, mask, barriers);
        FOR_EACH_LANE(sim_observer.arrive_after_copy(w, l, (uint64_t)(uintptr_t)barriers[l]))
    }
    sim_mbarrier_arrive(w, i, mask);
}

// test_wait and try_wait: true if a phase has completed. b is its parity, or the state that an arrival returned, whose bit 0 is
// the parity.
void sim_mbarrier_test(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d), done = 0;
    Mbarrier *barriers[LANES];
    find_valid_mbarriers(w, i, i->addresses, mask, barriers);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint8_t parity = *(w->registers + i->b + (size_t)l * i->bytes) & 1;
        done |= (uint32_t)(barriers[l]->phase != parity) << l;
    }
    for (uint32_t rest = is_block_checked(w->block) ? done : 0, same; rest; rest &= ~same) {
        same = lanes_at_first_mbarrier(rest, barriers);
        sim_observer.acquire(w, same, (uint64_t)(uintptr_t)barriers[__builtin_ctz(rest)]);
    }
    *d = (*d & ~mask) | done;
    w->must_yield = done != mask;
    w->mbarrier_wait.expected = 0;
    if (w->must_yield) {
        const Mbarrier *b = barriers[__builtin_ctz(mask & ~done)];
        w->mbarrier_wait.missing = b->pending;
        w->mbarrier_wait.expected = b->expected;
        w->mbarrier_wait.bytes = b->bytes;
    }
}

// Copies in units of 8 bytes, with relaxed atomics (lanes.h).
static void copy_units(uint8_t *to, const uint8_t *from, size_t bytes)
{
    for (size_t k = 0; k < bytes; k += 8)
        __atomic_store_n((uint64_t *)(to + k), __atomic_load_n((const uint64_t *)(from + k), __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

void sim_discard_sources(Warp *w)
{
    memset(w->bulk_groups, 0, sizeof w->bulk_groups);
    while (w->sources) {
        struct BulkSource *source = w->sources;
        w->sources = source->next;
        source->next = w->block->free_sources;
        w->block->free_sources = source;
    }
}

static void add_source(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes)
{
    Block *b = w->block;
    struct BulkSource *source = b->free_sources;
    if (source)
        b->free_sources = source->next;
    else
        source = sim_allocate(&b->arena, sizeof *source);
    *source = (struct BulkSource){w->sources, i, lane, w->bulk_groups[lane], address, bytes};
    w->sources = source;
}

void sim_commit_bulk(Warp *w, const Instr *i, uint32_t mask)
{
    (void)i;
    FOR_EACH_LANE(w->bulk_groups[l]++)
}

// Reports that a source has been read, and that later copies of the lane still read overlapping bytes.
static void end_source(Warp *w, const Instr *i, const struct BulkSource *source)
{
    sim_access_lane(w, i, source->lane, SHARED, source->address, source->bytes, 1, ACCESS_READ);
    for (const struct BulkSource *s = w->sources; s; s = s->next)
        if (s->lane == source->lane && s->group > source->group && s->address < source->address + source->bytes &&
            source->address < s->address + s->bytes)
            sim_access_lane(w, s->copy, s->lane, SHARED, s->address, s->bytes, 1, ACCESS_ASYNC_READ);
}

// Waits for the reads of the lanes' sources, except those of the last i->groups groups and uncommitted ones.
void sim_await_bulk(Warp *w, const Instr *i, uint32_t mask)
{
    for (struct BulkSource **link = &w->sources; *link;) {
        struct BulkSource *source = *link;
        if (!(mask >> source->lane & 1) || source->group + i->groups >= w->bulk_groups[source->lane]) {
            link = &source->next;
            continue;
        }
        *link = source->next;
        end_source(w, i, source);
        source->next = w->block->free_sources;
        w->block->free_sources = source;
    }
}

// st.async [addresses 0], c, [addresses 1]: stores at once, and completes the bytes at the mbarrier (addresses 1).
void sim_store_async(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t *to = operand_pointer(w, i, &i->addresses[0], l, i->bytes, i->bytes, ACCESS_ASYNC_WRITE);
        sim_write_bytes(to, sim_read_bytes(w->registers + i->c + (size_t)l * i->bytes, i->bytes), i->bytes);
        Mbarrier *b = find_valid_mbarrier(w, i, &i->addresses[1], l);
        if (is_block_checked(w->block))
            sim_observer.arrive_after_copy(w, l, (uint64_t)(uintptr_t)b);
        apply_arrivals(w, i, l, b, 0, -(int64_t)i->bytes);
    }
}

// cp.async.bulk [addresses 0], [addresses 1], c bytes. A copy to shared memory completes on the mbarrier (addresses 2).
void sim_copy_bulk(Warp *w, const Instr *i, uint32_t mask)
{
    enum { UNIT_BYTES = 16 };
    const uint32_t *bytes = OPERAND(uint32_t, c);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (bytes[l] % UNIT_BYTES)
            sim_fault(w, i, l, cudaErrorMisalignedAddress, "a size of %u bytes, which is not a multiple of %d", bytes[l], UNIT_BYTES);
        uint8_t *to = operand_pointer(w, i, &i->addresses[0], l, bytes[l], UNIT_BYTES, ACCESS_ASYNC_WRITE);
        copy_units(to, operand_pointer(w, i, &i->addresses[1], l, bytes[l], UNIT_BYTES, ACCESS_ASYNC_READ), bytes[l]);
        const bool to_global = i->addresses[0].space != SHARED;
        sim_count_bulk_copy(w, sim_operand_address(w, &i->addresses[to_global ? 0 : 1], l), bytes[l], to_global);
        if (is_block_checked(w->block))
            sim_observer.begin_bulk_copy(w, i, l, sim_operand_address(w, &i->addresses[to_global ? 1 : 2], l),
                                    to_global ? bytes[l] : sizeof(Mbarrier), to_global);
        if (to_global && is_block_checked(w->block))
            add_source(w, i, l, sim_operand_address(w, &i->addresses[1], l), bytes[l]);
        if (to_global)
            continue;
        Mbarrier *b = find_valid_mbarrier(w, i, &i->addresses[2], l);
        if (is_block_checked(w->block))
            sim_observer.arrive_after_copy(w, l, (uint64_t)(uintptr_t)b);
        apply_arrivals(w, i, l, b, 0, -(int64_t)bytes[l]);
    }
}
