// spaces.c: address spaces, and sim_access, which checks and translates every memory access of kernels.
//
// Global addresses are the program's device pointers, checked against the list of allocations. Addresses in shared and local
// memory start at 0; their generic addresses are in two windows that contain no host pointer.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

#include <string.h>

// True if kernels of the device may access the allocation.
static bool is_accessible(const Allocation *a, int device)
{
    return a->accessible_by >> device & 1;
}

static _Noreturn void report_invalid_access(Warp *w, const Instr *i, const Access *access, int lane)
{
    const uint64_t address = access->address[lane];
    if (address % access->alignment)
        sim_fault(w, i, lane, cudaErrorMisalignedAddress, "address 0x%llx is not a multiple of %zu\naccess fewer bytes at once, or align the address",
                  (unsigned long long)address, access->alignment);
    char what[800] = "an unallocated address";
    if (access->space == SHARED && w->block->launch->vector_clocks &&
        sim_observer.describe_shared_address(w->block->launch, i, address, what, sizeof what))
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%s", what);
    if (access->space == SHARED)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx of shared memory, of which the block has %zu bytes\n"
                  "check the index%s", access->bytes, (unsigned long long)address, w->block->launch->shared_bytes,
                  w->block->launch->dynamic_shared_bytes || !w->block->launch->shared_bytes ? ", and the bytes of dynamic shared memory at the launch"
                                                                                          : " before the access");
    if (access->space == LOCAL)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx of local memory, past the %llu bytes of the thread's variables\ncheck the index before the access", access->bytes,
                  (unsigned long long)address, (unsigned long long)w->current_split->frame->local_end);
    const Allocation *at = sim_allocation_at(address);
    const int device = w->block->launch->device;
    if (at && at->kind != PARAMETER_MEMORY && address - at->address < at->bytes && !is_accessible(at, device))
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx, in memory of device %d, to which the kernel's device %d has no access\n"
                  "call cudaDeviceEnablePeerAccess()",
                  access->bytes, (unsigned long long)address, at->device, device);
    if (sim_observer.describe_address)
        w->block->fault.kind = sim_observer.describe_address(w->block->launch, i, address, what, sizeof what);
    sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu byte%s at 0x%llx, %s", access->bytes,
              access->bytes == 1 ? "" : "s", (unsigned long long)address, what);
}

// Lets writes wait until all earlier blocks have ended, and records what a speculative block reads.
static void order_block(Warp *w, AccessKind kind)
{
    Block *b = w->block;
    if (writes_memory(kind)) {
        sim_wait_for_earlier_blocks(b);
        if (w->last_allocation->last_writer != b->start_index + 1) // avoids invalidating a cache line that other workers read
            w->last_allocation->last_writer = b->start_index + 1;
        return;
    }
    if (!b->speculative || sim_only_reads(b->launch, w->last_allocation))
        return;
    int k = 0;
    while (k < b->read_count && b->read_allocations[k] != w->last_allocation)
        k++;
    if (k == MAX_READ_ALLOCATIONS)
        sim_wait_for_earlier_blocks(b);
    else if (k == b->read_count)
        b->read_allocations[b->read_count++] = w->last_allocation;
}

// Finds the lanes whose address equals that of the previous lane, or is adjacent to it.
static void find_neighbours(Access *access)
{
    const uint64_t *address = access->address;
    uint32_t same_address = 0, adjacent = 0;
    if ((access->mask & (access->mask - 1)) == 0) // a single lane
        return;
    for (int l = 1; l < LANES; l++) {
        same_address |= (uint32_t)(address[l] == address[l - 1]) << l;
        adjacent |= (uint32_t)(address[l] - address[l - 1] == access->bytes) << l;
    }
    uint64_t different = 0;
    for (int l = 0; l < LANES / 2; l++)
        different |= address[l] ^ address[l + LANES / 2];
    access->same_address = same_address;
    access->adjacent = adjacent;
    access->repeated_half = different == 0;
}

// Finds the lowest and highest address of the active lanes; returns the OR of all their addresses.
static uint64_t find_address_range(Access *access)
{
    const uint64_t *address = access->address;
    const uint32_t mask = access->mask;
    uint64_t lowest = UINT64_MAX, highest = 0, bits = 0;
    FOR_EACH_LANE(const uint64_t a = address[l]; lowest = a < lowest ? a : lowest; highest = a > highest ? a : highest; bits |= a)
    access->lowest = lowest;
    access->highest = highest;
    return bits;
}

// ---- Address patterns: address_pattern.h

// True if the addresses have the cached distances, and none wraps around.
static inline bool matches_cached_pattern(const AddressPattern *s, const Instr *i, const Access *access)
{
    const uint64_t first = access->address[0];
    return s->instr == i && s->bytes == access->bytes && first >= s->below && first + s->above >= first &&
           sim_matches_pattern(s, access->address);
}

static Pattern pattern_of_quarter(const uint64_t *distance, size_t bytes)
{
    uint64_t adjacent = 0, same_address = 0;
    for (int l = 0; l < QUARTER_LANES; l++) {
        adjacent |= distance[l] - distance[0] - (uint64_t)l * bytes;
        same_address |= distance[l] - distance[0];
    }
    return adjacent == 0 ? CONSECUTIVE : same_address == 0 ? ALL_SAME : SCATTERED;
}

static void compute_pattern(AddressPattern *s, const Instr *i, Access *access)
{
    const uint64_t *address = access->address, first = address[0];
    uint64_t not_consecutive = 0, not_equal = 0; // ORs of the distances from consecutive addresses, and from the first address
    s->instr = i;
    s->bytes = access->bytes;
    for (int l = 0; l < LANES; l++) {
        s->distance[l] = address[l] - first;
        not_consecutive |= s->distance[l] - (uint64_t)l * access->bytes;
        not_equal |= s->distance[l];
    }
    s->distance_bits = not_equal;
    find_address_range(access);
    s->below = first - access->lowest;
    s->above = access->highest - first;
    if (not_consecutive == 0 && access->lowest == first && (access->bytes & (access->alignment - 1)) == 0)
        access->pattern = CONSECUTIVE;
    else if (not_equal == 0)
        access->pattern = ALL_SAME;
    else
        find_neighbours(access);
    s->kind = access->pattern;
    s->same_address = access->same_address;
    s->adjacent = access->adjacent;
    s->repeated_half = access->repeated_half;
    s->continuing = sim_continuing_lanes(access, ALL_LANES);
    s->starts = sim_segment_starts(access, ALL_LANES, s->continuing);
    for (int q = 0; q < QUARTERS; q++)
        s->quarters[q] = pattern_of_quarter(s->distance + q * QUARTER_LANES, access->bytes);
    memset(s->sectors, UNKNOWN_COST, sizeof s->sectors);
    memset(s->conflicts, UNKNOWN_COST, sizeof s->conflicts);
    s->fast_path.allocation = NULL;
}

// Finds the access's pattern; returns an OR of the addresses, whose low bits show misalignment. needs_segments: also finds the
// segments of partial warps. A single lane takes a fast path, for programs with one thread.
static inline uint64_t find_pattern(const Warp *w, const Instr *i, Access *access, bool needs_segments)
{
    access->pattern = SCATTERED;
    access->same_address = access->adjacent = access->repeated_half = 0;
    access->address_pattern = NULL;
    if (__builtin_popcount(access->mask) == 1)
        return access->lowest = access->highest = access->address[__builtin_ctz(access->mask)];
    if (access->mask != ALL_LANES) {
        if (needs_segments)
            find_neighbours(access);
        return find_address_range(access);
    }
    AddressPattern *s = sim_pattern_slot(w->block, i);
    if (!matches_cached_pattern(s, i, access))
        compute_pattern(s, i, access);
    const uint64_t first = access->address[0];
    access->address_pattern = s;
    access->pattern = s->kind;
    access->same_address = s->same_address;
    access->adjacent = s->adjacent;
    access->repeated_half = s->repeated_half;
    access->lowest = first - s->below;
    access->highest = first + s->above;
    return first | s->distance_bits;
}

// True if the allocation contains the bytes from `lowest` to `highest` + access->bytes, mapped and accessible.
static inline bool contains_access(const Allocation *a, const Warp *w, const Access *access, uint64_t lowest, uint64_t highest)
{
    const size_t bytes = access->bytes;
    if (!a || lowest < a->address || bytes > a->bytes || highest - a->address > a->bytes - bytes)
        return false;
    return !a->granules || sim_first_inaccessible(a, w->block->launch->device, lowest, highest - lowest + bytes,
                                            writes_memory(access->kind)) == highest + bytes;
}

// Sets the pointers of the active lanes; address 0 of lane l is at `origin` + l * lane_bytes.
static void set_pointers(Access *access, uint64_t origin, size_t lane_bytes)
{
    const uint32_t mask = access->mask;
    FOR_EACH_LANE(access->pointer[l] = (uint8_t *)(uintptr_t)(origin + access->address[l] + (uint64_t)l * lane_bytes))
}

// A host pointer to a lane's bytes at a shared-memory address with a rank. Ends the launch if the address is invalid or the
// block has ended.
static uint8_t *cluster_pointer(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes)
{
    const Block *b = w->block;
    const uint64_t rank = (address >> RANK_BIT) - 1, offset = address & ((1u << RANK_BIT) - 1);
    const size_t size = b->launch->shared_bytes;
    char what[500];
    if (rank >= b->launch->cluster_blocks && b->launch->cluster_blocks <= 1 && b->launch->vector_clocks &&
        sim_observer.describe_shared_address(b->launch, i, address, what, sizeof what)) // a negative index looks like a rank
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%s", what);
    if (rank >= b->launch->cluster_blocks)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx of shared memory, which "
                  "belongs to no block of the cluster",
                  bytes, (unsigned long long)address);
    if (!(i->flags & WITHIN_CLUSTER))
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "address 0x%llx is in another block's shared memory, but this "
                  "instruction accesses only its own block's",
                  (unsigned long long)address);
    if (bytes > size || offset > size - bytes)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx of the shared memory of block "
                  "%llu of the cluster, which has %zu bytes",
                  bytes, (unsigned long long)offset, (unsigned long long)rank, size);
    if (b->cluster[rank]->live_threads == 0)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "the shared memory of block %llu of the cluster, which has exited\ncall cluster.sync() in all blocks after the last access", (unsigned long long)rank);
    return b->cluster[rank]->shared + offset;
}

// The block with the rank in the address, which cluster_pointer must have accepted.
static Block *block_of_address(const Warp *w, uint64_t address)
{
    return w->block->cluster[(address >> RANK_BIT) - 1];
}

// Translates shared-memory addresses, which may contain the rank of a block of the cluster.
static void translate_cluster_shared(Warp *w, const Instr *i, Access *access)
{
    const size_t size = w->block->launch->shared_bytes;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t address = access->address[l];
        const bool has_rank = sim_has_block_rank(address);
        if (address % access->alignment || (!has_rank && (access->bytes > size || address > size - access->bytes)))
            report_invalid_access(w, i, access, l);
        access->pointer[l] =
            has_rank ? cluster_pointer(w, i, l, address, access->bytes) : w->block->shared + address;
        if (is_block_checked(w->block))
            sim_observer.access(w, i, access, 1u << l, has_rank ? block_of_address(w, address) : w->block, NULL);
    }
}

// Translates addresses in shared or local memory of `size` bytes. lane_bytes: distance between the lanes' local memories, or
// 0 for shared memory.
static void translate_in_block(Warp *w, const Instr *i, Access *access, size_t size, uint8_t *memory, size_t lane_bytes)
{
    const uint64_t bits = find_pattern(w, i, access, is_block_checked(w->block) && access->space == SHARED);
    if (access->space == SHARED && sim_has_block_rank(access->highest)) {
        translate_cluster_shared(w, i, access);
        return;
    }
    if ((bits & (access->alignment - 1)) || access->bytes > size || access->highest > size - access->bytes)
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            if (access->address[l] % access->alignment || access->bytes > size ||
                access->address[l] > size - access->bytes)
                report_invalid_access(w, i, access, l);
        }
    if (lane_bytes) { // equal local addresses of different lanes are different bytes
        access->pattern = SCATTERED;
        access->same_address = access->adjacent = access->repeated_half = 0;
        access->address_pattern = NULL;
    }
    set_pointers(access, (uint64_t)(uintptr_t)memory, lane_bytes);
    if (is_block_checked(w->block) && access->space == LOCAL)
        sim_observer.access_local(w, access);
    if (is_block_checked(w->block) && access->space == SHARED)
        sim_observer.access(w, i, access, access->mask, w->block, NULL);
}

static Allocation *accessible_allocation_at(const Warp *w, uint64_t address)
{
    Allocation *a = sim_allocation_at(address);
    return a && is_accessible(a, w->block->launch->device) ? a : NULL;
}

// Records the access to the warp's last allocation, for speculative blocks, later launches and the observer.
static inline void record_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const Launch *launch = w->block->launch;
    // Holds if pointer arithmetic has left an allocation, so that find_write_set missed this one.
    if (writes_memory(access->kind) && sim_only_reads(launch, w->last_allocation))
        __atomic_store_n(&w->last_allocation->last_writing_launch, launch->number, __ATOMIC_RELAXED);
    if (reads_memory(access->kind) && __atomic_load_n(&w->last_allocation->last_reading_launch, __ATOMIC_RELAXED) != launch->number)
        __atomic_store_n(&w->last_allocation->last_reading_launch, launch->number, __ATOMIC_RELAXED);
    if (launch->block_concurrency == ORDERED_EFFECTS)
        order_block(w, access->kind);
    if (w->last_allocation->records_uses && launch->records_host_shared_accesses)
        sim_observer.access_host_shared(w, i, access, mask);
}

static void translate_global(Warp *w, const Instr *i, Access *access)
{
    const uint64_t bits = find_pattern(w, i, access, true);
    if ((bits & (access->alignment - 1)) == 0) {
        if (!contains_access(w->last_allocation, w, access, access->lowest, access->highest))
            w->last_allocation = accessible_allocation_at(w, access->lowest);
        if (contains_access(w->last_allocation, w, access, access->lowest, access->highest)) { // the common case
            record_use(w, i, access, access->mask);
            set_pointers(access, (uint64_t)(uintptr_t)w->last_allocation->memory - w->last_allocation->address, 0);
            if (is_block_checked(w->block))
                sim_observer.access(w, i, access, access->mask, NULL, w->last_allocation);
            return;
        }
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t address = access->address[l];
        w->last_allocation = accessible_allocation_at(w, address);
        if (address % access->alignment || !contains_access(w->last_allocation, w, access, address, address)) {
            w->last_allocation = NULL;
            report_invalid_access(w, i, access, l);
        }
        record_use(w, i, access, 1u << l);
        access->pointer[l] = w->last_allocation->memory + (address - w->last_allocation->address);
        if (is_block_checked(w->block))
            sim_observer.access(w, i, access, 1u << l, NULL, w->last_allocation);
    }
}

// Ends the launch if ld.const or ld.param reads device memory, as on a GPU: .const has only variables, .param only arguments.
static void check_space(Warp *w, const Instr *i, const Access *access)
{
    const MemoryKind kind = access->space == CONST ? MODULE_MEMORY : PARAMETER_MEMORY;
    if (w->last_allocation->kind == kind && contains_access(w->last_allocation, w, access, access->lowest, access->highest))
        return;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        if (sim_allocation_at(access->address[l])->kind != kind)
            sim_fault(w, i, l, cudaErrorIllegalAddress, "address 0x%llx is not in %s\nread device memory by ld.global",
                      (unsigned long long)access->address[l], access->space == CONST ? "constant memory" : "the kernel's parameters");
    }
}

void sim_access(Warp *w, const Instr *i, Access *access)
{
    const Launch *launch = w->block->launch;
    access->has_unwritten = false;
    if (access->space == SHARED)
        translate_in_block(w, i, access, launch->shared_bytes, w->block->shared, 0);
    else if (access->space == LOCAL)
        translate_in_block(w, i, access, w->current_split->frame->local_end,
                      w->block->local + (size_t)(w->number * LANES) * launch->local_bytes, launch->local_bytes);
    else
        translate_global(w, i, access);
    if (access->space == CONST || access->space == PARAM)
        check_space(w, i, access);
}

uint8_t *sim_access_lane(Warp *w, const Instr *i, int lane, Space space, uint64_t address, size_t bytes,
                         size_t alignment, AccessKind kind)
{
    Access access = {.kind = kind, .space = space, .mask = 1u << lane, .bytes = bytes, .alignment = alignment};
    if (space == GENERIC) {
        access.space = sim_space_at(address);
        address = sim_resolve_generic(w, i, lane, address);
    }
    access.address[lane] = address;
    sim_access(w, i, &access);
    return access.pointer[lane];
}

// ---- Addresses

Space sim_space_at(uint64_t address)
{
    return address >> SHARED_WINDOW_BIT == 1 ? SHARED : address >> LOCAL_WINDOW_BIT == 1 ? LOCAL : GLOBAL;
}

uint64_t sim_window(Space space)
{
    return space == SHARED ? SHARED_WINDOW : space == LOCAL ? LOCAL_WINDOW : 0;
}

// Generic addresses of shared and local memory identify the owning block or thread in the bits from OWNER_BIT on; 0: unknown.
enum { OWNER_BIT = 40, THREAD_BITS = 11, OWNER_BITS = SHARED_WINDOW_BIT - OWNER_BIT };

uint64_t sim_owner_of(const Warp *w, int lane, Space space)
{
    const uint64_t block = w->block->number, thread = (uint64_t)(w->number * LANES + lane);
    if (!is_block_checked(w->block) || (space != SHARED && space != LOCAL))
        return 0;
    if (space == SHARED)
        return (1 + block % ((1u << OWNER_BITS) - 1)) << OWNER_BIT;
    return (block % (1u << (OWNER_BITS - THREAD_BITS)) << THREAD_BITS | (1 + thread)) << OWNER_BIT;
}

uint64_t sim_offset_of_generic(uint64_t address)
{
    if (sim_space_at(address) == GLOBAL)
        return address;
    const int shift = 64 - OWNER_BIT; // sign-extends, because pointer arithmetic may lead to a negative offset
    return (uint64_t)((int64_t)(address << shift) >> shift);
}

static void report_foreign_owner(Warp *w, const Instr *i, int lane, Space space, uint64_t owner)
{
    sim_observer.use_foreign_address(w, i, lane, space, (space == SHARED ? owner : owner & ((1u << THREAD_BITS) - 1)) - 1);
}

// True if the owner is a block of the cluster.
static bool is_block_of_cluster(const Warp *w, uint64_t owner)
{
    for (uint32_t k = 0; k < w->block->launch->cluster_blocks; k++)
        if (sim_owner_of(&w->block->cluster[k]->warps[0], 0, SHARED) == owner)
            return true;
    return false;
}

uint64_t sim_resolve_generic(Warp *w, const Instr *i, int lane, uint64_t address)
{
    const Space space = sim_space_at(address);
    const uint64_t offset = sim_offset_of_generic(address);
    const uint64_t owner = (address - sim_window(space) - offset) & (((1ull << OWNER_BITS) - 1) << OWNER_BIT);
    const bool known = (space == SHARED || space == LOCAL) && owner && is_block_checked(w->block);
    if (known && owner != sim_owner_of(w, lane, space) && !(space == SHARED && is_block_of_cluster(w, owner)))
        report_foreign_owner(w, i, lane, space, owner >> OWNER_BIT);
    return offset;
}

void sim_split_generic(Warp *w, const Instr *i, uint64_t *address, uint32_t mask, uint32_t masks[SPACES])
{
    uint64_t bits = 0;
    memset(masks, 0, SPACES * sizeof *masks);
    FOR_EACH_LANE(bits |= address[l])
    if (bits >> SHARED_WINDOW_BIT == 0) { // fast path: all lanes in global memory
        masks[GLOBAL] = mask;
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Space space = sim_space_at(address[l]);
        address[l] = sim_resolve_generic(w, i, l, address[l]);
        masks[space] |= 1u << l;
    }
}

uint64_t sim_operand_address(const Warp *w, const Address *operand, int lane)
{
    if (operand->base == NO_OFFSET)
        return (uint64_t)operand->offset;
    const uint8_t *base = w->registers + operand->base;
    if (operand->base_bytes == 8)
        return ((const uint64_t *)base)[lane] + (uint64_t)operand->offset;
    return (uint32_t)(((const uint32_t *)base)[lane] + (uint32_t)operand->offset);
}

void sim_find_addresses(const Warp *w, const Instr *i, uint64_t *address)
{
    if (i->at.base == NO_OFFSET) {
        for (int l = 0; l < LANES; l++)
            address[l] = (uint64_t)i->at.offset;
    } else if (i->at.base_bytes == 8) {
        const uint64_t *base = (const uint64_t *)(w->registers + i->at.base);
        for (int l = 0; l < LANES; l++)
            address[l] = base[l] + (uint64_t)i->at.offset;
    } else {
        const uint32_t *base = (const uint32_t *)(w->registers + i->at.base);
        for (int l = 0; l < LANES; l++)
            address[l] = (uint32_t)(base[l] + (uint32_t)i->at.offset);
    }
}

void sim_is_space(Warp *w, const Instr *i, uint32_t mask)
{
    const uint64_t *address = OPERAND(uint64_t, a);
    uint32_t *d = OPERAND(uint32_t, d), result = 0;
    const bool own_block_only = i->at.space == SHARED && !(i->flags & WITHIN_CLUSTER);
    for (int l = 0; l < LANES; l++)
        result |= (uint32_t)(sim_space_at(address[l]) == (Space)i->at.space &&
                             !(own_block_only && sim_has_block_rank(sim_offset_of_generic(address[l])))) << l;
    *d = (*d & ~mask) | (result & mask);
}
