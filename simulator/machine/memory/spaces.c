// spaces.c: address spaces, and the one function through which kernels access memory.
//
// Global addresses are those of the program, checked against the list of allocations. Shared and local memory have addresses
// from 0; their generic addresses are in two windows that contain no host pointer.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

#include <string.h>

// True if kernels of the device may access the allocation.
static bool is_open(const Allocation *a, int device)
{
    return a->open_to >> device & 1;
}

static _Noreturn void misplaced(Warp *w, const Instr *i, const Access *access, int lane)
{
    const uint64_t address = access->address[lane];
    if (address % access->alignment)
        sim_fault(w, i, lane, cudaErrorMisalignedAddress, "address 0x%llx is not a multiple of %zu\naccess fewer bytes at once, or align the address",
                  (unsigned long long)address, access->alignment);
    if (access->space == SHARED)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx of shared memory, of which the block has %zu bytes\n"
                  "check the index, and the bytes of dynamic shared memory at the launch", access->bytes,
                  (unsigned long long)address, w->block->launch->shared_bytes);
    if (access->space == LOCAL)
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx of local memory, past the %llu bytes of the thread's variables\ncheck the index before the access", access->bytes,
                  (unsigned long long)address, (unsigned long long)w->path->frame->local_end);
    const Allocation *at = sim_allocation_at(address);
    const int device = w->block->launch->device;
    if (at && at->kind != PARAMETER_MEMORY && address - at->address < at->bytes && !is_open(at, device))
        sim_fault(w, i, lane, cudaErrorIllegalAddress,
                  "%zu bytes at 0x%llx, in memory of device %d, to which the kernel's device %d has no access\n"
                  "call cudaDeviceEnablePeerAccess()",
                  access->bytes, (unsigned long long)address, at->device, device);
    char what[800] = "an unallocated address";
    if (sim_observer.describe_address)
        w->block->fault.kind = sim_observer.describe_address(w->block->launch, i, address, what, sizeof what);
    sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu byte%s at 0x%llx, %s", access->bytes,
              access->bytes == 1 ? "" : "s", (unsigned long long)address, what);
}

static bool reads_memory(AccessKind kind)
{
    return kind != ACCESS_WRITE && kind != ACCESS_ASYNC_WRITE;
}

static bool writes_memory(AccessKind kind)
{
    return kind != ACCESS_READ && kind != ACCESS_ASYNC_READ;
}

// Writes wait until all earlier blocks have ended; a speculative block records what it reads.
static void note_use(Warp *w, AccessKind kind)
{
    Block *b = w->block;
    if (writes_memory(kind)) {
        sim_await_turn(b);
        if (w->near->writer != b->place + 1) // avoids a write to a cache line that other workers read
            w->near->writer = b->place + 1;
        return;
    }
    if (!b->ahead || sim_only_reads(b->launch, w->near))
        return;
    int k = 0;
    while (k < b->read_count && b->read[k] != w->near)
        k++;
    if (k == MAX_READ)
        sim_await_turn(b);
    else if (k == b->read_count)
        b->read[b->read_count++] = w->near;
}

// Finds the lanes with the address of the previous lane, and those that continue its bytes.
static void find_neighbours(Access *access)
{
    const uint64_t *address = access->address;
    uint32_t alike = 0, beside = 0;
    if ((access->mask & (access->mask - 1)) == 0) // a single lane has no neighbour
        return;
    for (int l = 1; l < LANES; l++) {
        alike |= (uint32_t)(address[l] == address[l - 1]) << l;
        beside |= (uint32_t)(address[l] - address[l - 1] == access->bytes) << l;
    }
    uint64_t different = 0;
    for (int l = 0; l < LANES / 2; l++)
        different |= address[l] ^ address[l + LANES / 2];
    access->alike = alike;
    access->beside = beside;
    access->twice = different == 0;
}

// Finds the lowest and highest address of the active lanes; returns the OR of all their addresses.
static uint64_t find_reach(Access *access)
{
    const uint64_t *address = access->address;
    const uint32_t mask = access->mask;
    uint64_t least = UINT64_MAX, most = 0, bits = 0;
    FOR_EACH_LANE(const uint64_t a = address[l]; least = a < least ? a : least; most = a > most ? a : most; bits |= a)
    access->least = least;
    access->most = most;
    return bits;
}

// ---- Address patterns: address_pattern.h

// True if the addresses have the cached distances, and none wraps around.
static inline bool has_layout(const AddressPattern *s, const Instr *i, const Access *access)
{
    const uint64_t first = access->address[0];
    return s->of == i && s->bytes == access->bytes && first >= s->below && first + s->above >= first &&
           sim_matches_pattern(s, access->address);
}

static Pattern pattern_of_quarter(const uint64_t *apart, size_t bytes)
{
    uint64_t beside = 0, alike = 0;
    for (int l = 0; l < IN_QUARTER; l++) {
        beside |= apart[l] - apart[0] - (uint64_t)l * bytes;
        alike |= apart[l] - apart[0];
    }
    return beside == 0 ? CONSECUTIVE : alike == 0 ? ALL_SAME : SCATTERED;
}

static void find_layout(AddressPattern *s, const Instr *i, Access *access)
{
    const uint64_t *address = access->address, first = address[0];
    uint64_t apart = 0, different = 0; // spread: distances from consecutive addresses; different: from the first address
    s->of = i;
    s->bytes = access->bytes;
    for (int l = 0; l < LANES; l++) {
        s->apart[l] = address[l] - first;
        apart |= s->apart[l] - (uint64_t)l * access->bytes;
        different |= s->apart[l];
    }
    s->bits = different;
    find_reach(access);
    s->below = first - access->least;
    s->above = access->most - first;
    if (apart == 0 && access->least == first && (access->bytes & (access->alignment - 1)) == 0)
        access->pattern = CONSECUTIVE;
    else if (different == 0)
        access->pattern = ALL_SAME;
    else
        find_neighbours(access);
    s->pattern = access->pattern;
    s->alike = access->alike;
    s->beside = access->beside;
    s->twice = access->twice;
    s->following = sim_following_lanes(access, ALL_LANES);
    s->begins = sim_first_lanes(access, ALL_LANES, s->following);
    for (int q = 0; q < QUARTERS; q++)
        s->quarters[q] = pattern_of_quarter(s->apart + q * IN_QUARTER, access->bytes);
    memset(s->sectors, UNKNOWN_COST, sizeof s->sectors);
    memset(s->conflicts, UNKNOWN_COST, sizeof s->conflicts);
    s->fast_path.of = NULL;
}

// Finds the access's pattern; returns bits that show misaligned addresses. neighbours: also find segments of partial warps.
// A single lane is handled first, for programs with one thread.
static inline uint64_t survey(const Warp *w, const Instr *i, Access *access, bool neighbours)
{
    access->pattern = SCATTERED;
    access->alike = access->beside = access->twice = 0;
    access->layout = NULL;
    if (__builtin_popcount(access->mask) == 1)
        return access->least = access->most = access->address[__builtin_ctz(access->mask)];
    if (access->mask != ALL_LANES) {
        if (neighbours)
            find_neighbours(access);
        return find_reach(access);
    }
    AddressPattern *s = sim_pattern_slot(w->block, i);
    if (!has_layout(s, i, access))
        find_layout(s, i, access);
    const uint64_t first = access->address[0];
    access->layout = s;
    access->pattern = s->pattern;
    access->alike = s->alike;
    access->beside = s->beside;
    access->twice = s->twice;
    access->least = first - s->below;
    access->most = first + s->above;
    return first | s->bits;
}

// True if the allocation contains the bytes from `lowest` to `highest` + access->bytes, mapped and accessible.
static inline bool holds(const Allocation *a, const Warp *w, const Access *access, uint64_t least, uint64_t most)
{
    const size_t bytes = access->bytes;
    if (!a || least < a->address || bytes > a->bytes || most - a->address > a->bytes - bytes)
        return false;
    return !a->granules || sim_first_closed(a, w->block->launch->device, least, most - least + bytes,
                                            writes_memory(access->kind)) == most + bytes;
}

// Sets the pointers of the active lanes; address 0 of lane l is at `origin` + l * lane_bytes.
static void set_pointers(Access *access, uint64_t origin, size_t lane_bytes)
{
    const uint32_t mask = access->mask;
    FOR_EACH_LANE(access->pointer[l] = (uint8_t *)(uintptr_t)(origin + access->address[l] + (uint64_t)l * lane_bytes))
}

// Shared memory of the cluster: an address may hold a block's rank.
static void find_shared(Warp *w, const Instr *i, Access *access)
{
    const size_t size = w->block->launch->shared_bytes;
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t address = access->address[l];
        const bool names_block = sim_names_block(address);
        if (address % access->alignment || (!names_block && (access->bytes > size || address > size - access->bytes)))
            misplaced(w, i, access, l);
        access->pointer[l] =
            names_block ? sim_find_in_cluster(w, i, l, address, access->bytes) : w->block->shared + address;
        if (w->block->clocks)
            sim_observer.access(w, i, access, 1u << l, names_block ? sim_block_named(w, address) : w->block, NULL);
    }
}

// Shared or local memory; `size` bytes in each space.
static void find_in_block(Warp *w, const Instr *i, Access *access, size_t size, uint8_t *memory, size_t lane_bytes)
{
    const uint64_t bits = survey(w, i, access, w->block->clocks && access->space == SHARED);
    if (access->space == SHARED && sim_names_block(access->most)) {
        find_shared(w, i, access);
        return;
    }
    if ((bits & (access->alignment - 1)) || access->bytes > size || access->most > size - access->bytes)
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            if (access->address[l] % access->alignment || access->bytes > size ||
                access->address[l] > size - access->bytes)
                misplaced(w, i, access, l);
        }
    if (lane_bytes) { // local addresses of different lanes are different bytes, whatever their pattern
        access->pattern = SCATTERED;
        access->alike = access->beside = access->twice = 0;
        access->layout = NULL;
    }
    set_pointers(access, (uint64_t)(uintptr_t)memory, lane_bytes);
    if (w->block->clocks && access->space == LOCAL)
        sim_observer.access_local(w, access);
    if (w->block->clocks && access->space == SHARED)
        sim_observer.access(w, i, access, access->mask, w->block, NULL);
}

static Allocation *open_allocation_at(const Warp *w, uint64_t address)
{
    Allocation *a = sim_allocation_at(address);
    return a && is_open(a, w->block->launch->device) ? a : NULL;
}

// Records the use of the warp's last allocation, for speculative blocks, other launches and the observer.
static inline void note_uses(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const Launch *launch = w->block->launch;
    if (writes_memory(access->kind) && sim_only_reads(launch, w->near)) // out of bounds of the allocation that the pointer
                                                                        // came from
        __atomic_store_n(&w->near->changes_in, launch->number, __ATOMIC_RELAXED);
    if (reads_memory(access->kind) && __atomic_load_n(&w->near->read_in, __ATOMIC_RELAXED) != launch->number)
        __atomic_store_n(&w->near->read_in, launch->number, __ATOMIC_RELAXED);
    if (launch->order == ORDERED_EFFECTS)
        note_use(w, access->kind);
    if (w->near->uses && launch->noted)
        sim_observer.share(w, i, access, mask);
    if (launch->watched)
        sim_observer.use_in_family(w, i, access, mask);
}

static void find_in_device_memory(Warp *w, const Instr *i, Access *access)
{
    const uint64_t bits = survey(w, i, access, true);
    if ((bits & (access->alignment - 1)) == 0) {
        if (!holds(w->near, w, access, access->least, access->most))
            w->near = open_allocation_at(w, access->least);
        if (holds(w->near, w, access, access->least, access->most)) { // the common case
            note_uses(w, i, access, access->mask);
            set_pointers(access, (uint64_t)(uintptr_t)w->near->memory - w->near->address, 0);
            if (w->block->clocks)
                sim_observer.access(w, i, access, access->mask, NULL, w->near);
            return;
        }
    }
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const uint64_t address = access->address[l];
        w->near = open_allocation_at(w, address);
        if (address % access->alignment || !holds(w->near, w, access, address, address)) {
            w->near = NULL;
            misplaced(w, i, access, l);
        }
        note_uses(w, i, access, 1u << l);
        access->pointer[l] = w->near->memory + (address - w->near->address);
        if (w->block->clocks)
            sim_observer.access(w, i, access, 1u << l, NULL, w->near);
    }
}

void sim_access(Warp *w, const Instr *i, Access *access)
{
    const Launch *launch = w->block->launch;
    access->has_unwritten = false;
    if (access->space == SHARED)
        find_in_block(w, i, access, launch->shared_bytes, w->block->shared, 0);
    else if (access->space == LOCAL)
        find_in_block(w, i, access, w->path->frame->local_end,
                      w->block->local + (size_t)(w->number * LANES) * launch->local_bytes, launch->local_bytes);
    else
        find_in_device_memory(w, i, access);
}

uint8_t *sim_access_lane(Warp *w, const Instr *i, int lane, Space space, uint64_t address, size_t bytes,
                         size_t alignment, AccessKind kind)
{
    Access access = {.kind = kind, .space = space, .mask = 1u << lane, .bytes = bytes, .alignment = alignment};
    if (space == GENERIC) {
        access.space = sim_space_at(address);
        address = sim_use_generic(w, i, lane, address);
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

// Generic addresses of shared and local memory identify their owner in the bits from OWNER_BIT on; 0: unknown.
enum { OWNER_BIT = 40, THREAD_BITS = 11, OWNER_BITS = SHARED_WINDOW_BIT - OWNER_BIT };

uint64_t sim_owner_of(const Warp *w, int lane, Space space)
{
    const uint64_t block = w->block->number, thread = (uint64_t)(w->number * LANES + lane);
    if (!w->block->clocks || (space != SHARED && space != LOCAL))
        return 0;
    if (space == SHARED)
        return (1 + block % ((1u << OWNER_BITS) - 1)) << OWNER_BIT;
    return (block % (1u << (OWNER_BITS - THREAD_BITS)) << THREAD_BITS | (1 + thread)) << OWNER_BIT;
}

uint64_t sim_offset_of_generic(uint64_t address)
{
    if (sim_space_at(address) == GLOBAL)
        return address;
    const int above = 64 - OWNER_BIT; // sign-extends: pointer arithmetic may lead to an offset below 0
    return (uint64_t)((int64_t)(address << above) >> above);
}

static void find_strange_owner(Warp *w, const Instr *i, int lane, Space space, uint64_t owner)
{
    sim_observer.use_strange(w, i, lane, space, (space == SHARED ? owner : owner & ((1u << THREAD_BITS) - 1)) - 1);
}

// True if the owner is a block of the cluster.
static bool is_of_cluster(const Warp *w, uint64_t owner)
{
    for (uint32_t k = 0; k < w->block->launch->cluster_blocks; k++)
        if (sim_owner_of(&w->block->cluster[k]->warps[0], 0, SHARED) == owner)
            return true;
    return false;
}

uint64_t sim_use_generic(Warp *w, const Instr *i, int lane, uint64_t address)
{
    const Space space = sim_space_at(address);
    const uint64_t offset = sim_offset_of_generic(address);
    const uint64_t owner = (address - sim_window(space) - offset) & (((1ull << OWNER_BITS) - 1) << OWNER_BIT);
    const bool known = (space == SHARED || space == LOCAL) && owner && w->block->clocks;
    if (known && owner != sim_owner_of(w, lane, space) && !(space == SHARED && is_of_cluster(w, owner)))
        find_strange_owner(w, i, lane, space, owner >> OWNER_BIT);
    return offset;
}

void sim_split_generic(Warp *w, const Instr *i, uint64_t *address, uint32_t mask, uint32_t in[SPACES])
{
    uint64_t bits = 0;
    memset(in, 0, SPACES * sizeof *in);
    FOR_EACH_LANE(bits |= address[l])
    if (bits >> SHARED_WINDOW_BIT == 0) { // fast path: all lanes in global memory
        in[GLOBAL] = mask;
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Space space = sim_space_at(address[l]);
        address[l] = sim_use_generic(w, i, l, address[l]);
        in[space] |= 1u << l;
    }
}

uint64_t sim_operand_address(const Warp *w, const Address *operand, int lane)
{
    if (operand->base == NOWHERE)
        return (uint64_t)operand->offset;
    const uint8_t *base = w->lanes + operand->base;
    if (operand->base_bytes == 8)
        return ((const uint64_t *)base)[lane] + (uint64_t)operand->offset;
    return (uint32_t)(((const uint32_t *)base)[lane] + (uint32_t)operand->offset);
}

void sim_find_addresses(const Warp *w, const Instr *i, uint64_t *address)
{
    if (i->at.base == NOWHERE) {
        for (int l = 0; l < LANES; l++)
            address[l] = (uint64_t)i->at.offset;
    } else if (i->at.base_bytes == 8) {
        const uint64_t *base = (const uint64_t *)(w->lanes + i->at.base);
        for (int l = 0; l < LANES; l++)
            address[l] = base[l] + (uint64_t)i->at.offset;
    } else {
        const uint32_t *base = (const uint32_t *)(w->lanes + i->at.base);
        for (int l = 0; l < LANES; l++)
            address[l] = (uint32_t)(base[l] + (uint32_t)i->at.offset);
    }
}

void sim_is_space(Warp *w, const Instr *i, uint32_t mask)
{
    const uint64_t *address = OPERAND(uint64_t, a);
    uint32_t *d = OPERAND(uint32_t, d), result = 0;
    const bool own = i->at.space == SHARED && !(i->flags & WITHIN_CLUSTER); // of the block itself
    for (int l = 0; l < LANES; l++)
        result |= (uint32_t)(sim_space_at(address[l]) == (Space)i->at.space && 
                             !(own && sim_names_block(sim_offset_of_generic(address[l])))) << l;
    *d = (*d & ~mask) | (result & mask);
}
