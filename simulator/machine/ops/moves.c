// moves.c: mov and cvta.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"

#include <string.h>

UNARY(mov_uint8_t, uint8_t, uint8_t, a)
UNARY(mov_uint16_t, uint16_t, uint16_t, a)
UNARY(mov_uint32_t, uint32_t, uint32_t, a)
UNARY(mov_uint64_t, uint64_t, uint64_t, a)
UNARY(mov_b128, unsigned __int128, unsigned __int128, a)

BINARY(add_uint32_t, uint32_t, uint32_t, uint32_t, a + b)
BINARY(add_uint64_t, uint64_t, uint64_t, uint64_t, a + b)

// Conversions of generic addresses. The rank in a distributed shared memory address already identifies the owner.
BINARY(make_generic_shared, uint64_t, uint64_t, uint64_t,
       a + b + (sim_has_block_rank(a + b - SHARED_WINDOW) ? 0 : sim_owner_of(w, l, SHARED)))
BINARY(make_generic_local, uint64_t, uint64_t, uint64_t, a + b + sim_owner_of(w, l, LOCAL))
BINARY(convert_from_generic, uint64_t, uint64_t, uint64_t,
       sim_window(sim_space_at(a)) == b ? sim_offset_of_generic(a) : a - b) // a null pointer becomes an address out of bounds

static void mov_pred(Warp *w, const Instr *i, uint32_t mask)
{
    uint32_t *d = OPERAND(uint32_t, d);
    *d = (*d & ~mask) | (*OPERAND(uint32_t, a) & mask);
}

// mov of a vector to a register: its parts, lowest first.
static void pack(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->count == 2 && i->bytes == 4) { // fast path: a double before its halves are shuffled
        const uint32_t *low = (const uint32_t *)(w->registers + i->elements[0]), *high = (const uint32_t *)(w->registers + i->elements[1]);
        uint32_t(*pairs)[2] = (uint32_t(*)[2])(w->registers + i->d);
        for (int l = 0; l < LANES; l++) {
            pairs[l][0] = low[l];
            pairs[l][1] = high[l];
        }
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t whole[16];
        for (int k = 0; k < i->count; k++)
            memcpy(whole + k * i->bytes, w->registers + i->elements[k] + l * i->bytes, i->bytes);
        memcpy(w->registers + i->d + l * i->count * i->bytes, whole, (size_t)i->count * i->bytes);
    }
}

static void unpack(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->count == 2 && i->bytes == 4) { // fast path: a float2
        const uint32_t(*pairs)[2] = (const uint32_t(*)[2])(w->registers + i->a);
        for (int k = 0; k < 2; k++) {
            uint32_t *part = (uint32_t *)(w->registers + i->elements[k]);
            for (int l = 0; l < LANES && i->elements[k] != NOWHERE; l++)
                part[l] = pairs[l][k];
        }
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t whole[16];
        memcpy(whole, w->registers + i->a + l * i->count * i->bytes, (size_t)i->count * i->bytes);
        for (int k = 0; k < i->count; k++)
            if (i->elements[k] != NOWHERE)
                memcpy(w->registers + i->elements[k] + l * i->bytes, whole + k * i->bytes, i->bytes);
    }
}

// ---- Decoding

static bool decode_vector_move(Decoder *d, const Operand *to, const Operand *from, Instr *i)
{
    const bool packs = from->kind == IS_VECTOR;
    const Operand *vector = packs ? from : to, *whole = packs ? to : from;
    const int bytes = sim_type_bytes((Type)i->type);
    if (vector->count == 0 || bytes % vector->count || whole->kind != IS_REGISTER ||
        sim_type_bytes(whole->reg->type) != bytes)
        return false;
    i->bytes = (uint8_t)(bytes / vector->count);
    i->d = i->a = whole->reg->slot;
    i->run = packs ? pack : unpack;
    return sim_vector_offsets(d, vector, i, sim_letter_of_bytes(i->bytes), !packs);
}

static bool decode_clock(const Operand *to, int clock, Instr *i)
{
    i->run = sim_read_clock;
    i->effects |= NONDETERMINISTIC;
    i->bytes = clock == CLOCK64 || clock == GLOBALTIMER ? 8 : 4;
    i->op = clock == CLOCK_HI || clock == GLOBALTIMER_HI;
    i->d = sim_destination(to, sim_letter_of_bytes(i->bytes));
    return i->d != NOWHERE;
}

// Decodes d = address of a variable that depends on the block or call, plus `addend`.
static bool decode_address_move(Decoder *d, const Statement *s, Instr *i, uint32_t base, uint64_t addend, int bytes)
{
    const Operand *from = &s->operands[1];
    i->run = bytes == 8 ? add_uint64_t : add_uint32_t;
    i->d = sim_destination(&s->operands[0], sim_letter_of_bytes(bytes));
    i->a = base;
    i->b = sim_constant(d, bytes, (uint64_t)sim_offset_of(from->variable) + (uint64_t)from->integer + addend);
    return i->d != NOWHERE;
}

static bool decode_mov(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count != 2)
        return false;
    const Operand *to = &s->operands[0], *from = &s->operands[1];
    if (from->kind == IS_VECTOR || to->kind == IS_VECTOR)
        return decode_vector_move(d, to, from, i);
    const int clock = sim_clock_named(from), bytes = sim_type_bytes(o->type);
    if (clock >= 0)
        return decode_clock(to, clock, i);
    const Variable *v = from->kind == IS_SYMBOL ? from->variable : NULL;
    if (v && bytes != 4 && bytes != 8) // addresses have 4 or 8 bytes
        return false;
    const uint32_t base = v ? sim_base_of(d, v, bytes) : NOWHERE;
    if (base != NOWHERE)
        return decode_address_move(d, s, i, base, 0, bytes);
    return sim_plain_operands(d, s, o, i, "tt");
}

// cvta.shared.u64 converts to a generic address, cvta.to.shared.u64 to a shared one.
static bool decode_cvta(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const IN_SHARED[] = {"shared", "shared::cta", "shared::cluster"};
    const uint64_t window = sim_modifier_among(o, IN_SHARED, 3) < 3 ? SHARED_WINDOW
                            : sim_has_modifier(o, "local")          ? LOCAL_WINDOW
                                                                : 0;
    const bool to = sim_has_modifier(o, "to");
    const Space space = window == SHARED_WINDOW ? SHARED : window == LOCAL_WINDOW ? LOCAL : GLOBAL;
    if (s->count != 2)
        return false;
    const Variable *v = s->operands[1].kind == IS_SYMBOL ? s->operands[1].variable : NULL;
    const uint32_t base = v ? sim_base_of(d, v, 8) : NOWHERE;
    if (base != NOWHERE) {
        const bool decoded = decode_address_move(d, s, i, base, to ? 0 - window : window, 8);
        i->run = to || space == GLOBAL ? i->run : space == SHARED ? make_generic_shared : make_generic_local;
        return decoded;
    }
    i->run = space == GLOBAL   ? add_uint64_t
             : to              ? convert_from_generic
             : space == SHARED ? make_generic_shared
                               : make_generic_local;
    i->d = sim_destination(&s->operands[0], 'l');
    i->a = sim_source(d, &s->operands[1], 'l');
    i->b = sim_constant(d, 8, window);
    return i->d != NOWHERE && i->a != NOWHERE;
}

// createpolicy.fractional policy{, fraction}, createpolicy.range policy, [address], bytes, bytes and createpolicy.cvt
// policy, property. There are no caches, so the policy may be any number.
static bool decode_policy(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const int min_count = sim_has_modifier(o, "range") ? 4 : sim_has_modifier(o, "cvt") ? 2 : 1,
              max_count = sim_has_modifier(o, "fractional") ? 2 : min_count;
    if (s->count < min_count || s->count > max_count)
        return false;
    i->d = sim_destination(&s->operands[0], 'l');
    i->a = sim_constant(d, 8, 0);
    return i->d != NOWHERE;
}

static const Instruction ROWS[] = {
    {"mov TYPE", .decode = decode_mov, .kind = MOVE, .effects = WRITES_DESTINATION, .by_type = {
        [B8] = mov_uint8_t, [B16] = mov_uint16_t, [U16] = mov_uint16_t, [S16] = mov_uint16_t, [F16] = mov_uint16_t,
        [BF16] = mov_uint16_t, [B32] = mov_uint32_t, [U32] = mov_uint32_t, [S32] = mov_uint32_t, [F32] = mov_uint32_t,
        [F16X2] = mov_uint32_t, [BF16X2] = mov_uint32_t, [B64] = mov_uint64_t, [U64] = mov_uint64_t,
        [S64] = mov_uint64_t, [F64] = mov_uint64_t, [B128] = mov_b128, [PRED] = mov_pred}},
    {"createpolicy fractional POLICY {L2::evict_first|L2::evict_unchanged} b64", .decode = decode_policy, .run = mov_uint64_t, .effects = WRITES_DESTINATION},
    {"createpolicy range {global} POLICY {L2::evict_first|L2::evict_unchanged} b64", .decode = decode_policy, .run = mov_uint64_t, .effects = WRITES_DESTINATION},
    {"createpolicy cvt L2 b64", .decode = decode_policy, .run = mov_uint64_t, .effects = WRITES_DESTINATION},
    {"cvta {to} SPACE u64", .decode = decode_cvta, .effects = WRITES_DESTINATION},
};

INSTRUCTION_LIST(sim_move_instructions, "Moves", ROWS)
