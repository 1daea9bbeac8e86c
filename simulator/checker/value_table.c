// value_table.c: tables of undefined values, by register, and by word of shared and local memory.
#include "checker/value_table.h"
#include "checker/block_check.h"
#include "checker/value_copies.h"

#include <string.h>

enum { INITIAL_BITS = 8, WORD = 4, SLOTS_PER_VALUE = 4, CACHED_COPIES = 256 };

typedef struct CachedCopy { // a result of sim_copies_structure
    const Instr *load, *store;
    bool copies_member;
} CachedCopy;

// A hash table by register. Each instruction of a warp with undefined values looks up all its registers.
struct UndefinedRegisters {
    uint32_t count;       // elements of `values`
    uint32_t live_values; // values with a nonzero mask
    UndefinedBranch *branches; // a list
    UndefinedValue *values; // capacity_of() of them, or NULL
    uint32_t *index;        // slots with 1 + index of a value; 0: free. Linear probing
    int index_bits;         // log2 of the length of `index`, which has SLOTS_PER_VALUE slots for each value
    CachedCopy copies[CACHED_COPIES]; // indexed by a hash of the store
};

// A hash table by word, with linear probing: the origins of undefined values in shared and local memory.
struct Origins {
    uint32_t count;
    int bits; // log2 of the length of `slots`, of which at most half are used
    struct Origin {
        uint64_t key; // 0: free
        const Instr *read;
        uint32_t defined; // mask of bits that are defined although their bytes count as unwritten
        uint8_t source;   // as in UndefinedValue
        uint8_t computed; // mask of bytes that were computed from an undefined value
    } *slots;
};

// The slot of a key, or the free slot where it would be.
static struct Origin *find_origin(const struct Origins *origins, uint64_t key)
{
    const uint64_t slot_mask = (1ull << origins->bits) - 1;
    uint64_t k = key * 0x9e3779b97f4a7c15 >> (64 - origins->bits);
    while (origins->slots[k].key && origins->slots[k].key != key)
        k = (k + 1) & slot_mask;
    return &origins->slots[k];
}

static void grow_origins(Arena *arena, struct Origins *origins)
{
    const struct Origins previous = *origins;
    const size_t length = previous.slots ? (size_t)1 << previous.bits : 0;
    origins->bits = previous.slots ? previous.bits + 1 : INITIAL_BITS;
    origins->slots = sim_allocate(arena, sizeof *origins->slots << origins->bits);
    for (size_t k = 0; k < length; k++)
        if (previous.slots[k].key)
            *find_origin(origins, previous.slots[k].key) = previous.slots[k];
}

static uint64_t key_of(const Warp *w, int lane, Space space, uint64_t address) // never 0
{
    const uint64_t thread = space == LOCAL ? (uint64_t)(w->number * LANES + lane) : 0;
    return (address << 16 | thread) << 2 | (uint64_t)(space == SHARED ? 1 : 2);
}

static struct Origin *origin_of_word(Warp *w, uint64_t key)
{
    Block *b = w->block;
    if (!b->check->origins)
        b->check->origins = sim_allocate(&b->arena, sizeof *b->check->origins);
    struct Origins *origins = b->check->origins;
    if (!origins->slots || origins->count == (1u << origins->bits) / 2)
        grow_origins(&b->arena, origins);
    struct Origin *origin = find_origin(origins, key);
    origins->count += origin->key == 0;
    origin->key = key;
    return origin;
}

void sim_keep_origin(Warp *w, int lane, Space space, uint64_t address, size_t bytes, const UndefinedValue *v)
{
    const uint64_t defined = v->full >> lane & 1 ? 0 : ~v->bits[lane];
    for (size_t k = 0, count; k < bytes; k += count) {
        const unsigned first = (unsigned)((address + k) % WORD);
        count = WORD - first < bytes - k ? WORD - first : bytes - k;
        struct Origin *origin = origin_of_word(w, key_of(w, lane, space, address + k - first));
        const uint32_t some = (1u << count) - 1, all = (uint32_t)((1ull << 8 * count) - 1);
        const uint32_t stored = k < sizeof defined ? (uint32_t)(defined >> 8 * k) & all : 0;
        origin->defined = (origin->defined & ~(all << 8 * first)) | stored << 8 * first;
        origin->computed = (uint8_t)((origin->computed & ~(some << first)) | (v->computed >> lane & 1 ? some << first : 0));
        origin->read = v->read;
        origin->source = v->source;
    }
}

// The undefined bits of bytes that a lane reads. Sets `origin` to the first known one, and `computed` if a byte was computed.
static uint64_t find_bits(const Warp *w, const Access *access, int lane, unsigned first, unsigned bytes, const struct Origin **origin,
                          bool *computed)
{
    uint64_t bits = 0;
    for (unsigned k = 0; k < bytes && k < sizeof bits; k++) {
        if (!(access->unwritten[lane] >> (first + k) & 1))
            continue;
        const uint64_t address = access->address[lane] + first + k, key = key_of(w, lane, access->space, address / WORD * WORD);
        const struct Origin *o = find_origin(w->block->check->origins, key);
        const unsigned byte_in_word = (unsigned)(address % WORD);
        bits |= (o->key ? ~o->defined >> 8 * byte_in_word & 255ull : 255ull) << 8 * k;
        *computed |= o->key && o->computed >> byte_in_word & 1;
        *origin = *origin || !o->key ? *origin : o;
    }
    return bits;
}

uint32_t sim_find_origins(const Warp *w, const Access *access, unsigned first, unsigned bytes, UndefinedValue *v)
{
    const bool kept = w->block->check->origins && (access->space == SHARED || access->space == LOCAL);
    const struct Origin *first_found = NULL;
    uint32_t lanes = 0;
    for (uint32_t rest = kept && access->has_unwritten ? access->mask : 0; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const struct Origin *origin = NULL;
        bool computed = false;
        const uint64_t undefined_bits = find_bits(w, access, lane, first, bytes, &origin, &computed);
        if (!origin || !undefined_bits)
            continue;
        first_found = first_found ? first_found : origin;
        lanes |= 1u << lane;
        v->computed |= (uint32_t)computed << lane;
        v->full = (v->full & ~(1u << lane)) | (uint32_t)(undefined_bits == sim_low_ones(bytes)) << lane;
        v->bits[lane] = undefined_bits;
    }
    if (first_found) {
        v->read = first_found->read;
        v->source = first_found->source;
    }
    return lanes;
}

static uint32_t capacity_of(const struct UndefinedRegisters *u)
{
    return (1u << u->index_bits) / SLOTS_PER_VALUE;
}

// The slot of a register, or the free slot where it would be.
static uint32_t *find_slot(const struct UndefinedRegisters *u, const uint8_t *address)
{
    const uint32_t slot_mask = (1u << u->index_bits) - 1;
    uint32_t slot = (uint32_t)((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15 >> (64 - u->index_bits));
    while (u->index[slot] && u->values[u->index[slot] - 1].address != address)
        slot = (slot + 1) & slot_mask;
    return &u->index[slot];
}

static UndefinedValue *find(const Warp *w, const uint8_t *address)
{
    const uint32_t number = w->undefined_count ? *find_slot(w->undefined_registers, address) : 0;
    return number ? &w->undefined_registers->values[number - 1] : NULL;
}

const UndefinedValue *sim_find_value(const Warp *w, const uint8_t *address)
{
    return find(w, address);
}

// Doubles the capacity, which the number of registers in all frames limits.
static void grow_values(Arena *arena, struct UndefinedRegisters *u)
{
    const UndefinedValue *previous = u->values;
    u->index_bits = previous ? u->index_bits + 1 : INITIAL_BITS;
    u->values = sim_allocate(arena, capacity_of(u) * sizeof *u->values);
    u->index = sim_allocate(arena, sizeof *u->index << u->index_bits);
    for (uint32_t k = 0; k < u->count; k++) {
        u->values[k] = previous[k];
        *find_slot(u, previous[k].address) = k + 1;
    }
}

// The entry of a register, added if there is none.
static UndefinedValue *find_or_add(Warp *w, const uint8_t *address)
{
    Arena *arena = &w->block->arena;
    if (!w->undefined_registers)
        w->undefined_registers = sim_allocate(arena, sizeof *w->undefined_registers);
    struct UndefinedRegisters *u = w->undefined_registers;
    if (!u->values || u->count == capacity_of(u))
        grow_values(arena, u);
    uint32_t *const number = find_slot(u, address);
    if (!*number) {
        *number = ++u->count;
        UndefinedValue *v = &u->values[u->count - 1];
        *v = (UndefinedValue){.address = address};
    }
    return &u->values[*number - 1];
}

void sim_count_undefined(Warp *w)
{
    w->undefined_count = w->undefined_registers->live_values;
    for (const UndefinedBranch *u = w->undefined_registers->branches; u; u = u->next)
        w->undefined_count += u->lanes != 0;
}

void sim_set_value(Warp *w, const uint8_t *address, uint32_t changed, const UndefinedValue *value)
{
    const uint32_t mask = changed & value->mask;
    UndefinedValue *v = mask ? find_or_add(w, address) : find(w, address);
    if (!v)
        return;
    const uint32_t previous = v->mask;
    v->mask = (previous & ~changed) | mask;
    v->full = (v->full & ~changed) | (mask & value->full);
    v->computed = (v->computed & ~changed) | (mask & value->computed);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        v->bits[__builtin_ctz(rest)] = value->bits[__builtin_ctz(rest)];
    if (mask) {
        v->read = value->read;
        v->load = value->load;
        v->from = value->from;
        v->shuffled = value->shuffled;
        v->source = value->source;
    }
    w->undefined_registers->live_values += (v->mask != 0) - (previous != 0);
    sim_count_undefined(w);
}

void sim_copy_value(Warp *w, const uint8_t *to, const uint8_t *from, uint32_t mask, uint64_t copied)
{
    const UndefinedValue *v = find(w, from);
    if (!v && !find(w, to))
        return;
    UndefinedValue copy = v ? *v : (UndefinedValue){.mask = 0};
    for (int l = 0; l < LANES; l++) {
        copy.bits[l] &= copied;
        copy.mask &= copy.bits[l] ? ALL_LANES : ~(1u << l);
    }
    sim_set_value(w, to, mask, &copy);
}

UndefinedBranch *sim_undefined_branches(const Warp *w)
{
    return w->undefined_registers->branches;
}

UndefinedBranch *sim_add_undefined_branch(Warp *w, const Instr *branch)
{
    UndefinedBranch *u = sim_allocate(&w->block->arena, sizeof *u);
    *u = (UndefinedBranch){.next = w->undefined_registers->branches, .branch = branch};
    w->undefined_registers->branches = u;
    return u;
}

void sim_clear_values(Warp *w)
{
    struct UndefinedRegisters *u = w->undefined_registers;
    if (u->count > 0)
        memset(u->index, 0, sizeof *u->index << u->index_bits);
    w->undefined_count = u->live_values = u->count = 0;
    for (UndefinedBranch *branch = u->branches; branch; branch = branch->next)
        branch->lanes = 0;
}

bool sim_copies_member(const Warp *w, const UndefinedValue *v, const Instr *store)
{
    CachedCopy *copy = &w->undefined_registers->copies[(uintptr_t)store / sizeof *store % CACHED_COPIES];
    if (copy->load != v->load || copy->store != store)
        *copy = (CachedCopy){v->load, store, sim_copies_structure(w->current_split->frame->function, v->load, store)};
    return copy->copies_member;
}

// ---- Operands

const UndefinedValue *sim_value_of(const Warp *w, const Register *reg, uint32_t mask)
{
    const UndefinedValue *v = reg ? find(w, w->registers + reg->slot) : NULL;
    return v && v->mask & mask ? v : NULL;
}

const UndefinedValue *sim_value_in(const Warp *w, const Operand *o, uint32_t mask, uint32_t *lanes)
{
    const UndefinedValue *found = sim_value_of(w, o->reg, mask);
    *lanes |= found ? found->mask & mask : 0;
    for (int k = 0; k < o->count; k++) {
        const UndefinedValue *v = sim_value_in(w, &o->elements[k], mask, lanes);
        found = found ? found : v;
    }
    return found;
}

uint32_t sim_lanes_fully_undefined(const Warp *w, const Operand *o, uint32_t mask)
{
    const UndefinedValue *v = sim_value_of(w, o->reg, mask);
    uint32_t lanes = o->count ? mask : v ? v->mask & mask & v->full : 0;
    for (int k = 0; k < o->count; k++)
        lanes &= sim_lanes_fully_undefined(w, &o->elements[k], mask);
    return lanes;
}

uint32_t sim_lanes_computed(const Warp *w, const Operand *o, uint32_t mask)
{
    const UndefinedValue *v = sim_value_of(w, o->reg, mask);
    uint32_t lanes = v ? v->computed & v->mask : 0;
    for (int k = 0; k < o->count; k++)
        lanes |= sim_lanes_computed(w, &o->elements[k], mask);
    return lanes;
}
