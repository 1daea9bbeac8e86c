// moves.c: mov, cvta and createpolicy. front/decode.h (Instruction.operands) explains the operand letters.
#include "machine/ops/instructions.h"
#include "machine/ops/lanes.h"

#include <string.h>

UNARY(mov_b8, uint8_t, uint8_t, a)
UNARY(mov_b16, uint16_t, uint16_t, a)
UNARY(mov_b32, uint32_t, uint32_t, a)
UNARY(mov_b64, uint64_t, uint64_t, a)
UNARY(mov_b128, unsigned __int128, unsigned __int128, a)

BINARY(add_u32, uint32_t, uint32_t, uint32_t, a + b)
BINARY(add_u64, uint64_t, uint64_t, uint64_t, a + b)

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

// mov of a vector to a register: concatenates the elements, lowest bits first.
static void pack(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->count == 2 && i->bytes == 4) { // fast path: two words to a double or a 64-bit integer, as after shuffles of its halves
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

// mov of a register to a vector: splits the register into elements, lowest bits first.
static void unpack(Warp *w, const Instr *i, uint32_t mask)
{
    if (mask == ALL_LANES && i->count == 2 && i->bytes == 4) { // fast path: a 64-bit register to two words, as before shuffles of its halves
        const uint32_t(*pairs)[2] = (const uint32_t(*)[2])(w->registers + i->a);
        for (int k = 0; k < 2; k++) {
            uint32_t *part = (uint32_t *)(w->registers + i->elements[k]);
            for (int l = 0; l < LANES && !is_sink(i, k); l++)
                part[l] = pairs[l][k];
        }
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctz(rest);
        uint8_t whole[16];
        memcpy(whole, w->registers + i->a + l * i->count * i->bytes, (size_t)i->count * i->bytes);
        for (int k = 0; k < i->count; k++)
            if (!is_sink(i, k))
                memcpy(w->registers + i->elements[k] + l * i->bytes, whole + k * i->bytes, i->bytes);
    }
}

// ---- Decoding

static bool decode_vector_move(Decoder *d, const Operand *destination, const Operand *from, Instr *i)
{
    const bool is_pack = from->kind == IS_VECTOR;
    const Operand *vector = is_pack ? from : destination, *whole = is_pack ? destination : from;
    const int bytes = sim_type_bytes((Type)i->type);
    if (vector->count == 0 || bytes % vector->count || whole->kind != IS_REGISTER ||
        sim_type_bytes(whole->reg->type) != bytes)
        return false;
    i->bytes = (uint8_t)(bytes / vector->count);
    i->d = i->a = whole->reg->slot;
    i->run = is_pack ? pack : unpack;
    return sim_vector_offsets(d, vector, i, sim_letter_of_bytes(i->bytes), !is_pack);
}

static bool decode_clock(const Operand *destination, int clock, Instr *i)
{
    i->run = sim_read_clock;
    i->effects |= NONDETERMINISTIC;
    i->bytes = clock == CLOCK64 || clock == GLOBALTIMER ? 8 : 4;
    i->op = clock == CLOCK_HI || clock == GLOBALTIMER_HI;
    i->d = sim_destination(destination, sim_letter_of_bytes(i->bytes));
    return i->d != NO_OFFSET;
}

// Decodes d = address + addend, for a variable whose address depends on the block or call.
static bool decode_address_move(Decoder *d, const Statement *s, Instr *i, uint32_t base, uint64_t addend, int bytes)
{
    const Operand *from = &s->operands[1];
    i->run = bytes == 8 ? add_u64 : add_u32;
    i->d = sim_destination(&s->operands[0], sim_letter_of_bytes(bytes));
    i->a = base;
    i->b = sim_constant(d, bytes, (uint64_t)sim_offset_of(from->variable) + (uint64_t)from->integer + addend);
    return i->d != NO_OFFSET;
}

static bool decode_mov(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    if (s->count != 2)
        return false;
    const Operand *destination = &s->operands[0], *from = &s->operands[1];
    if (from->kind == IS_VECTOR || destination->kind == IS_VECTOR)
        return decode_vector_move(d, destination, from, i);
    const int clock = sim_clock_named(from), bytes = sim_type_bytes(o->type);
    if (clock >= 0)
        return decode_clock(destination, clock, i);
    const Variable *v = from->kind == IS_SYMBOL ? from->variable : NULL;
    if (v && bytes != 4 && bytes != 8) // addresses have 4 or 8 bytes
        return false;
    const uint32_t base = v ? sim_base_of(d, v, bytes) : NO_OFFSET;
    if (base != NO_OFFSET)
        return decode_address_move(d, s, i, base, 0, bytes);
    return sim_plain_operands(d, s, o, i, "tt");
}

// cvta.shared.u64 converts to a generic address; cvta.to.shared.u64 converts to a shared-memory address.
static bool decode_cvta(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const SHARED_SPACES[] = {"shared", "shared::cta", "shared::cluster"};
    const uint64_t window = sim_modifier_among(o, SHARED_SPACES, 3) < 3 ? SHARED_WINDOW
                            : sim_has_modifier(o, "local")          ? LOCAL_WINDOW
                                                                : 0;
    const bool destination = sim_has_modifier(o, "to");
    const Space space = window == SHARED_WINDOW ? SHARED : window == LOCAL_WINDOW ? LOCAL : GLOBAL;
    if (s->count != 2)
        return false;
    const Variable *v = s->operands[1].kind == IS_SYMBOL ? s->operands[1].variable : NULL;
    const uint32_t base = v ? sim_base_of(d, v, 8) : NO_OFFSET;
    if (base != NO_OFFSET) {
        const bool decoded = decode_address_move(d, s, i, base, destination ? 0 - window : window, 8);
        i->run = destination || space == GLOBAL ? i->run : space == SHARED ? make_generic_shared : make_generic_local;
        return decoded;
    }
    i->run = space == GLOBAL   ? add_u64
             : destination              ? convert_from_generic
             : space == SHARED ? make_generic_shared
                               : make_generic_local;
    i->d = sim_destination(&s->operands[0], 'l');
    i->a = sim_source(d, &s->operands[1], 'l');
    i->b = sim_constant(d, 8, window);
    return i->d != NO_OFFSET && i->a != NO_OFFSET;
}

// createpolicy.fractional policy{, fraction}, createpolicy.range policy, [address], bytes, bytes and createpolicy.cvt
// policy, property. The simulator has no caches, so the policy can be any number.
static bool decode_policy(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const int min_count = sim_has_modifier(o, "range") ? 4 : sim_has_modifier(o, "cvt") ? 2 : 1,
              max_count = sim_has_modifier(o, "fractional") ? 2 : min_count;
    if (s->count < min_count || s->count > max_count)
        return false;
    i->d = sim_destination(&s->operands[0], 'l');
    i->a = sim_constant(d, 8, 0);
    return i->d != NO_OFFSET;
}

static const Instruction ROWS[] = {
    {"mov TYPE", .decode = decode_mov, .kind = MOVE, .effects = WRITES_DESTINATION, .by_type = {
        [B8] = mov_b8, [B16] = mov_b16, [U16] = mov_b16, [S16] = mov_b16, [F16] = mov_b16,
        [BF16] = mov_b16, [B32] = mov_b32, [U32] = mov_b32, [S32] = mov_b32, [F32] = mov_b32,
        [F16X2] = mov_b32, [BF16X2] = mov_b32, [B64] = mov_b64, [U64] = mov_b64,
        [S64] = mov_b64, [F64] = mov_b64, [B128] = mov_b128, [PRED] = mov_pred}},
    {"createpolicy fractional POLICY {L2::evict_first|L2::evict_unchanged} b64", .decode = decode_policy, .run = mov_b64, .effects = WRITES_DESTINATION},
    {"createpolicy range {global} POLICY {L2::evict_first|L2::evict_unchanged} b64", .decode = decode_policy, .run = mov_b64, .effects = WRITES_DESTINATION},
    {"createpolicy cvt L2 b64", .decode = decode_policy, .run = mov_b64, .effects = WRITES_DESTINATION},
    {"cvta {to} SPACE u64", .decode = decode_cvta, .kind = CONVERT_ADDRESS, .effects = WRITES_DESTINATION},
};

INSTRUCTION_LIST(sim_move_instructions, "Moves", ROWS)
