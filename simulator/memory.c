// memory.c: the address spaces, and every access that a kernel makes.
//
// Device memory is the host's: an address of a kernel is a pointer of this process, checked against
// the list of allocations. Shared and local memory have addresses of their own, from 0 on; their
// generic addresses lie in two windows that no host pointer reaches.
#include "lanes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// ---- Allocations, in the order of their addresses

static Allocation **allocations;
static size_t allocation_count, allocation_space, allocated_bytes;

static size_t index_above(uint64_t address) // of the first allocation that begins above it
{
    size_t low = 0, high = allocation_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (allocations[middle]->address > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

Allocation *sim_allocation_at(uint64_t address)
{
    const size_t above = index_above(address);
    return above ? allocations[above - 1] : NULL;
}

void sim_forget_writers(void)
{
    for (size_t k = 0; k < allocation_count; k++)
        allocations[k]->writer = 0;
}

static void insert(uint64_t address, size_t bytes, MemoryKind kind)
{
    if (allocation_count == allocation_space) {
        allocation_space = allocation_space ? 2 * allocation_space : 64;
        allocations = realloc(allocations, allocation_space * sizeof *allocations);
    }
    Allocation *a = malloc(sizeof *a);
    if (!allocations || !a)
        abort();
    static int number;
    *a = (Allocation){.address = address, .bytes = bytes, .kind = kind};
    a->number = kind == PARAMETER_MEMORY ? -1 : number++;
    const size_t at = index_above(address);
    memmove(allocations + at + 1, allocations + at, (allocation_count - at) * sizeof *allocations);
    allocations[at] = a;
    allocation_count++;
}

static bool take_out(uint64_t address, size_t *bytes)
{
    const size_t above = index_above(address);
    if (above == 0 || allocations[above - 1]->address != address)
        return false;
    *bytes = allocations[above - 1]->bytes;
    free(allocations[above - 1]);
    memmove(allocations + above - 1, allocations + above, (allocation_count - above) * sizeof *allocations);
    allocation_count--;
    return true;
}

size_t sim_allocated_bytes(void)
{
    return allocated_bytes;
}

cudaError_t sim_new_allocation(size_t bytes, MemoryKind kind, void **pointer)
{
    enum { ALIGNMENT = 512 }; // as cudaMalloc gives it
    *pointer = NULL;
    if (bytes == 0)
        return cudaSuccess;
    if (bytes > sim_device()->memory_bytes - allocated_bytes)
        return cudaErrorMemoryAllocation;
    if (posix_memalign(pointer, ALIGNMENT, bytes) != 0)
        return cudaErrorMemoryAllocation;
    allocated_bytes += bytes;
    insert((uint64_t)(uintptr_t)*pointer, bytes, kind);
    return cudaSuccess;
}

cudaError_t sim_end_allocation(void *pointer, MemoryKind kind)
{
    size_t bytes;
    if (!pointer)
        return cudaSuccess;
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (!a || a->kind != kind || !take_out((uint64_t)(uintptr_t)pointer, &bytes))
        return cudaErrorInvalidValue;
    allocated_bytes -= bytes;
    free(pointer);
    return cudaSuccess;
}

void sim_end_all_allocations(void)
{
    for (size_t k = allocation_count; k-- > 0;) {
        void *pointer = (void *)(uintptr_t)allocations[k]->address;
        if (allocations[k]->kind == HOST_MEMORY)
            sim_unregister_memory(pointer);
        else if (allocations[k]->kind != MODULE_MEMORY)
            sim_end_allocation(pointer, allocations[k]->kind);
    }
}

void sim_register_memory(void *pointer, size_t bytes, MemoryKind kind)
{
    insert((uint64_t)(uintptr_t)pointer, bytes, kind);
}

void sim_unregister_memory(void *pointer)
{
    size_t bytes;
    take_out((uint64_t)(uintptr_t)pointer, &bytes);
}

// ---- From addresses to pointers

typedef struct Access { // of a warp, to one address space
    uint64_t address[LANES];
    uint8_t *pointer[LANES];
    bool consecutive; // all lanes on, each next to the one before
} Access;

static _Noreturn void misplaced(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, size_t alignment,
                                Space space)
{
    if (address % alignment)
        sim_fault(w, i, lane, cudaErrorMisalignedAddress, "address 0x%llx is no multiple of %zu",
                  (unsigned long long)address, alignment);
    if (space == SHARED)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx of shared memory, of which the block has %zu",
                  bytes, (unsigned long long)address, w->block->launch->shared_bytes);
    if (space == LOCAL)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx of local memory, of which the thread has %zu",
                  bytes, (unsigned long long)address, w->block->launch->local_bytes);
    size_t above = index_above(address);
    while (above > 0 && allocations[above - 1]->kind == PARAMETER_MEMORY)
        above--; // a kernel has no address of its own arguments: not what it went astray from
    if (above == 0)
        sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx, below all allocations", bytes,
                  (unsigned long long)address);
    const Allocation *near = allocations[above - 1];
    sim_fault(w, i, lane, cudaErrorIllegalAddress, "%zu bytes at 0x%llx: byte %llu behind the start of an allocation of %zu bytes",
              bytes, (unsigned long long)address, (unsigned long long)(address - near->address), near->bytes);
}

static inline bool holds(const Allocation *a, uint64_t address, size_t bytes)
{
    return a && address >= a->address && bytes <= a->bytes && address - a->address <= a->bytes - bytes;
}

// Whoever writes where others may read does so in its turn; who runs ahead notes what it reads.
static void note_use(Warp *w, const Instr *i)
{
    Block *b = w->block;
    const bool reads = i->run == sim_load || i->run == sim_copy_async ||
                       (i->run == sim_copy_bulk && i->addresses[0].space == SHARED);
    if (!reads) {
        sim_await_turn(b);
        w->near->writer = b->place + 1;
        return;
    }
    if (!b->ahead)
        return;
    int k = 0;
    while (k < b->read_count && b->read[k] != w->near)
        k++;
    if (k == MAX_READ)
        sim_await_turn(b);
    else if (k == b->read_count)
        b->read[b->read_count++] = w->near;
}

static inline uint8_t *device_pointer(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes,
                                      size_t alignment)
{
    if (!holds(w->near, address, bytes)) {
        Allocation *found = sim_allocation_at(address);
        if (!holds(found, address, bytes))
            misplaced(w, i, lane, address, bytes, alignment, GLOBAL);
        w->near = found;
    }
    if (address % alignment)
        misplaced(w, i, lane, address, bytes, alignment, GLOBAL);
    if (w->block->launch->order == IN_TURN)
        note_use(w, i);
    return (uint8_t *)(uintptr_t)address;
}

static inline uint8_t *aligned_pointer(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes,
                                       size_t alignment, Space space)
{
    const Launch *launch = w->block->launch;
    if (space != SHARED && space != LOCAL)
        return device_pointer(w, i, lane, address, bytes, alignment);
    const size_t size = space == SHARED ? launch->shared_bytes : launch->local_bytes;
    if (address % alignment || bytes > size || address > size - bytes)
        misplaced(w, i, lane, address, bytes, alignment, space);
    if (space == SHARED)
        return w->block->shared + address;
    return w->block->local + (size_t)(w->number * LANES + lane) * launch->local_bytes + address;
}

static uint8_t *pointer_in(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, Space space)
{
    return aligned_pointer(w, i, lane, address, bytes, bytes, space);
}

Space sim_space_at(uint64_t address)
{
    return address >> SHARED_WINDOW_BIT == 1 ? SHARED : address >> LOCAL_WINDOW_BIT == 1 ? LOCAL : GLOBAL;
}

static uint8_t *generic_pointer(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes, size_t alignment)
{
    const Space space = sim_space_at(address);
    const uint64_t window = space == SHARED ? SHARED_WINDOW : space == LOCAL ? LOCAL_WINDOW : 0;
    return aligned_pointer(w, i, lane, address - window, bytes, alignment, space);
}

uint8_t *sim_generic_pointer(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes)
{
    return generic_pointer(w, i, lane, address, bytes, bytes);
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

uint8_t *sim_operand_pointer(Warp *w, const Instr *i, const Address *operand, int lane, size_t bytes, size_t alignment)
{
    const uint64_t address = sim_operand_address(w, operand, lane);
    if (operand->space == GENERIC)
        return generic_pointer(w, i, lane, address, bytes, alignment);
    return aligned_pointer(w, i, lane, address, bytes, alignment, (Space)operand->space);
}

void sim_find_addresses(const Warp *w, const Instr *i, uint64_t *address)
{
    if (i->a == NOWHERE) {
        for (int l = 0; l < LANES; l++)
            address[l] = (uint64_t)i->offset;
    } else if (i->base_bytes == 8) {
        const uint64_t *base = (const uint64_t *)(w->lanes + i->a);
        for (int l = 0; l < LANES; l++)
            address[l] = base[l] + (uint64_t)i->offset;
    } else {
        const uint32_t *base = (const uint32_t *)(w->lanes + i->a);
        for (int l = 0; l < LANES; l++)
            address[l] = (uint32_t)(base[l] + (uint32_t)i->offset);
    }
}

static void find_pointers(Warp *w, const Instr *i, uint32_t mask, Space space, size_t bytes, Access *access)
{
    uint64_t apart = 0; // from where consecutive lanes would be
    for (int l = 0; l < LANES; l++)
        apart |= access->address[l] - access->address[0] - (uint64_t)l * bytes;
    access->consecutive = mask == ALL_LANES && apart == 0;
    if (access->consecutive && space != LOCAL) { // then the first and the last tell for all
        uint8_t *first = pointer_in(w, i, 0, access->address[0], bytes, space);
        const bool near = space == SHARED ? access->address[0] + LANES * bytes <= w->block->launch->shared_bytes
                                          : holds(w->near, access->address[0], LANES * bytes);
        if (near) {
            for (int l = 0; l < LANES; l++)
                access->pointer[l] = first + (size_t)l * bytes;
            return;
        }
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        access->pointer[l] = pointer_in(w, i, l, access->address[l], bytes, space);
    }
}

// ---- What an access costs

// Sectors, pieces of 32 bytes of device memory, that a warp's access touches.
static unsigned sectors(const Access *access, uint32_t mask, size_t bytes)
{
    enum { SECTOR = 32 };
    if (access->consecutive)
        return (unsigned)((access->address[0] % SECTOR + LANES * bytes + SECTOR - 1) / SECTOR);
    uint64_t seen[LANES];
    unsigned count = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) { // an access never crosses a sector's edge
        const uint64_t sector = access->address[__builtin_ctz(rest)] / SECTOR;
        unsigned k = count;
        while (k > 0 && seen[k - 1] != sector)
            k--;
        if (k == 0)
            seen[count++] = sector;
    }
    return count;
}

// Rounds that shared memory takes for lanes [first, end): words of 4 bytes lie in 32 banks in turn,
// and a bank gives one word a round, to any number of lanes.
static unsigned bank_rounds(const Access *access, uint32_t mask, int words, int first, int end)
{
    enum { BANKS = 32 };
    uint64_t in_bank[BANKS][LANES];
    uint8_t count[BANKS] = {0}, most = 0;
    for (int l = first; l < end; l++)
        for (int k = 0; k < words && mask >> l & 1; k++) {
            const uint64_t word = access->address[l] / 4 + (uint64_t)k;
            const unsigned bank = word % BANKS;
            int n = 0;
            while (n < count[bank] && in_bank[bank][n] != word)
                n++;
            if (n == count[bank])
                in_bank[bank][count[bank]++] = word;
            most = count[bank] > most ? count[bank] : most;
        }
    return most;
}

// How many rounds more than needed. Elements of 4 bytes are served for the whole warp at a time, of
// 8 for half a warp, of 16 for a quarter. Needed is what the lanes that are on want in all, 128 bytes
// a round; this is reckoned for half warps where elements have 16 bytes, else for the whole warp.
// (Found by measuring; tests/counters holds what an H200 counts.)
static unsigned bank_conflicts(const Access *access, uint32_t mask, size_t bytes)
{
    enum { ROUND_BYTES = 128 };
    if (access->consecutive)
        return 0;
    const int words = bytes > 4 ? (int)bytes / 4 : 1, together = LANES / words, reckoned = words == 4 ? LANES / 2 : LANES;
    unsigned conflicts = 0;
    for (int first = 0; first < LANES; first += reckoned) {
        const uint32_t lanes = mask >> first & (reckoned == LANES ? ALL_LANES : (1u << reckoned) - 1);
        const unsigned wanted = (unsigned)__builtin_popcount(lanes) * (unsigned)words * 4;
        unsigned rounds = 0;
        for (int piece = first; piece < first + reckoned; piece += together)
            rounds += bank_rounds(access, mask, words, piece, piece + together);
        const unsigned needed = (wanted + ROUND_BYTES - 1) / ROUND_BYTES;
        conflicts += rounds > needed ? rounds - needed : 0;
    }
    return conflicts;
}

static void count_access(Warp *w, const Access *access, uint32_t mask, size_t bytes, Space space, bool load)
{
    Counters *c = &w->block->counters;
    if (space == SHARED) {
        *(load ? &c->shared_loads : &c->shared_stores) += 1;
        c->bank_conflicts += bank_conflicts(access, mask, bytes);
    } else if (space == GLOBAL) {
        *(load ? &c->global_load_requests : &c->global_store_requests) += 1;
        *(load ? &c->global_load_sectors : &c->global_store_sectors) += sectors(access, mask, bytes);
    }
}

// ---- Loads and stores. Blocks run side by side on the host, so device memory is read and written
// with relaxed atomic accesses: plain moves, without the undefined behaviour of a data race.

static inline uint64_t read_bytes(const uint8_t *from, int bytes)
{
    switch (bytes) {
    case 1: return __atomic_load_n(from, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED);
    }
}

static inline void write_bytes(uint8_t *to, uint64_t value, int bytes)
{
    switch (bytes) {
    case 1: __atomic_store_n(to, (uint8_t)value, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((uint16_t *)to, (uint16_t)value, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((uint32_t *)to, (uint32_t)value, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((uint64_t *)to, value, __ATOMIC_RELAXED);
    }
}

static inline void load_element(uint8_t *to, const uint8_t *from, const Instr *i)
{
    if (i->bytes == 16) { // two halves: no wider access is needed to be in one piece
        const uint64_t halves[2] = {read_bytes(from, 8), read_bytes(from + 8, 8)};
        memcpy(to, halves, sizeof halves);
        return;
    }
    uint64_t value = read_bytes(from, i->bytes);
    if (i->flags & SIGNED_VALUE) {
        const int unused = 64 - 8 * i->bytes;
        value = (uint64_t)((int64_t)(value << unused) >> unused);
    }
    memcpy(to, &value, i->register_bytes);
}

static inline void store_element(uint8_t *to, const uint8_t *from, const Instr *i)
{
    uint64_t value = 0;
    if (i->bytes == 16) {
        memcpy(&value, from + 8, 8);
        write_bytes(to + 8, value, 8);
    }
    memcpy(&value, from, i->bytes < 8 ? i->bytes : 8);
    write_bytes(to, value, i->bytes < 8 ? i->bytes : 8);
}

// The frequent cases: all lanes on, registers as wide as the elements, of 4 or 8 bytes.
#define MOVE_ALL_LANES(name, T)                                              \
    static void name(T *lanes, uint8_t *const *pointer, size_t offset, bool load) \
    {                                                                        \
        for (int l = 0; l < LANES; l++) {                                    \
            T *element = (T *)(pointer[l] + offset);                         \
            if (load)                                                        \
                lanes[l] = __atomic_load_n(element, __ATOMIC_RELAXED);       \
            else                                                             \
                __atomic_store_n(element, lanes[l], __ATOMIC_RELAXED);       \
        }                                                                    \
    }
MOVE_ALL_LANES(move_all_4, uint32_t)
MOVE_ALL_LANES(move_all_8, uint64_t)

static void move_lanes(Warp *w, const Instr *i, uint32_t mask, const Access *access, bool load)
{
    for (int k = 0; k < i->count; k++) {
        if (i->list[k] == NOWHERE)
            continue;
        uint8_t *lanes = w->lanes + i->list[k];
        const size_t offset = (size_t)k * i->bytes;
        if (mask == ALL_LANES && i->bytes == i->register_bytes && i->bytes == 4) {
            move_all_4((uint32_t *)lanes, access->pointer, offset, load);
            continue;
        }
        if (mask == ALL_LANES && i->bytes == i->register_bytes && i->bytes == 8) {
            move_all_8((uint64_t *)lanes, access->pointer, offset, load);
            continue;
        }
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const int l = __builtin_ctz(rest);
            uint8_t *lane = lanes + (size_t)l * i->register_bytes;
            if (load)
                load_element(lane, access->pointer[l] + offset, i);
            else
                store_element(access->pointer[l] + offset, lane, i);
        }
    }
}

static void access_space(Warp *w, const Instr *i, uint32_t mask, Space space, Access *access, bool load)
{
    const size_t bytes = (size_t)i->bytes * i->count;
    find_pointers(w, i, mask, space, bytes, access);
    count_access(w, access, mask, bytes, space, load);
    move_lanes(w, i, mask, access, load);
}

static void access_memory(Warp *w, const Instr *i, uint32_t mask, bool load)
{
    Access access;
    if (mask == 0)
        return;
    if (i->flags & ASKS_OTHERS)
        sim_await_turn(w->block);
    sim_find_addresses(w, i, access.address);
    if (i->space != GENERIC) {
        access_space(w, i, mask, (Space)i->space, &access, load);
        return;
    }
    uint32_t in[PARAM + 1] = {0}; // generic addresses: each lane tells by its own
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        const Space space = sim_space_at(access.address[l]);
        access.address[l] -= space == SHARED ? SHARED_WINDOW : space == LOCAL ? LOCAL_WINDOW : 0;
        in[space] |= 1u << l;
    }
    for (Space space = GLOBAL; space <= LOCAL; space++)
        if (in[space])
            access_space(w, i, in[space], space, &access, load);
}

void sim_load(Warp *w, const Instr *i, uint32_t mask)
{
    access_memory(w, i, mask, true);
}

void sim_store(Warp *w, const Instr *i, uint32_t mask)
{
    access_memory(w, i, mask, false);
}

// ---- Parameters: a kernel's are the same for all lanes, a function's lie in its frame.

// The same value for all lanes that are on.
static void set_lanes(uint8_t *lanes, int register_bytes, uint64_t value, uint32_t mask)
{
    switch (register_bytes) { // a copy whose length the compiler does not know is slow
    case 2:
        FOR_EACH_LANE(((uint16_t *)lanes)[l] = (uint16_t)value)
        break;
    case 4:
        FOR_EACH_LANE(((uint32_t *)lanes)[l] = (uint32_t)value)
        break;
    case 8:
        FOR_EACH_LANE(((uint64_t *)lanes)[l] = value)
        break;
    default:
        FOR_EACH_LANE(lanes[l] = (uint8_t)value)
    }
}

void sim_load_kernel_param(Warp *w, const Instr *i, uint32_t mask)
{
    const size_t size = w->block->launch->kernel->kernel_param_bytes;
    for (int k = 0; k < i->count; k++) {
        const uint64_t offset = (uint64_t)i->offset + (uint64_t)k * i->bytes;
        if (i->bytes > size || offset > size - i->bytes)
            sim_fault(w, i, -1, cudaErrorIllegalAddress, "a parameter at byte %llu of %zu", (unsigned long long)offset, size);
        if (i->list[k] == NOWHERE)
            continue;
        _Alignas(16) uint8_t bytes[16] = {0}, element[16]; // a parameter may lie at any address
        memcpy(bytes, w->block->launch->params + offset, i->bytes);
        load_element(element, bytes, i);
        if (i->register_bytes == 16) {
            for (uint32_t rest = mask; rest; rest &= rest - 1)
                memcpy(w->lanes + i->list[k] + (size_t)__builtin_ctz(rest) * 16, element, 16);
            continue;
        }
        uint64_t value;
        memcpy(&value, element, sizeof value);
        set_lanes(w->lanes + i->list[k], i->register_bytes, value, mask);
    }
}

static void access_argument(Warp *w, const Instr *i, uint32_t mask, bool load)
{
    const size_t size = w->path->frame->function->param_bytes, bytes = (size_t)i->bytes * i->count;
    if (bytes > size || (uint64_t)i->offset > size - bytes)
        sim_fault(w, i, -1, cudaErrorIllegalAddress, "an argument at byte %lld of %zu", (long long)i->offset, size);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        for (int k = 0; k < i->count; k++) {
            uint8_t *argument = w->path->frame->params + (size_t)l * size + i->offset + (size_t)k * i->bytes;
            _Alignas(16) uint8_t whole[16] = {0}; // arguments may lie at any address
            if (i->list[k] == NOWHERE)
                continue;
            uint8_t *lane = w->lanes + i->list[k] + (size_t)l * i->register_bytes;
            if (load) {
                memcpy(whole, argument, i->bytes);
                load_element(lane, whole, i);
            } else {
                memcpy(argument, lane, i->bytes);
            }
        }
    }
}

void sim_load_argument(Warp *w, const Instr *i, uint32_t mask)
{
    access_argument(w, i, mask, true);
}

void sim_store_argument(Warp *w, const Instr *i, uint32_t mask)
{
    access_argument(w, i, mask, false);
}

// ---- Atomic operations, one lane after the other

static double atomic_real(int op, double old, double value)
{
    switch (op) {
    case ATOMIC_ADD: return old + value;
    case ATOMIC_MIN: return value < old || old != old ? value : old;
    default: return value > old || old != old ? value : old;
    }
}

static uint64_t atomic_integer(const Instr *i, uint64_t old, uint64_t value, uint64_t other)
{
    const int unused = 64 - 8 * i->bytes;
    const bool with_sign = i->type == S32 || i->type == S64;
    const bool less = with_sign ? (int64_t)(old << unused) < (int64_t)(value << unused) : old < value;
    switch (i->op) {
    case ATOMIC_ADD: return old + value;
    case ATOMIC_MIN: return less ? old : value;
    case ATOMIC_MAX: return less ? value : old;
    case ATOMIC_INC: return old >= value ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > value ? value : old - 1;
    case ATOMIC_AND: return old & value;
    case ATOMIC_OR: return old | value;
    case ATOMIC_XOR: return old ^ value;
    case ATOMIC_EXCH: return value;
    default: return old == value ? other : old;
    }
}

// The sum of two floats; with flush, subnormal numbers are zero, among them the sum.
static uint32_t atomic_sum(uint32_t a_bits, uint32_t b_bits, bool flush)
{
    enum { EXPONENT = 0x7f800000 };
    const uint32_t sign = 0x80000000;
    uint32_t bits[] = {flush && !(a_bits & EXPONENT) ? a_bits & sign : a_bits,
                       flush && !(b_bits & EXPONENT) ? b_bits & sign : b_bits};
    float values[2];
    memcpy(values, bits, sizeof values);
    const float sum = values[0] + values[1];
    memcpy(bits, &sum, sizeof sum);
    return flush && !(bits[0] & EXPONENT) ? bits[0] & sign : bits[0];
}

static uint64_t atomic_result(const Instr *i, uint64_t old, uint64_t value, uint64_t other, bool shared)
{
    const bool moves = i->op == ATOMIC_EXCH || i->op == ATOMIC_CAS;
    if (i->type == F32 && i->op == ATOMIC_ADD)
        return atomic_sum((uint32_t)old, (uint32_t)value, !shared);
    if (i->type == F32 && !moves) {
        float a, b;
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &value, sizeof b);
        const float result = (float)atomic_real(i->op, a, b);
        uint32_t bits;
        memcpy(&bits, &result, sizeof bits);
        return bits;
    }
    if (i->type == F64 && !moves) {
        double a, b;
        memcpy(&a, &old, sizeof a);
        memcpy(&b, &value, sizeof b);
        const double sum = atomic_real(i->op, a, b);
        memcpy(&old, &sum, sizeof sum);
        return old;
    }
    if (i->type == F16 || i->type == F16X2) {
        uint64_t result = 0;
        for (int k = 0; k < i->bytes / 2; k++) {
            const float a = sim_half_to_float((uint16_t)(old >> (16 * k))), b = sim_half_to_float((uint16_t)(value >> (16 * k)));
            result |= (uint64_t)sim_half_from_double(atomic_real(i->op, a, b), ROUND_NEAREST) << (16 * k);
        }
        return result;
    }
    return atomic_integer(i, old, value, other);
}

void sim_atomic(Warp *w, const Instr *i, uint32_t mask)
{
    Access access;
    if (mask == 0)
        return;
    if ((i->type == BF16 || i->type == BF16X2 || ((i->type == F16 || i->type == F16X2) && i->op != ATOMIC_ADD)))
        sim_fault(w, i, -1, cudaErrorNotSupported, "this atomic operation is not supported");
    sim_find_addresses(w, i, access.address);
    w->block->counters.atomics++;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t *at = i->space == GENERIC ? sim_generic_pointer(w, i, l, access.address[l], i->bytes)
                                          : pointer_in(w, i, l, access.address[l], i->bytes, (Space)i->space);
        uint64_t value = 0, other = 0;
        memcpy(&value, w->lanes + i->b + (size_t)l * i->bytes, i->bytes);
        memcpy(&other, w->lanes + i->c + (size_t)l * i->bytes, i->bytes);
        const bool shared = i->space == SHARED || (i->space == GENERIC && sim_space_at(access.address[l]) == SHARED);
        const uint64_t old = read_bytes(at, i->bytes), result = atomic_result(i, old, value, other, shared);
        write_bytes(at, result, i->bytes);
        if (i->d != NOWHERE)
            memcpy(w->lanes + i->d + (size_t)l * i->bytes, &old, i->bytes);
    }
}

// ---- Others

void sim_is_space(Warp *w, const Instr *i, uint32_t mask)
{
    const uint64_t *address = (const uint64_t *)(w->lanes + i->a);
    uint32_t *d = (uint32_t *)(w->lanes + i->d), result = 0;
    for (int l = 0; l < LANES; l++)
        result |= (uint32_t)(sim_space_at(address[l]) == (Space)i->space) << l;
    *d = (*d & ~mask) | (result & mask);
}

// cp.async: `bytes` to shared memory, of which the first c come from device memory, the rest are 0.
void sim_copy_async(Warp *w, const Instr *i, uint32_t mask)
{
    Access from, to;
    if (mask == 0)
        return;
    sim_find_addresses(w, i, from.address);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        to.address[l] = i->target;
        if (i->register_bytes == 8)
            to.address[l] += ((uint64_t *)(w->lanes + i->d))[l];
        else
            to.address[l] += ((uint32_t *)(w->lanes + i->d))[l];
        const uint32_t wanted = ((uint32_t *)(w->lanes + i->c))[l], bytes = wanted < i->bytes ? wanted : i->bytes;
        uint8_t *target = pointer_in(w, i, l, to.address[l], i->bytes, SHARED);
        memset(target, 0, i->bytes);
        const uint8_t *source = bytes ? device_pointer(w, i, l, from.address[l], bytes, i->bytes) : NULL;
        for (uint32_t k = 0; k < bytes; k++)
            target[k] = (uint8_t)read_bytes(source + k, 1);
    }
    from.consecutive = to.consecutive = false;
    count_access(w, &from, mask, i->bytes, GLOBAL, true);
}
