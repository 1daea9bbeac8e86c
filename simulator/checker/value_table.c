// value_table.c: which registers of a warp, and which places of its block, hold what nobody wrote, and where that came from.
#include "checker/value_table.h"
#include "checker/value_bits.h"
#include "checker/value_copies.h"

#include <string.h>

enum { FIRST_BITS = 8, MOST_ORIGIN_BITS = 16, WORD = 4, PLACES = 4, COPIES = 256, BRANCHES = 8 };

typedef struct Copy { // by a load and a store, whose answer is kept
    const Instr *load, *store;
    bool of_structure;
} Copy;

// Each instruction of a warp that holds such values asks for all of its registers, so there is an index of them, with
// PLACES places for each value that there is room for.
struct Undefined {
    uint32_t count, held; // of the values those whose mask is not 0
    Undecided branches[BRANCHES];
    Value *values;        // as many as there is room for, or NULL
    uint32_t *index; // a value's number, counted from 1, at its register's place or, if that is taken, behind it
    int index_bits;  // 2 to this power is its length
    Copy copies[COPIES]; // each at its store's place
};

// Where values came from that were stored in shared or local memory, by words; behind their place's, where that is taken. Where there
// are very many, all are forgotten but the later ones.
struct Origins {
    uint32_t count;
    int bits; // 2 to this power is the length of `at`, of which no more than half is used
    struct Origin {
        uint64_t place; // 0: it is free
        const Instr *read;
        uint32_t set; // bits that somebody has set, of bytes that count as not written
        uint8_t what, computed; // a bit for each byte
    } *at;
};

// Where the origin of a value at this place is kept, or would be.
static struct Origin *origin_at(const struct Origins *origins, uint64_t place)
{
    const uint64_t last = (1ull << origins->bits) - 1;
    uint64_t k = place * 0x9e3779b97f4a7c15 >> (64 - origins->bits);
    while (origins->at[k].place && origins->at[k].place != place)
        k = (k + 1) & last;
    return &origins->at[k];
}

static void grow_origins(Arena *arena, struct Origins *origins)
{
    const struct Origins before = *origins;
    const size_t length = before.at ? (size_t)1 << before.bits : 0;
    if (before.bits == MOST_ORIGIN_BITS) {
        memset(origins->at, 0, length * sizeof *origins->at);
        origins->count = 0;
        return;
    }
    origins->bits = before.at ? before.bits + 1 : FIRST_BITS;
    origins->at = sim_allocate(arena, sizeof *origins->at << origins->bits);
    for (size_t k = 0; k < length; k++)
        if (before.at[k].place)
            *origin_at(origins, before.at[k].place) = before.at[k];
}

static uint64_t place_of(const Warp *w, int lane, Space space, uint64_t address) // not 0
{
    const uint64_t thread = space == LOCAL ? (uint64_t)(w->number * LANES + lane) : 0;
    return (address << 16 | thread) << 2 | (uint64_t)(space == SHARED ? 1 : 2);
}

static struct Origin *origin_of_word(Warp *w, uint64_t place)
{
    Block *b = w->block;
    if (!b->origins)
        b->origins = sim_allocate(&b->arena, sizeof *b->origins);
    struct Origins *origins = b->origins;
    if (!origins->at || origins->count == (1u << origins->bits) / 2)
        grow_origins(&b->arena, origins);
    struct Origin *origin = origin_at(origins, place);
    origins->count += origin->place == 0;
    origin->place = place;
    return origin;
}

void sim_keep_origin(Warp *w, int lane, Space space, uint64_t address, size_t bytes, const Value *v)
{
    const uint64_t set = v->partial >> lane & 1 ? ~v->bits[lane] : 0;
    for (size_t k = 0, count; k < bytes; k += count) {
        const unsigned first = (unsigned)((address + k) % WORD);
        count = WORD - first < bytes - k ? WORD - first : bytes - k;
        struct Origin *origin = origin_of_word(w, place_of(w, lane, space, address + k - first));
        const uint32_t some = (1u << count) - 1, all = (uint32_t)((1ull << 8 * count) - 1);
        const uint32_t stored = k < sizeof set ? (uint32_t)(set >> 8 * k) & all : 0;
        origin->set = (origin->set & ~(all << 8 * first)) | stored << 8 * first;
        origin->computed = (uint8_t)((origin->computed & ~(some << first)) | (v->computed >> lane & 1 ? some << first : 0));
        origin->read = v->read;
        origin->what = v->what;
    }
}

// Of bytes that a lane reads: which of their bits nobody has set; sets the first one's origin, if it is known, and whether one was
// computed.
static uint64_t find_bits(const Warp *w, const Access *access, int lane, unsigned first, unsigned bytes, const struct Origin **origin,
                          bool *computed)
{
    uint64_t bits = 0;
    for (unsigned k = 0; k < bytes && k < sizeof bits; k++) {
        if (!(access->unwritten[lane] >> (first + k) & 1))
            continue;
        const uint64_t address = access->address[lane] + first + k, place = place_of(w, lane, access->space, address / WORD * WORD);
        const struct Origin *o = origin_at(w->block->origins, place);
        const unsigned in_word = (unsigned)(address % WORD);
        bits |= (o->place ? ~o->set >> 8 * in_word & 255ull : 255ull) << 8 * k;
        *computed |= o->place && o->computed >> in_word & 1;
        *origin = *origin || !o->place ? *origin : o;
    }
    return bits;
}

uint32_t sim_find_origins(const Warp *w, const Access *access, unsigned first, unsigned bytes, Value *v)
{
    const bool kept = w->block->origins && (access->space == SHARED || access->space == LOCAL);
    const uint64_t all = bytes >= 8 ? ALL_BITS : (1ull << 8 * bytes) - 1;
    const struct Origin *told = NULL;
    uint32_t lanes = 0;
    for (uint32_t rest = kept && access->has_unwritten ? access->mask : 0; rest; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        const struct Origin *origin = NULL;
        bool computed = false;
        const uint64_t unset = find_bits(w, access, lane, first, bytes, &origin, &computed);
        if (!origin || !unset)
            continue;
        told = told ? told : origin;
        lanes |= 1u << lane;
        v->computed |= (uint32_t)computed << lane;
        v->partial |= unset != all ? 1u << lane : 0;
        v->bits[lane] = unset;
    }
    if (told) {
        v->read = told->read;
        v->what = told->what;
    }
    return lanes;
}

static uint32_t room_of(const struct Undefined *u)
{
    return (1u << u->index_bits) / PLACES;
}

// Where the index has a register, or would have it.
static uint32_t *indexed(const struct Undefined *u, const uint8_t *lanes)
{
    const uint32_t last = (1u << u->index_bits) - 1;
    uint32_t place = (uint32_t)((uint64_t)(uintptr_t)lanes * 0x9e3779b97f4a7c15 >> (64 - u->index_bits));
    while (u->index[place] && u->values[u->index[place] - 1].lanes != lanes)
        place = (place + 1) & last;
    return &u->index[place];
}

static Value *find(const Warp *w, const uint8_t *lanes)
{
    const uint32_t number = w->undefined ? *indexed(w->values, lanes) : 0;
    return number ? &w->values->values[number - 1] : NULL;
}

const Value *sim_find_value(const Warp *w, const uint8_t *lanes)
{
    return find(w, lanes);
}

// Twice as much room, or the first. The registers of all frames are the most that it comes to.
static void grow(Arena *arena, struct Undefined *u)
{
    const Value *before = u->values;
    u->index_bits = before ? u->index_bits + 1 : FIRST_BITS;
    u->values = sim_allocate(arena, room_of(u) * sizeof *u->values);
    u->index = sim_allocate(arena, sizeof *u->index << u->index_bits);
    for (uint32_t k = 0; k < u->count; k++) {
        u->values[k] = before[k];
        *indexed(u, before[k].lanes) = k + 1;
    }
}

// The value of a register, which may have had none.
static Value *find_or_add(Warp *w, const uint8_t *lanes)
{
    Arena *arena = &w->block->arena;
    if (!w->values)
        w->values = sim_allocate(arena, sizeof *w->values);
    struct Undefined *u = w->values;
    if (!u->values || u->count == room_of(u))
        grow(arena, u);
    uint32_t *const number = indexed(u, lanes);
    if (!*number) {
        *number = ++u->count;
        Value *v = &u->values[u->count - 1];
        *v = (Value){.lanes = lanes, .bits = v->bits}; // room that a block before has left
    }
    return &u->values[*number - 1];
}

void sim_count_undefined(Warp *w)
{
    w->undefined = w->values->held;
    for (int k = 0; k < BRANCHES; k++)
        w->undefined += w->values->branches[k].lanes != 0;
}

void sim_set_value(Warp *w, const uint8_t *lanes, uint32_t changed, uint32_t mask, const Value *origin)
{
    Value *v = mask ? find_or_add(w, lanes) : find(w, lanes);
    if (!v)
        return;
    const uint32_t before = v->mask;
    v->mask = (before & ~changed) | mask;
    v->partial = (v->partial & ~changed) | (mask & origin->partial);
    v->computed = (v->computed & ~changed) | (mask & origin->computed);
    if (mask & origin->partial && !v->bits)
        v->bits = sim_allocate(&w->block->arena, LANES * sizeof *v->bits);
    for (uint32_t rest = mask & origin->partial; rest; rest &= rest - 1)
        v->bits[__builtin_ctz(rest)] = origin->bits[__builtin_ctz(rest)];
    if (mask) {
        v->read = origin->read;
        v->load = origin->load;
        v->from = origin->from;
        v->exchanged = origin->exchanged;
        v->what = origin->what;
    }
    w->values->held += (v->mask != 0) - (before != 0);
    sim_count_undefined(w);
}

Undecided *sim_new_undecided(Warp *w)
{
    for (int k = 0; k < BRANCHES; k++)
        if (w->values->branches[k].lanes == 0)
            return &w->values->branches[k];
    return NULL;
}

Undecided *sim_undecided(const Warp *w, int k)
{
    return k < BRANCHES ? &w->values->branches[k] : NULL;
}

void sim_forget_values(Warp *w)
{
    struct Undefined *u = w->values;
    if (u->count > 0)
        memset(u->index, 0, sizeof *u->index << u->index_bits);
    w->undefined = u->held = u->count = 0;
    memset(u->branches, 0, sizeof u->branches);
}

bool sim_is_structures(const Warp *w, const Value *v, const Instr *store)
{
    Copy *copy = &w->values->copies[(uintptr_t)store / sizeof *store % COPIES];
    if (copy->load != v->load || copy->store != store)
        *copy = (Copy){v->load, store, sim_copies_structure(w->path->frame->function->program, v->load, store)};
    return copy->of_structure;
}

// ---- Of an operand

const Value *sim_value_of(const Warp *w, const Register *reg, uint32_t mask)
{
    const Value *v = reg ? sim_find_value(w, w->path->frame->lanes + reg->slot) : NULL;
    return v && v->mask & mask ? v : NULL;
}

const Value *sim_value_in(const Warp *w, const Operand *o, uint32_t mask, uint32_t *lanes)
{
    const Value *found = sim_value_of(w, o->reg, mask);
    *lanes |= found ? found->mask & mask : 0;
    for (int k = 0; k < o->count; k++) {
        const Value *v = sim_value_in(w, &o->elements[k], mask, lanes);
        found = found ? found : v;
    }
    return found;
}

uint32_t sim_lanes_unset(const Warp *w, const Operand *o, uint32_t mask)
{
    const Value *v = sim_value_of(w, o->reg, mask);
    uint32_t lanes = o->count ? mask : v ? v->mask & mask & ~v->partial : 0;
    for (int k = 0; k < o->count; k++)
        lanes &= sim_lanes_unset(w, &o->elements[k], mask);
    return lanes;
}

uint32_t sim_lanes_computed(const Warp *w, const Operand *o, uint32_t mask)
{
    const Value *v = sim_value_of(w, o->reg, mask);
    uint32_t lanes = v ? v->computed & v->mask : 0;
    for (int k = 0; k < o->count; k++)
        lanes |= sim_lanes_computed(w, &o->elements[k], mask);
    return lanes;
}
