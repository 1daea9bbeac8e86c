// decode.c: statements become instructions: a handler, and operands that are places in a frame.
//
// A frame holds, for each register of a function, the values of 32 lanes side by side. Constants
// and special registers have such places too, filled when the frame is made, so that an operand is
// always an offset. What this file does not know becomes an instruction that ends the launch.
#include "sim.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 12, LANE_ALIGNMENT = 64 };

struct Decoder {
    Module *module;
    Arena *arena;
    const Function *function;
    Program *program;
    int slot_space;
    uint32_t carry; // of add.cc and the like, or NOWHERE
};

typedef struct Opcode { // "ld.global.f32", at the dots
    Slice parts[MOST_PARTS];
    int count;
} Opcode;

static Opcode split(Slice opcode)
{
    Opcode o = {.count = 0};
    const char *at = opcode.text, *end = opcode.text + opcode.length;
    while (at < end && o.count < MOST_PARTS) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        const char *stop = dot ? dot : end;
        o.parts[o.count++] = (Slice){at, (size_t)(stop - at)};
        at = stop + 1;
    }
    if (at < end)
        o.count = 0; // more parts than any opcode has
    return o;
}

static bool has(const Opcode *o, const char *part)
{
    for (int k = 1; k < o->count; k++)
        if (sim_slice_is(o->parts[k], part))
            return true;
    return false;
}

// ---- Places in the frame

static uint32_t new_place(Decoder *d, uint32_t bytes, uint32_t alignment)
{
    Program *p = d->program;
    p->frame_bytes = (p->frame_bytes + alignment - 1) / alignment * alignment;
    const uint32_t place = p->frame_bytes;
    p->frame_bytes += bytes;
    return place;
}

static uint32_t slot(Decoder *d, int bytes, int special, uint64_t value)
{
    Program *p = d->program;
    for (int k = 0; k < p->slot_count; k++)
        if (p->slots[k].bytes == bytes && p->slots[k].special == special && p->slots[k].value == value)
            return p->slots[k].offset;
    if (p->slot_count == d->slot_space) {
        d->slot_space = d->slot_space ? 2 * d->slot_space : 32;
        Slot *grown = sim_allocate(d->arena, (size_t)d->slot_space * sizeof *grown);
        if (p->slot_count)
            memcpy(grown, p->slots, (size_t)p->slot_count * sizeof *grown);
        p->slots = grown;
    }
    const uint32_t offset = new_place(d, (uint32_t)bytes * LANES, LANE_ALIGNMENT);
    p->slots[p->slot_count++] = (Slot){offset, (uint8_t)bytes, special, value};
    return offset;
}

static uint32_t constant(Decoder *d, int bytes, uint64_t value)
{
    return slot(d, bytes, -1, bytes == 8 ? value : value & ((1ull << (8 * bytes)) - 1));
}

static const struct {
    const char *name;
    Special special;
    int bytes;
} SPECIAL_REGISTERS[] = {
    {"%tid.x", TID_X, 4}, {"%tid.y", TID_Y, 4}, {"%tid.z", TID_Z, 4},
    {"%ntid.x", NTID_X, 4}, {"%ntid.y", NTID_Y, 4}, {"%ntid.z", NTID_Z, 4},
    {"%ctaid.x", CTAID_X, 4}, {"%ctaid.y", CTAID_Y, 4}, {"%ctaid.z", CTAID_Z, 4},
    {"%nctaid.x", NCTAID_X, 4}, {"%nctaid.y", NCTAID_Y, 4}, {"%nctaid.z", NCTAID_Z, 4},
    {"%laneid", LANEID, 4}, {"%warpid", WARPID, 4}, {"%nwarpid", NWARPID, 4}, {"%smid", SMID, 4},
    {"%nsmid", NSMID, 4}, {"%gridid", GRIDID, 8}, {"%lanemask_eq", LANEMASK_EQ, 4},
    {"%lanemask_le", LANEMASK_LE, 4}, {"%lanemask_lt", LANEMASK_LT, 4}, {"%lanemask_ge", LANEMASK_GE, 4},
    {"%lanemask_gt", LANEMASK_GT, 4}, {"%clock", CLOCK, 4}, {"%clock_hi", CLOCK_HI, 4}, {"%clock64", CLOCK64, 8},
    {"%globaltimer", GLOBALTIMER, 8}, {"%globaltimer_lo", GLOBALTIMER_LO, 4}, {"%globaltimer_hi", GLOBALTIMER_HI, 4},
    {"%reserved_smem_offset_1", RESERVED_SHARED, 4}, {"%dynamic_smem_size", DYNAMIC_SMEM_SIZE, 4}, {"%total_smem_size", TOTAL_SMEM_SIZE, 4},
    {"%nclusterid.x", NCTAID_X, 4}, {"%nclusterid.y", NCTAID_Y, 4}, {"%nclusterid.z", NCTAID_Z, 4},
    {"%clusterid.x", CTAID_X, 4}, {"%clusterid.y", CTAID_Y, 4}, {"%clusterid.z", CTAID_Z, 4},
    {"%cluster_nctaid.x", CLUSTER_ONE, 4}, {"%cluster_nctaid.y", CLUSTER_ONE, 4},
    {"%cluster_nctaid.z", CLUSTER_ONE, 4}, {"%cluster_nctarank", CLUSTER_ONE, 4},
    {"%cluster_ctaid.x", CLUSTER_ZERO, 4}, {"%cluster_ctaid.y", CLUSTER_ZERO, 4},
    {"%cluster_ctaid.z", CLUSTER_ZERO, 4}, {"%cluster_ctarank", CLUSTER_ZERO, 4},
    {"%envreg1", GRID_WORKSPACE_HIGH, 4}, {"%envreg2", GRID_WORKSPACE_LOW, 4},
};

// Where a variable's addresses begin: a special register, and what to add to it.
static uint32_t base_of(Decoder *d, const Variable *v, int bytes)
{
    const bool formal = v->space == PARAM && d->function->entry && v->address < d->function->kernel_param_bytes;
    return v->dynamic ? slot(d, bytes, DYNAMIC_SHARED, 0)
           : v->space == LOCAL ? slot(d, bytes, LOCAL_BASE, 0)
           : formal            ? slot(d, bytes, PARAM_BASE, 0)
                               : NOWHERE;
}

static bool is_clock(Special special) // changes while the kernel runs
{
    return special >= CLOCK && special <= GLOBALTIMER_HI;
}

static int bytes_of_letter(char letter)
{
    switch (letter) {
    case 'c': return 1;
    case 'h': return 2;
    case 'l': case 'd': return 8;
    case 'q': return 16;
    default: return 4;
    }
}

static bool symbol_value(const Decoder *d, const Operand *o, uint64_t *value)
{
    if (o->variable) {
        if (o->variable->dynamic || o->variable->space == LOCAL || o->variable->space == PARAM)
            return false;
        *value = o->variable->address + (uint64_t)o->integer;
        return true;
    }
    const Function *f = sim_find_function(d->module, o->name);
    *value = (uint64_t)(uintptr_t)f;
    return f != NULL;
}

// The place of an operand that is read, of the type that a letter of Operation.types names.
// NOWHERE if it cannot be such an operand.
static uint32_t source(Decoder *d, const Operand *o, char letter)
{
    const int bytes = bytes_of_letter(letter);
    if (o->address)
        return NOWHERE;
    if (o->kind == IS_REGISTER) {
        const bool predicate = o->reg->type == PRED;
        return predicate == (letter == 'p') && (predicate || sim_type_bytes(o->reg->type) == bytes) ? o->reg->slot : NOWHERE;
    }
    if (letter == 'p' && o->kind == IS_INTEGER)
        return constant(d, 4, o->integer ? ALL_LANES : 0);
    if (letter == 'p' || letter == 'q')
        return NOWHERE;
    if (o->kind == IS_INTEGER || o->kind == IS_FLOAT) {
        const double real = o->kind == IS_FLOAT ? o->real : (double)o->integer;
        const float single = (float)real;
        uint64_t value = (uint64_t)o->integer;
        if ((letter == 'd' || (letter == 'l' && o->kind == IS_FLOAT)) && (o->single || o->kind == IS_INTEGER))
            memcpy(&value, &real, sizeof real);
        if ((letter == 'f' || (letter == 'i' && o->kind == IS_FLOAT)) && !o->single) {
            uint32_t bits;
            memcpy(&bits, &single, sizeof bits);
            value = bits;
        }
        return constant(d, bytes, value);
    }
    if (o->kind != IS_SYMBOL)
        return NOWHERE;
    for (size_t k = 0; k < sizeof SPECIAL_REGISTERS / sizeof *SPECIAL_REGISTERS; k++)
        if (sim_slice_is(o->name, SPECIAL_REGISTERS[k].name)) {
            const bool fits = SPECIAL_REGISTERS[k].bytes == bytes && !is_clock(SPECIAL_REGISTERS[k].special);
            d->module->uses_reserved_shared |= SPECIAL_REGISTERS[k].special == RESERVED_SHARED;
            return fits ? slot(d, bytes, (int)SPECIAL_REGISTERS[k].special, 0) : NOWHERE;
        }
    if (o->name.length > 7 && memcmp(o->name.text, "%envreg", 7) == 0)
        return constant(d, bytes, 0); // the driver's
    if (sim_slice_is(o->name, "WARP_SZ"))
        return constant(d, bytes, LANES);
    uint64_t value;
    return symbol_value(d, o, &value) ? constant(d, bytes, value) : NOWHERE;
}

static uint32_t destination(const Operand *o, char letter)
{
    const bool predicate = letter == 'p';
    if (o->kind != IS_REGISTER || o->address || o->negated || (o->reg->type == PRED) != predicate ||
        (!predicate && sim_type_bytes(o->reg->type) != bytes_of_letter(letter)))
        return NOWHERE;
    return o->reg->slot;
}

uint32_t sim_source(Decoder *d, const Operand *o, char letter)
{
    return source(d, o, letter);
}

uint32_t sim_destination(const Operand *o, char letter)
{
    return destination(o, letter);
}

// ---- Kinds of statements. Each function returns false for what it does not know.

static bool plain_operands(Decoder *d, const Statement *s, Instr *i, const char *types)
{
    uint32_t *const fields[] = {&i->d, &i->a, &i->b, &i->c};
    int k = 0;
    for (; types[k] && types[k] != '+' && types[k] != '4'; k++) {
        if (k >= s->count)
            return false;
        const Operand *o = &s->operands[k];
        *fields[k] = k == 0 ? destination(o, types[0]) : source(d, o, types[k]);
        if (k == 0 && types[0] == 'p') {
            i->second = o->second ? o->second->slot : NOWHERE;
            if (o->kind == IS_SINK && o->second)
                continue;
        }
        if (*fields[k] == NOWHERE)
            return false;
        if (o->negated && !(types[k] == 'p' && k == 3)) // !p is an operand of selp only, last
            return false;
        if (o->negated)
            i->flags |= COMBINE_NEGATED;
    }
    if (types[k] == '4') {
        if (k >= s->count)
            return false;
        i->second = source(d, &s->operands[k++], 'i');
        return i->second != NOWHERE && k == s->count;
    }
    if (types[k] == '+') {
        if (d->carry == NOWHERE)
            d->carry = new_place(d, 4 * LANES, LANE_ALIGNMENT);
        i->second = d->carry;
    }
    return k == s->count;
}

// setp.lt.and.f32 p|q, a, b, c: the table knows setp.lt.f32; the third part and c are combined.
static bool decode_setp(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const NAMES[] = {"and", "or", "xor"};
    char name[64];
    size_t length = 0;
    for (int k = 0; k < o->count; k++) {
        bool combines = false;
        for (uint8_t op = 0; op < 3 && k == 2; op++)
            if (sim_slice_is(o->parts[k], NAMES[op])) {
                combines = true;
                i->flags |= COMBINE;
                i->op = op;
            }
        if (combines)
            continue;
        if (length + o->parts[k].length + 1 >= sizeof name)
            return false;
        if (k)
            name[length++] = '.';
        memcpy(name + length, o->parts[k].text, o->parts[k].length);
        length += o->parts[k].length;
    }
    const Slice opcode = {name, length};
    const uint8_t op = i->op, flags = i->flags;
    const Operation *known = sim_alu_operation(opcode);
    const char *types = known ? known->types : sim_float_operation(opcode, i);
    if (!types)
        return false;
    if (known)
        i->run = known->run;
    i->op = op;
    i->flags |= flags;
    if (i->flags & COMBINE) {
        if (s->count != 4)
            return false;
        i->c = source(d, &s->operands[3], 'p');
        i->flags |= s->operands[3].negated ? COMBINE_NEGATED : 0;
        if (i->c == NOWHERE)
            return false;
    }
    Statement without = *s;
    without.count = s->count - (i->flags & COMBINE ? 1 : 0);
    return plain_operands(d, &without, i, types);
}

// The parts of a register, from the low bits on, become one, and the other way round.
static void pack(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t whole[16];
        for (int k = 0; k < i->count; k++)
            memcpy(whole + k * i->bytes, w->lanes + i->list[k] + l * i->bytes, i->bytes);
        memcpy(w->lanes + i->d + l * i->count * i->bytes, whole, (size_t)i->count * i->bytes);
    }
}

static void unpack(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->count == 2 && i->bytes == 4) { // the most frequent: a float2
        const uint32_t(*pairs)[2] = (const uint32_t(*)[2])(w->lanes + i->a);
        for (int k = 0; k < 2; k++) {
            uint32_t *part = (uint32_t *)(w->lanes + i->list[k]);
            for (int l = 0; l < LANES && i->list[k] != NOWHERE; l++)
                part[l] = pairs[l][k];
        }
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t whole[16];
        memcpy(whole, w->lanes + i->a + l * i->count * i->bytes, (size_t)i->count * i->bytes);
        for (int k = 0; k < i->count; k++)
            if (i->list[k] != NOWHERE)
                memcpy(w->lanes + i->list[k] + l * i->bytes, whole + k * i->bytes, i->bytes);
    }
}

static char letter_of_bytes(int bytes)
{
    return bytes == 1 ? 'c' : bytes == 2 ? 'h' : bytes == 4 ? 'i' : bytes == 8 ? 'l' : 'q';
}

// The places of a vector's elements; `_` is NOWHERE where that is allowed.
static bool vector_places(Decoder *d, const Operand *o, Instr *i, int bytes, bool written)
{
    if (o->kind != IS_VECTOR || o->count < 1 || o->count > MAX_VECTOR)
        return false;
    i->count = (uint8_t)o->count;
    i->list = sim_allocate(d->arena, (size_t)o->count * sizeof *i->list);
    for (int k = 0; k < o->count; k++) {
        const Operand *element = &o->elements[k];
        i->list[k] = written ? destination(element, letter_of_bytes(bytes)) : source(d, element, letter_of_bytes(bytes));
        if (i->list[k] == NOWHERE && !(written && element->kind == IS_SINK))
            return false;
    }
    return true;
}

static bool decode_mov(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count != 2)
        return false;
    const Type type = sim_type_named(o->parts[o->count - 1]);
    const Operand *to = &s->operands[0], *from = &s->operands[1];
    const int bytes = sim_type_bytes(type);
    if (from->kind == IS_VECTOR || to->kind == IS_VECTOR) {
        const Operand *vector = from->kind == IS_VECTOR ? from : to, *whole = vector == from ? to : from;
        if (vector->count == 0 || bytes % vector->count || whole->kind != IS_REGISTER ||
            sim_type_bytes(whole->reg->type) != bytes || bytes > 16)
            return false;
        i->bytes = (uint8_t)(bytes / vector->count);
        i->d = i->a = whole->reg->slot;
        i->run = vector == from ? pack : unpack;
        return vector_places(d, vector, i, i->bytes, vector == to);
    }
    for (size_t k = 0; k < sizeof SPECIAL_REGISTERS / sizeof *SPECIAL_REGISTERS && from->kind == IS_SYMBOL; k++)
        if (is_clock(SPECIAL_REGISTERS[k].special) && sim_slice_is(from->name, SPECIAL_REGISTERS[k].name)) {
            i->run = sim_read_clock;
            i->bytes = (uint8_t)SPECIAL_REGISTERS[k].bytes;
            i->op = SPECIAL_REGISTERS[k].special == CLOCK_HI || SPECIAL_REGISTERS[k].special == GLOBALTIMER_HI;
            i->d = destination(to, letter_of_bytes(i->bytes));
            return i->d != NOWHERE;
        }
    const Variable *v = from->kind == IS_SYMBOL ? from->variable : NULL;
    const uint32_t base = v ? base_of(d, v, bytes) : NOWHERE;
    if (base != NOWHERE) { // an address that differs between blocks or calls
        const Operation *add = sim_alu_operation(bytes == 8 ? (Slice){"add.u64", 7} : (Slice){"add.u32", 7});
        const uint64_t offset = (v->dynamic ? 0 : v->address) + (uint64_t)from->integer;
        i->run = add->run;
        i->d = destination(to, bytes == 8 ? 'l' : 'i');
        i->a = base;
        i->b = constant(d, bytes, offset);
        return i->d != NOWHERE;
    }
    const Operation *known = sim_alu_operation(s->opcode);
    if (!known)
        return false;
    i->run = known->run;
    return plain_operands(d, s, i, known->types);
}

// ---- Memory

static Space space_of(const Opcode *o)
{
    return has(o, "global")                           ? GLOBAL
           : has(o, "shared") || has(o, "shared::cta") ? SHARED
           : has(o, "local")                          ? LOCAL
           : has(o, "const")                          ? CONST
           : has(o, "param") || has(o, "param::entry") || has(o, "param::func") ? PARAM
                                                      : GENERIC;
}

static void ask_for(Decoder *d, Order order)
{
    if (d->program->order < order)
        d->program->order = order;
}

// [register + offset], [symbol + offset] or [number]
static bool decode_address(Decoder *d, const Operand *o, Instr *i)
{
    if (!o->address || o->count)
        return false;
    i->offset = o->integer;
    i->a = NOWHERE;
    if (o->kind == IS_REGISTER) {
        i->base_bytes = (uint8_t)sim_type_bytes(o->reg->type);
        i->a = o->reg->slot;
        return o->reg->type != PRED && i->base_bytes >= 4 && i->base_bytes <= 8;
    }
    if (o->kind == IS_INTEGER)
        return true;
    if (o->kind != IS_SYMBOL || !o->variable)
        return false;
    i->base_bytes = 8;
    i->a = base_of(d, o->variable, 8);
    i->offset += o->variable->dynamic ? 0 : (int64_t)o->variable->address;
    if (i->space == GENERIC && (o->variable->space == SHARED || o->variable->space == LOCAL))
        i->space = (uint8_t)o->variable->space;
    return true;
}

// How an access of memory is ordered among others, and for which threads; `usual` where the opcode says nothing.
static void decode_semantics(const Opcode *o, Instr *i, Semantics usual)
{
    i->semantics = (uint8_t)(has(o, "volatile")   ? VOLATILE
                             : has(o, "acquire") ? ACQUIRE
                             : has(o, "release") ? RELEASE
                             : has(o, "acq_rel") ? ACQUIRE_RELEASE
                             : has(o, "relaxed") ? RELAXED
                                                 : usual);
    i->scope = (uint8_t)(i->semantics == WEAK       ? NO_SCOPE
                         : has(o, "cta")            ? BLOCK_SCOPE
                         : has(o, "cluster")        ? CLUSTER_SCOPE
                         : i->semantics == VOLATILE || has(o, "sys") ? SYSTEM_SCOPE
                                                    : DEVICE_SCOPE);
}

static bool known_access_parts(const Opcode *o)
{
    static const char *const KNOWN[] = {
        "global", "shared", "shared::cta", "local", "const", "param", "param::entry", "param::func", "v2", "v4", "v8",
        "volatile", "relaxed", "acquire", "release", "weak", "cta", "gpu", "sys", "cluster", "nc", "ca", "cg", "cs", "cv",
        "lu", "wb", "wt", "unified", "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
        "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B"};
    for (int k = 1; k + 1 < o->count; k++) {
        bool known = false;
        for (size_t n = 0; n < sizeof KNOWN / sizeof *KNOWN && !known; n++)
            known = sim_slice_is(o->parts[k], KNOWN[n]);
        if (!known)
            return false;
    }
    return true;
}

// The registers and constants that are loaded or stored. Registers may be wider than the elements in memory, but all
// are alike, and constants get places as wide.
static bool access_elements(Decoder *d, const Operand *elements, int count, Type type, bool load, Instr *i)
{
    i->count = (uint8_t)count;
    i->list = sim_allocate(d->arena, (size_t)count * sizeof *i->list);
    i->register_bytes = i->bytes;
    for (int k = count - 1; k >= 0; k--)
        if (elements[k].kind == IS_REGISTER)
            i->register_bytes = (uint8_t)sim_type_bytes(elements[k].reg->type);
    const char letter = type == F32 && i->register_bytes == 4   ? 'f'
                        : type == F64 && i->register_bytes == 8 ? 'd'
                                                                : letter_of_bytes(i->register_bytes);
    for (int k = 0; k < count; k++) {
        const bool sink = load && elements[k].kind == IS_SINK;
        i->list[k] = sink ? NOWHERE : load ? destination(&elements[k], letter) : source(d, &elements[k], letter);
        if (i->list[k] == NOWHERE && !sink)
            return false;
    }
    return i->register_bytes >= i->bytes;
}

static bool decode_access(Decoder *d, const Statement *s, const Opcode *o, Instr *i, bool load)
{
    const Type type = o->count > 1 ? sim_type_named(o->parts[o->count - 1]) : NO_TYPE;
    if (s->count != 2 || type == NO_TYPE || type == PRED || !known_access_parts(o))
        return false;
    const Operand *address = &s->operands[load ? 1 : 0], *value = &s->operands[load ? 0 : 1];
    i->bytes = (uint8_t)sim_type_bytes(type);
    i->space = (uint8_t)space_of(o);
    i->flags = type == S8 || type == S16 || type == S32 ? SIGNED_VALUE : 0;
    decode_semantics(o, i, WEAK);
    if (!decode_address(d, address, i))
        return false;
    const int wanted = has(o, "v2") ? 2 : has(o, "v4") ? 4 : has(o, "v8") ? 8 : 1;
    const bool vector = value->kind == IS_VECTOR;
    if (wanted != (vector ? value->count : 1) || wanted * i->bytes > 32 ||
        !access_elements(d, vector ? value->elements : value, wanted, type, load, i))
        return false;
    const Variable *v = address->kind == IS_SYMBOL ? address->variable : NULL;
    const bool formal = v && v->space == PARAM;
    i->run = load ? sim_load : sim_store;
    if (i->space == PARAM && !formal && address->kind != IS_REGISTER)
        return false;
    if (formal && d->function->entry && v->address < d->function->kernel_param_bytes) {
        i->run = sim_load_kernel_param;
        return load;
    }
    if (formal)
        i->run = load ? sim_load_argument : sim_store_argument;
    const bool outside = i->space == GLOBAL || i->space == GENERIC;
    if (outside && i->semantics != WEAK) {
        i->flags |= ASKS_OTHERS;
        ask_for(d, IN_TURN);
    }
    return true;
}

static const char *const ATOMICS[] = // in the order of ATOMIC_ADD and so on
    {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};

static bool decode_atomic(Decoder *d, const Statement *s, const Opcode *o, Instr *i, bool returns)
{
    static const char *const KNOWN[] = {"global", "shared", "shared::cta", "relaxed", "acquire", "release", "acq_rel",
                                        "cta", "gpu", "sys", "cluster", "noftz"};
    const Type type = sim_type_named(o->parts[o->count - 1]);
    int operation = -1;
    for (int k = 1; k + 1 < o->count; k++) {
        bool known = false;
        for (int n = 0; n < (int)(sizeof ATOMICS / sizeof *ATOMICS); n++)
            if (sim_slice_is(o->parts[k], ATOMICS[n])) {
                operation = n;
                known = true;
            }
        for (size_t n = 0; n < sizeof KNOWN / sizeof *KNOWN; n++)
            known |= sim_slice_is(o->parts[k], KNOWN[n]);
        if (!known)
            return false;
    }
    const int first = returns ? 1 : 0, values = operation == ATOMIC_CAS ? 2 : 1;
    if (operation < 0 || type == NO_TYPE || type == PRED || sim_type_bytes(type) < 2 || sim_type_bytes(type) > 8 ||
        s->count != first + 1 + values)
        return false;
    const char letter = type == F32 ? 'f' : type == F64 ? 'd' : letter_of_bytes(sim_type_bytes(type));
    i->op = (uint8_t)operation;
    i->type = (uint8_t)type;
    i->bytes = (uint8_t)sim_type_bytes(type);
    i->count = 1;
    i->space = (uint8_t)space_of(o);
    i->run = sim_atomic;
    decode_semantics(o, i, RELAXED);
    i->d = NOWHERE;
    if (returns && s->operands[0].kind != IS_SINK && (i->d = destination(&s->operands[0], letter)) == NOWHERE)
        return false;
    if (!decode_address(d, &s->operands[first], i))
        return false;
    i->b = source(d, &s->operands[first + 1], letter);
    i->c = values == 2 ? source(d, &s->operands[first + 2], letter) : i->b;
    if (i->space != SHARED)
        ask_for(d, IN_TURN);
    return i->b != NOWHERE && i->c != NOWHERE;
}

// cvta.shared.u64 makes a generic address, cvta.to.shared.u64 one of the space.
static bool decode_cvta(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const Space space = space_of(o);
    const uint64_t window = space == SHARED ? SHARED_WINDOW : space == LOCAL ? LOCAL_WINDOW : 0;
    if (s->count != 2 || !sim_slice_is(o->parts[o->count - 1], "u64") || space == GENERIC)
        return false;
    const Variable *v = s->operands[1].kind == IS_SYMBOL ? s->operands[1].variable : NULL;
    const uint32_t base = v ? base_of(d, v, 8) : NOWHERE;
    uint64_t added = has(o, "to") ? 0 - window : window;
    if (base != NOWHERE)
        added += (v->dynamic ? 0 : v->address) + (uint64_t)s->operands[1].integer;
    i->run = sim_alu_operation((Slice){"add.u64", 7})->run;
    i->d = destination(&s->operands[0], 'l');
    i->a = base != NOWHERE ? base : source(d, &s->operands[1], 'l');
    i->b = constant(d, 8, added);
    return i->d != NOWHERE && i->a != NOWHERE;
}

static bool decode_isspacep(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count != 2 || o->count != 2)
        return false;
    i->space = (uint8_t)(has(o, "shared::cluster") ? SHARED : space_of(o)); // a block is a cluster
    i->run = sim_is_space;
    i->d = destination(&s->operands[0], 'p');
    i->a = source(d, &s->operands[1], 'l');
    return i->space != GENERIC && i->d != NOWHERE && i->a != NOWHERE;
}

// One operand in brackets of an instruction that has several.
static bool decode_operand_address(Decoder *d, const Operand *o, Space space, Address *address)
{
    Instr one = {.space = (uint8_t)space};
    if (!decode_address(d, o, &one))
        return false;
    *address = (Address){one.a, one.base_bytes, one.space, one.offset};
    return true;
}

static bool known_mbarrier_parts(const Opcode *o, int first)
{
    static const char *const KNOWN[] = {"shared", "shared::cta", "acquire", "release", "relaxed", "cta", "cluster"};
    for (int k = first; k + 1 < o->count; k++) {
        bool known = false;
        for (size_t n = 0; n < sizeof KNOWN / sizeof *KNOWN && !known; n++)
            known = sim_slice_is(o->parts[k], KNOWN[n]);
        if (!known)
            return false;
    }
    return first < o->count && sim_slice_is(o->parts[o->count - 1], "b64");
}

static const struct MbarrierOperation {
    const char *name, *second; // the parts behind "mbarrier."
    Handler *run;
    char result; // letter of the destination, or 0
    const char *sources; // letters of the operands behind the address
    int required;        // of these
} MBARRIER_OPERATIONS[] = {
    {"init", NULL, sim_mbarrier_init, 0, "i", 1},
    {"inval", NULL, sim_mbarrier_inval, 0, "", 0},
    {"arrive", NULL, sim_mbarrier_arrive, 'l', "i", 0},
    {"arrive", "expect_tx", sim_mbarrier_arrive, 'l', "i", 1},
    {"expect_tx", NULL, sim_mbarrier_arrive, 0, "i", 1},
    {"test_wait", NULL, sim_mbarrier_test, 'p', "l", 1},
    {"test_wait", "parity", sim_mbarrier_test, 'p', "i", 1},
    {"try_wait", NULL, sim_mbarrier_test, 'p', "li", 1},
    {"try_wait", "parity", sim_mbarrier_test, 'p', "ii", 1},
};

static const struct MbarrierOperation *mbarrier_operation(const Opcode *o)
{
    for (size_t n = 0; n < sizeof MBARRIER_OPERATIONS / sizeof *MBARRIER_OPERATIONS; n++) {
        const struct MbarrierOperation *known = &MBARRIER_OPERATIONS[n];
        const bool fits = o->count > 2 && sim_slice_is(o->parts[1], known->name) &&
                          (!known->second || sim_slice_is(o->parts[2], known->second));
        if (fits && known_mbarrier_parts(o, known->second ? 3 : 2))
            return known;
    }
    return NULL;
}

// mbarrier.arrive.b64 state, [address]{, count} and the like; the hint of a try_wait is not needed.
static bool decode_mbarrier(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const struct MbarrierOperation *known = mbarrier_operation(o);
    const int first = known && known->result ? 1 : 0; // where the address is
    if (!known || s->count <= first + known->required || s->count > first + 1 + (int)strlen(known->sources))
        return false;
    Address *address = sim_allocate(d->arena, sizeof *address);
    uint32_t given[2] = {NOWHERE, NOWHERE};
    for (int k = 0; k < s->count - first - 1; k++)
        if ((given[k] = source(d, &s->operands[first + 1 + k], known->sources[k])) == NOWHERE)
            return false;
    const bool sink = known->result == 'l' && s->operands[0].kind == IS_SINK;
    i->d = known->result && !sink ? destination(&s->operands[0], known->result) : NOWHERE;
    i->run = known->run;
    i->control = known->run == sim_mbarrier_test ? PHASE_TEST : PLAIN;
    i->bytes = known->sources[0] == 'l' ? 8 : 4;
    i->b = given[0];
    if (known->run == sim_mbarrier_arrive) {
        const bool expects = has(o, "expect_tx"), arrives = known->result;
        i->b = expects || given[0] == NOWHERE ? constant(d, 4, arrives) : given[0];
        i->c = expects ? given[0] : constant(d, 4, 0);
    }
    i->addresses = address;
    return (i->d != NOWHERE || sink || !known->result) &&
           decode_operand_address(d, &s->operands[first], space_of(o), address);
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [to], [from], bytes, [mbarrier]{, policy} and
// cp.async.bulk.global.shared::cta.bulk_group [to], [from], bytes{, policy}: done at once; a block is a cluster.
static bool decode_bulk_copy(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (o->count > 3 && sim_slice_is(o->parts[3], "commit_group"))
        return o->count == 4 && s->count == 0;
    if (o->count > 3 && sim_slice_is(o->parts[3], "wait_group"))
        return (o->count == 4 || (o->count == 5 && sim_slice_is(o->parts[4], "read"))) && s->count == 1;
    const int policy = sim_slice_is(o->parts[o->count - 1], "L2::cache_hint");
    if (o->count != 6 + policy)
        return false;
    const Slice to = o->parts[3], from = o->parts[4], end = o->parts[5];
    const bool load = (sim_slice_is(to, "shared::cluster") || sim_slice_is(to, "shared::cta")) &&
                      sim_slice_is(from, "global") && sim_slice_is(end, "mbarrier::complete_tx::bytes");
    const bool store = sim_slice_is(to, "global") && sim_slice_is(from, "shared::cta") &&
                       sim_slice_is(end, "bulk_group");
    if ((!load && !store) || s->count != 3 + load + policy ||
        (policy && source(d, &s->operands[s->count - 1], 'l') == NOWHERE))
        return false;
    Address *addresses = sim_allocate(d->arena, 3 * sizeof *addresses);
    i->run = sim_copy_bulk;
    i->c = source(d, &s->operands[2], 'i');
    i->addresses = addresses;
    return i->c != NOWHERE && decode_operand_address(d, &s->operands[0], load ? SHARED : GLOBAL, &addresses[0]) &&
           decode_operand_address(d, &s->operands[1], load ? GLOBAL : SHARED, &addresses[1]) &&
           (store || decode_operand_address(d, &s->operands[3], SHARED, &addresses[2]));
}

// cp.async.mbarrier.arrive{.noinc}.shared.b64 [address]. Without noinc the barrier awaits one arrival more, which is this one.
static bool decode_arrival_after_copies(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    Address *address = sim_allocate(d->arena, sizeof *address);
    const bool counts = o->count > 4 && sim_slice_is(o->parts[4], "noinc");
    const int last = o->count - 1, space = counts ? 5 : 4;
    if (o->count < 5 || !sim_slice_is(o->parts[3], "arrive") || !sim_slice_is(o->parts[last], "b64") || s->count != 1 ||
        (last != space && !(last == space + 1 && space_of(o) == SHARED)))
        return false;
    i->run = sim_arrive_after_copies;
    i->d = NOWHERE;
    i->b = constant(d, 4, counts);
    i->c = constant(d, 4, 0);
    i->addresses = address;
    return decode_operand_address(d, &s->operands[0], space_of(o), address);
}

// cp.async.commit_group, cp.async.wait_group n, cp.async.wait_all
static bool decode_wait_for_copies(const Statement *s, const Opcode *o, Instr *i)
{
    const bool counts = sim_slice_is(o->parts[2], "wait_group");
    i->run = counts ? sim_await_copies : sim_slice_is(o->parts[2], "wait_all") ? sim_await_all_copies : sim_commit_copies;
    i->offset = counts && s->count == 1 ? s->operands[0].integer : 0;
    return o->count == 3 && s->count == counts && i->offset >= 0 && (!counts || s->operands[0].kind == IS_INTEGER);
}

// cp.async.ca.shared.global [to], [from], bytes: done when it is waited for.
static bool decode_cp(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (o->count < 3 || !sim_slice_is(o->parts[1], "async"))
        return false;
    if (sim_slice_is(o->parts[2], "commit_group") || sim_slice_is(o->parts[2], "wait_group") ||
        sim_slice_is(o->parts[2], "wait_all"))
        return decode_wait_for_copies(s, o, i);
    if (sim_slice_is(o->parts[2], "mbarrier"))
        return decode_arrival_after_copies(d, s, o, i);
    if (sim_slice_is(o->parts[2], "bulk"))
        return decode_bulk_copy(d, s, o, i);
    if ((!sim_slice_is(o->parts[2], "ca") && !sim_slice_is(o->parts[2], "cg")) || s->count < 3 || s->count > 4 ||
        s->operands[2].kind != IS_INTEGER)
        return false;
    const int64_t bytes = s->operands[2].integer;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return false;
    i->run = sim_copy_async;
    i->bytes = (uint8_t)bytes;
    i->count = 1;
    i->c = s->count == 4 ? source(d, &s->operands[3], 'i') : constant(d, 4, (uint64_t)bytes);
    Address *addresses = sim_allocate(d->arena, 2 * sizeof *addresses);
    i->addresses = addresses;
    return i->c != NOWHERE && decode_operand_address(d, &s->operands[0], SHARED, &addresses[0]) &&
           decode_operand_address(d, &s->operands[1], GLOBAL, &addresses[1]);
}

// A block's accesses, and those of the copy engine for it, are done in the order in which they are issued, so that a
// fence has nothing to do; one that is wider than the block tells that blocks talk to each other.
static bool decode_fence(Decoder *d, const Statement *s, const Opcode *o)
{
    if (has(o, "proxy"))
        return (has(o, "async") || has(o, "async::generic")) && s->count == 0;
    if (!has(o, "cta") && !has(o, "mbarrier_init"))
        ask_for(d, IN_TURN);
    return s->count == 0;
}

// ---- Control

static bool decode_branch(Decoder *d, const Statement *s, Instr *i)
{
    if (s->count != 1 || s->operands[0].kind != IS_LABEL)
        return false;
    i->control = BRANCH;
    i->target = s->operands[0].label;
    return i->target <= d->function->count;
}

// brx.idx %r, table, where "table: .branchtargets a, b, c;" is a statement.
static bool decode_indexed_branch(Decoder *d, const Statement *s, Instr *i)
{
    if (s->count != 2 || s->operands[1].kind != IS_LABEL || s->operands[1].label >= d->function->count)
        return false;
    const Statement *table = &d->function->statements[s->operands[1].label];
    if (!sim_slice_is(table->opcode, ".branchtargets") || table->operands[0].count == 0)
        return false;
    const Operand *targets = &table->operands[0];
    i->control = BRANCH_INDEXED;
    i->a = source(d, &s->operands[0], 'i');
    i->offset = targets->count;
    i->list = sim_allocate(d->arena, (size_t)targets->count * sizeof *i->list);
    for (int k = 0; k < targets->count; k++) {
        if (targets->elements[k].kind != IS_LABEL)
            return false;
        i->list[k] = targets->elements[k].label;
    }
    return i->a != NOWHERE;
}

static bool parameter_offsets(Decoder *d, const Operand *list, uint32_t **offsets, int *count)
{
    *count = list->count;
    *offsets = sim_allocate(d->arena, ((size_t)list->count + 1) * sizeof **offsets);
    for (int k = 0; k < list->count; k++) {
        const Variable *v = list->elements[k].variable;
        if (!v || v->space != PARAM)
            return false;
        (*offsets)[k] = (uint32_t)v->address;
    }
    return true;
}

static bool decode_call(Decoder *d, const Statement *s, Instr *i)
{
    CallSite *call = sim_allocate(d->arena, sizeof *call);
    int k = 0;
    if (s->count > 0 && s->operands[0].kind == IS_VECTOR &&
        !parameter_offsets(d, &s->operands[k++], &call->results, &call->result_count))
        return false;
    if (k >= s->count)
        return false;
    const Operand *callee = &s->operands[k++];
    if (k < s->count && s->operands[k].kind == IS_VECTOR &&
        !parameter_offsets(d, &s->operands[k++], &call->arguments, &call->argument_count))
        return false;
    d->program->calls = true;
    i->call = call;
    i->control = CALL;
    if (callee->kind == IS_REGISTER) {
        i->a = source(d, callee, 'l');
        return i->a != NOWHERE;
    }
    call->callee = callee->kind == IS_SYMBOL ? sim_find_function(d->module, callee->name) : NULL;
    if (!call->callee)
        return false;
    if (call->callee->defined)
        return true;
    static const struct {
        const char *name;
        Handler *run;
        int arguments, results;
    } BUILT_IN[] = {
        {"vprintf", sim_print, 2, 0}, {"__assertfail", sim_fail_assertion, 4, 0}, {"malloc", sim_malloc, 1, 1}, {"free", sim_free, 1, 0}};
    i->control = PLAIN;
    ask_for(d, ONE_BY_ONE);
    for (size_t n = 0; n < sizeof BUILT_IN / sizeof *BUILT_IN; n++)
        if (sim_slice_is(callee->name, BUILT_IN[n].name)) {
            i->run = BUILT_IN[n].run;
            i->control = i->run == sim_fail_assertion ? EXIT : PLAIN;
            const size_t bytes = i->run == sim_malloc ? sizeof(void *) : sizeof(int); // of a result
            return call->argument_count >= BUILT_IN[n].arguments && call->result_count >= BUILT_IN[n].results &&
                   (call->result_count == 0 || call->results[0] + bytes <= d->function->param_bytes);
        }
    return false;
}

// bar.sync a{, b}; bar.arrive a, b; bar.red.popc.u32 d, a{, b}, p
static bool decode_barrier(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (sim_slice_is(o->parts[0], "bar") && has(o, "warp")) {
        if (s->count != 1)
            return false;
        i->control = WARP_BARRIER;
        i->list = sim_allocate(d->arena, sizeof *i->list);
        i->list[0] = source(d, &s->operands[0], 'i');
        return i->list[0] != NOWHERE;
    }
    if (has(o, "cluster"))
        return false;
    i->control = BLOCK_BARRIER;
    i->op = has(o, "sync") ? BAR_SYNC : has(o, "arrive") ? BAR_ARRIVE : has(o, "popc") ? BAR_POPC
            : has(o, "and")                                            ? BAR_AND
                                                                       : BAR_OR;
    const bool reduces = has(o, "red");
    if (!reduces && !has(o, "sync") && !has(o, "arrive"))
        return false;
    int k = 0;
    i->d = i->b = i->c = NOWHERE;
    if (reduces && (s->count < 3 || (i->d = destination(&s->operands[k++], i->op == BAR_POPC ? 'i' : 'p')) == NOWHERE))
        return false;
    if (k >= s->count || (i->a = source(d, &s->operands[k++], 'i')) == NOWHERE)
        return false;
    if (k < s->count - (reduces ? 1 : 0) && (i->b = source(d, &s->operands[k++], 'i')) == NOWHERE)
        return false;
    if (reduces) {
        i->flags = s->operands[k].negated ? COMBINE_NEGATED : 0;
        if ((i->c = source(d, &s->operands[k++], 'p')) == NOWHERE)
            return false;
    }
    return k == s->count;
}

// ---- Between the lanes of a warp. list[0]: the lanes that take part.

static bool takes_part(Decoder *d, const Operand *mask, Instr *i)
{
    i->control = GATHER;
    i->list = sim_allocate(d->arena, sizeof *i->list);
    i->list[0] = source(d, mask, 'i');
    return i->list[0] != NOWHERE;
}

static bool decode_shuffle(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const MODES[] = {"up", "down", "bfly", "idx"};
    if (o->count != 4 || !sim_slice_is(o->parts[1], "sync") || s->count != 5)
        return false;
    for (i->op = 0; i->op < 4 && !sim_slice_is(o->parts[2], MODES[i->op]); i->op++)
        ;
    i->run = sim_shuffle;
    i->d = destination(&s->operands[0], 'i');
    i->second = s->operands[0].second ? s->operands[0].second->slot : NOWHERE;
    i->a = source(d, &s->operands[1], 'i');
    i->b = source(d, &s->operands[2], 'i');
    i->c = source(d, &s->operands[3], 'i');
    return i->op < 4 && i->d != NOWHERE && i->a != NOWHERE && i->b != NOWHERE && i->c != NOWHERE &&
           takes_part(d, &s->operands[4], i);
}

static bool decode_vote(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const MODES[] = {"all", "any", "uni", "ballot"};
    if (o->count != 4 || !has(o, "sync") || s->count != 3)
        return false; // vote.sync.all.pred; also vote.all.sync.pred, as CUB writes it
    for (i->op = 0; i->op < 4 && !has(o, MODES[i->op]); i->op++)
        ;
    i->run = sim_vote;
    i->d = destination(&s->operands[0], i->op == VOTE_BALLOT ? 'i' : 'p');
    i->a = source(d, &s->operands[1], 'p');
    i->flags = s->operands[1].negated ? COMBINE_NEGATED : 0;
    return i->op < 4 && i->d != NOWHERE && i->a != NOWHERE && takes_part(d, &s->operands[2], i);
}

static bool decode_match(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (o->count != 4 || s->count != 3)
        return false;
    i->op = has(o, "all");
    i->bytes = (uint8_t)sim_type_bytes(sim_type_named(o->parts[3]));
    i->run = sim_match;
    i->d = destination(&s->operands[0], 'i');
    i->second = s->operands[0].second ? s->operands[0].second->slot : NOWHERE;
    i->a = source(d, &s->operands[1], letter_of_bytes(i->bytes));
    return (has(o, "all") || has(o, "any")) && i->bytes >= 4 && i->d != NOWHERE && i->a != NOWHERE &&
           takes_part(d, &s->operands[2], i);
}

static bool decode_redux(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const MODES[] = {"add", "min", "max", "and", "or", "xor"};
    if (o->count != 4 || s->count != 3)
        return false;
    for (i->op = 0; i->op < 6 && !sim_slice_is(o->parts[2], MODES[i->op]); i->op++)
        ;
    i->type = (uint8_t)sim_type_named(o->parts[3]);
    i->run = sim_reduce_warp;
    i->d = destination(&s->operands[0], 'i');
    i->a = source(d, &s->operands[1], 'i');
    return i->op < 6 && (i->type == U32 || i->type == S32 || i->type == B32) && i->d != NOWHERE && i->a != NOWHERE &&
           takes_part(d, &s->operands[2], i);
}

static bool decode_elect(Decoder *d, const Statement *s, Instr *i)
{
    if (s->count != 2 || !s->operands[0].second)
        return false;
    i->run = sim_elect;
    i->d = s->operands[0].kind == IS_SINK ? NOWHERE : destination(&s->operands[0], 'i');
    i->second = s->operands[0].second->slot;
    return takes_part(d, &s->operands[1], i);
}

static bool decode_convert(Decoder *d, const Statement *s, Instr *i)
{
    const bool pair = s->count == 3;
    if (s->count < 2 || s->count > 3 || s->operands[0].kind != IS_REGISTER || s->operands[0].reg->type == PRED)
        return false;
    i->d = s->operands[0].reg->slot;
    i->register_bytes = (uint8_t)sim_type_bytes(s->operands[0].reg->type);
    i->base_bytes = 4;
    const Operand *from = &s->operands[1];
    if (from->kind == IS_REGISTER)
        i->base_bytes = (uint8_t)sim_type_bytes(from->reg->type);
    if (!sim_convert_operation(s->opcode, i) || pair != (i->type == F16X2 || i->type == BF16X2))
        return false;
    if (from->kind == IS_REGISTER) {
        i->a = from->reg->type == PRED ? NOWHERE : from->reg->slot;
    } else {
        i->base_bytes = (uint8_t)sim_type_bytes((Type)i->from);
        i->a = source(d, from, i->from == F32 ? 'f' : i->from == F64 ? 'd' : letter_of_bytes(i->base_bytes));
        sim_convert_operation(s->opcode, i); // the handler depends on the sizes
    }
    if (pair && (i->b = source(d, &s->operands[2], 'f')) == NOWHERE)
        return false;
    return i->a != NOWHERE && i->base_bytes >= sim_type_bytes((Type)i->from) && i->register_bytes <= 8 &&
           i->register_bytes >= sim_type_bytes((Type)i->type);
}

// ---- All statements

static bool decode(Decoder *d, const Statement *s, Instr *i)
{
    const Opcode o = split(s->opcode);
    if (o.count == 0)
        return false;
    const Slice name = o.parts[0];
    if (sim_slice_is(name, "mov"))
        return decode_mov(d, s, &o, i);
    if (sim_slice_is(name, "ld") || sim_slice_is(name, "ldu"))
        return decode_access(d, s, &o, i, true);
    if (sim_slice_is(name, "st"))
        return decode_access(d, s, &o, i, false);
    if (sim_slice_is(name, "setp"))
        return decode_setp(d, s, &o, i);
    if (sim_slice_is(name, "cvt"))
        return decode_convert(d, s, i);
    if (sim_slice_is(name, "bra"))
        return decode_branch(d, s, i);
    if (sim_slice_is(name, "brx"))
        return decode_indexed_branch(d, s, i);
    if (sim_slice_is(name, "call"))
        return decode_call(d, s, i);
    if (sim_slice_is(name, "bar") || sim_slice_is(name, "barrier"))
        return decode_barrier(d, s, &o, i);
    if (sim_slice_is(name, "shfl"))
        return decode_shuffle(d, s, &o, i);
    if (sim_slice_is(name, "vote"))
        return decode_vote(d, s, &o, i);
    if (sim_slice_is(name, "match"))
        return decode_match(d, s, &o, i);
    if (sim_slice_is(name, "redux"))
        return decode_redux(d, s, &o, i);
    if (sim_slice_is(name, "elect"))
        return decode_elect(d, s, i);
    if (sim_slice_is(name, "atom") || sim_slice_is(name, "red"))
        return decode_atomic(d, s, &o, i, sim_slice_is(name, "atom"));
    if (sim_slice_is(name, "cvta"))
        return decode_cvta(d, s, &o, i);
    if (sim_slice_is(name, "isspacep"))
        return decode_isspacep(d, s, &o, i);
    if (sim_slice_is(name, "cp"))
        return decode_cp(d, s, &o, i);
    if (sim_slice_is(name, "mbarrier"))
        return decode_mbarrier(d, s, &o, i);
    if (sim_slice_is(name, "tex") || sim_slice_is(name, "tld4") || sim_slice_is(name, "suld") ||
        sim_slice_is(name, "sust") || sim_slice_is(name, "suq"))
        return sim_decode_texture(d, d->arena, s, i);
    if (sim_slice_is(name, "membar") || sim_slice_is(name, "fence"))
        return decode_fence(d, s, &o);
    if (sim_slice_is(name, "activemask")) {
        i->run = sim_activemask;
        return s->count == 1 && (i->d = destination(&s->operands[0], 'i')) != NOWHERE;
    }
    if (sim_slice_is(name, "ret") || sim_slice_is(name, "exit")) {
        i->control = sim_slice_is(name, "ret") ? RETURN : EXIT;
        return s->count == 0;
    }
    if (sim_slice_is(name, "trap")) {
        i->run = sim_trap;
        return s->count == 0;
    }
    if (sim_slice_is(name, "prefetch") || sim_slice_is(name, "prefetchu") || sim_slice_is(name, "nanosleep") ||
        sim_slice_is(name, "griddepcontrol") || sim_slice_is(name, "pmevent") || sim_slice_is(name, "brkpt") || sim_slice_is(s->opcode, ".branchtargets"))
        return true; // hints, and a table that a branch has read
    const Operation *known = sim_alu_operation(s->opcode);
    if (known) {
        i->run = known->run;
        return plain_operands(d, s, i, known->types);
    }
    const char *types = sim_float_operation(s->opcode, i);
    return types && plain_operands(d, s, i, types);
}

static void do_nothing(Warp *w, const Instr *i, uint32_t mask)
{
    (void)w, (void)i, (void)mask;
}

// Why a statement is not even looked at: it cannot be read, or a variable that it names cannot be.
static const char *reason_to_refuse(const Statement *s)
{
    const char *reason = s->error;
    for (int k = 0; k < s->count && !reason; k++)
        reason = s->operands[k].variable ? s->operands[k].variable->error : NULL;
    return reason;
}

static void decode_function(Module *module, Arena *arena, Function *f)
{
    Program *program = sim_allocate(arena, sizeof *program);
    Decoder d = {.module = module, .arena = arena, .function = f, .program = program, .carry = NOWHERE};
    f->program = program;
    program->count = f->count;
    program->code = sim_allocate(arena, ((size_t)f->count + 1) * sizeof *program->code);
    for (uint32_t k = 0; k < f->register_count; k++)
        if (f->registers[k]->type == PRED)
            f->registers[k]->slot = new_place(&d, 4, 4);
    for (uint32_t k = 0; k < f->register_count; k++)
        if (f->registers[k]->type != PRED)
            f->registers[k]->slot = new_place(&d, (uint32_t)sim_type_bytes(f->registers[k]->type) * LANES, LANE_ALIGNMENT);
    program->register_bytes = program->frame_bytes;
    for (uint32_t k = 0; k < f->count; k++) {
        const Statement *s = &f->statements[k];
        Instr *i = &program->code[k];
        *i = (Instr){.run = do_nothing, .second = NOWHERE, .guard = NOWHERE, .join = NOWHERE, .statement = s};
        const char *refused = reason_to_refuse(s);
        if (refused || !decode(&d, s, i))
            *i = (Instr){.control = UNKNOWN, .second = NOWHERE, .guard = NOWHERE, .join = NOWHERE, .statement = s,
                         .reason = refused};
        if (s->guard) {
            i->guard = s->guard->slot;
            i->guard_negated = s->guard_negated;
        }
    }
    program->code[f->count] = (Instr){.control = RETURN, .second = NOWHERE, .guard = NOWHERE, .join = NOWHERE};
}

// Makes a function's order as strict as that of any function it calls; whether that changed it.
static bool ask_callees(Function *f)
{
    Order order = f->program->order;
    for (uint32_t k = 0; k < f->program->count; k++) {
        const Instr *i = &f->program->code[k];
        if (i->control != CALL)
            continue;
        const Order called = i->call->callee ? i->call->callee->program->order : ONE_BY_ONE;
        order = called > order ? called : order;
    }
    const bool changed = order != f->program->order;
    f->program->order = order;
    return changed;
}

void sim_decode(Module *module)
{
    for (Function *f = module->functions; f; f = f->next)
        if (f->defined)
            decode_function(module, &module->arena, f);
    for (bool changed = true; changed;) { // functions may call each other in turn
        changed = false;
        for (Function *f = module->functions; f; f = f->next)
            if (f->defined)
                changed |= ask_callees(f) | sim_sum_up(f);
    }
    for (Function *f = module->functions; f; f = f->next)
        if (f->defined)
            sim_analyse(&module->arena, f, f->program);
}
