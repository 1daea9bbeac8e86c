// operands.c: lays out frames, and translates operands to frame offsets.
//
// For each register, a frame holds the 32 lanes' values contiguously. Constants and special registers have slots, too, which are
// filled when the frame is created, so every operand is a frame offset.
#include "front/decode.h"

#include <string.h>

enum { LANE_ALIGNMENT = 64 };

// ---- Frame slots

uint32_t sim_new_frame_offset(Decoder *d, uint32_t bytes, uint32_t alignment)
{
    Program *p = d->program;
    p->frame_bytes = (p->frame_bytes + alignment - 1) / alignment * alignment;
    const uint32_t offset = p->frame_bytes;
    p->frame_bytes += bytes;
    return offset;
}

static uint32_t constant_slot(Decoder *d, int bytes, int special, uint64_t value)
{
    Program *p = d->program;
    for (int k = 0; k < p->slot_count; k++)
        if (p->slots[k].bytes == bytes && p->slots[k].special == special && p->slots[k].value == value)
            return p->slots[k].offset;
    if (p->slot_count == d->slot_capacity) {
        d->slot_capacity = d->slot_capacity ? 2 * d->slot_capacity : 32;
        Slot *grown = sim_allocate(d->arena, (size_t)d->slot_capacity * sizeof *grown);
        if (p->slot_count)
            memcpy(grown, p->slots, (size_t)p->slot_count * sizeof *grown);
        p->slots = grown;
    }
    const uint32_t offset = sim_new_frame_offset(d, (uint32_t)bytes * LANES, LANE_ALIGNMENT);
    p->slots[p->slot_count++] = (Slot){offset, (uint8_t)bytes, special, value};
    return offset;
}

uint32_t sim_constant(Decoder *d, int bytes, uint64_t value)
{
    return constant_slot(d, bytes, -1, bytes == 8 ? value : value & ((1ull << (8 * bytes)) - 1));
}

// ---- Operands

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
    {"%nclusterid.x", NCLUSTERID_X, 4}, {"%nclusterid.y", NCLUSTERID_Y, 4}, {"%nclusterid.z", NCLUSTERID_Z, 4},
    {"%clusterid.x", CLUSTERID_X, 4}, {"%clusterid.y", CLUSTERID_Y, 4}, {"%clusterid.z", CLUSTERID_Z, 4},
    {"%cluster_nctaid.x", CLUSTER_NCTAID_X, 4}, {"%cluster_nctaid.y", CLUSTER_NCTAID_Y, 4},
    {"%cluster_nctaid.z", CLUSTER_NCTAID_Z, 4}, {"%cluster_nctarank", CLUSTER_NCTARANK, 4},
    {"%cluster_ctaid.x", CLUSTER_CTAID_X, 4}, {"%cluster_ctaid.y", CLUSTER_CTAID_Y, 4},
    {"%cluster_ctaid.z", CLUSTER_CTAID_Z, 4}, {"%cluster_ctarank", CLUSTER_CTARANK, 4},
    {"%envreg1", GRID_WORKSPACE_HIGH, 4}, {"%envreg2", GRID_WORKSPACE_LOW, 4},
};

static bool is_clock(Special special) // its value changes while the kernel runs
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
        if (o->variable->is_dynamic || o->variable->space == LOCAL || o->variable->space == PARAM)
            return false;
        *value = o->variable->address + (uint64_t)o->integer;
        return true;
    }
    const Function *f = sim_find_function(d->module, o->name);
    *value = (uint64_t)(uintptr_t)f;
    return f != NULL;
}

static uint32_t number_offset(Decoder *d, const Operand *o, char letter)
{
    const double floating = o->kind == IS_FLOAT ? o->floating : (double)o->integer;
    const float as_float = (float)floating;
    uint64_t value = (uint64_t)o->integer;
    if ((letter == 'd' || (letter == 'l' && o->kind == IS_FLOAT)) && (o->is_float32 || o->kind == IS_INTEGER))
        memcpy(&value, &floating, sizeof floating);
    if ((letter == 'f' || (letter == 'i' && o->kind == IS_FLOAT)) && !o->is_float32) {
        uint32_t bits;
        memcpy(&bits, &as_float, sizeof bits);
        value = bits;
    }
    return sim_constant(d, bytes_of_letter(letter), value);
}

static uint32_t symbol_offset(Decoder *d, const Operand *o, int bytes)
{
    for (size_t k = 0; k < sizeof SPECIAL_REGISTERS / sizeof *SPECIAL_REGISTERS; k++)
        if (sim_slice_is(o->name, SPECIAL_REGISTERS[k].name)) {
            const bool is_old_width = (SPECIAL_REGISTERS[k].special == GRIDID && bytes == 4) || // its width before PTX 3.0
                              (SPECIAL_REGISTERS[k].special <= NCTAID_Z && bytes == 2); // its width before PTX 2.0
            const bool has_width = (SPECIAL_REGISTERS[k].bytes == bytes || is_old_width) && !is_clock(SPECIAL_REGISTERS[k].special);
            return has_width ? constant_slot(d, bytes, (int)SPECIAL_REGISTERS[k].special, 0) : NO_OFFSET;
        }
    if (o->name.length > 7 && memcmp(o->name.text, "%envreg", 7) == 0)
        return sim_constant(d, bytes, 0); // set by the driver
    if (sim_slice_is(o->name, "WARP_SZ"))
        return sim_constant(d, bytes, LANES);
    uint64_t value;
    return symbol_value(d, o, &value) ? sim_constant(d, bytes, value) : NO_OFFSET;
}

uint32_t sim_source(Decoder *d, const Operand *o, char letter)
{
    if (o->is_address || (o->selector.length && letter != 'v'))
        return NO_OFFSET;
    if (o->kind == IS_REGISTER) {
        const bool is_predicate = o->reg->type == PRED;
        const bool has_width = is_predicate || sim_type_bytes(o->reg->type) == bytes_of_letter(letter);
        return is_predicate == (letter == 'p') && has_width ? o->reg->slot : NO_OFFSET;
    }
    if (letter == 'p' && o->kind == IS_SYMBOL && sim_slice_is(o->name, "%is_explicit_cluster"))
        return constant_slot(d, 4, IS_EXPLICIT_CLUSTER, 0);
    if (letter == 'p')
        return o->kind == IS_INTEGER ? sim_constant(d, 4, o->integer ? ALL_LANES : 0) : NO_OFFSET;
    if (letter == 'q') // there are no 128-bit constants
        return NO_OFFSET;
    if (o->kind == IS_INTEGER || o->kind == IS_FLOAT)
        return number_offset(d, o, letter);
    return o->kind == IS_SYMBOL ? symbol_offset(d, o, bytes_of_letter(letter)) : NO_OFFSET;
}

uint32_t sim_destination(const Operand *o, char letter)
{
    const bool is_predicate = letter == 'p';
    if (o->kind != IS_REGISTER || o->is_address || o->is_negated || (o->selector.length && letter != 'v') || (o->reg->type == PRED) != is_predicate ||
        (!is_predicate && sim_type_bytes(o->reg->type) != bytes_of_letter(letter)))
        return NO_OFFSET;
    return o->reg->slot;
}

int sim_clock_named(const Operand *o)
{
    for (size_t k = 0; k < sizeof SPECIAL_REGISTERS / sizeof *SPECIAL_REGISTERS && o->kind == IS_SYMBOL; k++)
        if (is_clock(SPECIAL_REGISTERS[k].special) && sim_slice_is(o->name, SPECIAL_REGISTERS[k].name))
            return SPECIAL_REGISTERS[k].special;
    return -1;
}

char sim_letter_of_bytes(int bytes)
{
    return bytes == 1 ? 'c' : bytes == 2 ? 'h' : bytes == 4 ? 'i' : bytes == 8 ? 'l' : 'q';
}

char sim_letter_of_type(Type type)
{
    return type == PRED ? 'p' : type == F32 ? 'f' : type == F64 ? 'd' : sim_letter_of_bytes(sim_type_bytes(type));
}

static char letter_for(char letter, Type type)
{
    return letter == 't'   ? sim_letter_of_type(type)
           : letter == 'w' ? sim_letter_of_bytes(2 * sim_type_bytes(type))
                           : letter;
}

static bool plain_destination(const Operand *o, char letter, Instr *i)
{
    i->d = sim_destination(o, letter);
    if (letter == 'p' && o->second)
        i->second = o->second->slot;
    return i->d != NO_OFFSET || (letter == 'p' && o->kind == IS_SINK && o->second); // _|%q
}

bool sim_plain_operands(Decoder *d, const Statement *s, const Opcode *o, Instr *i, const char *letters)
{
    uint32_t *const fields[] = {&i->d, &i->a, &i->b, &i->c, &i->e};
    const int count = (int)strcspn(letters, "+");
    if (s->count != count)
        return false;
    for (int k = 0; k < count; k++) {
        const char letter = letter_for(letters[k], o->type);
        if (k == 0 ? !plain_destination(&s->operands[0], letter, i)
                   : (*fields[k] = sim_source(d, &s->operands[k], letter)) == NO_OFFSET)
            return false;
        if (s->operands[k].is_negated && !(letter == 'p' && k == 3)) // !p is only the last operand of selp and setp
            return false;
        if (s->operands[k].is_negated)
            i->flags |= COMBINE_NEGATED;
    }
    if (letters[count] == '+' && d->carry == NO_OFFSET)
        d->carry = sim_new_frame_offset(d, 4 * LANES, LANE_ALIGNMENT);
    i->carry = d->carry;
    return true;
}

bool sim_vector_offsets(Decoder *d, const Operand *o, Instr *i, char letter, bool is_destination)
{
    if (o->kind != IS_VECTOR || o->count < 1 || o->count > MAX_VECTOR)
        return false;
    i->count = (uint8_t)o->count;
    i->elements = sim_allocate(d->arena, (size_t)o->count * sizeof *i->elements);
    for (int k = 0; k < o->count; k++) {
        const Operand *element = &o->elements[k];
        i->elements[k] = is_destination ? sim_destination(element, letter) : sim_source(d, element, letter);
        if (i->elements[k] == NO_OFFSET && !(is_destination && element->kind == IS_SINK))
            return false;
    }
    return true;
}

// ---- Addresses

uint32_t sim_base_of(Decoder *d, const Variable *v, int bytes)
{
    const bool is_kernel_param = v->space == PARAM && d->function->is_kernel && v->address < d->function->kernel_param_bytes;
    return v->is_dynamic ? constant_slot(d, bytes, DYNAMIC_SHARED, 0)
           : v->space == LOCAL ? constant_slot(d, bytes, LOCAL_BASE, 0)
           : is_kernel_param            ? constant_slot(d, bytes, PARAM_BASE, 0)
                               : NO_OFFSET;
}

int64_t sim_offset_of(const Variable *v)
{
    return v->is_dynamic ? 0 : (int64_t)v->address;
}

bool sim_decode_address(Decoder *d, const Operand *o, Space space, Address *address)
{
    if (!o->is_address || o->count)
        return false;
    *address = (Address){.base = NO_OFFSET, .space = (uint8_t)space, .offset = o->integer};
    if (o->kind == IS_REGISTER) {
        address->base = o->reg->slot;
        address->base_bytes = (uint8_t)sim_type_bytes(o->reg->type);
        return o->reg->type != PRED && (address->base_bytes == 4 || address->base_bytes == 8);
    }
    if (o->kind == IS_INTEGER)
        return true;
    const Variable *v = o->kind == IS_SYMBOL ? o->variable : NULL;
    if (!v)
        return false;
    address->base = sim_base_of(d, v, 8);
    address->base_bytes = 8;
    address->offset += sim_offset_of(v);
    if (space == GENERIC && (v->space == SHARED || v->space == LOCAL))
        address->space = (uint8_t)v->space;
    return true;
}
