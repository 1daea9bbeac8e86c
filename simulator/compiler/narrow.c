// narrow.c: narrow loads. A load of which one instruction takes whole low, middle or high bytes, by a mask or a shift, loads only these
// bytes, which saves the instruction (LLVM: ReduceLoadWidth).
#include "compiler/known.h"
#include "compiler/passes.h"

typedef struct Field { // `bits` bits of a loaded value, from bit `shift`
    IrInstruction *load;
    uint64_t shift, bits;
    bool is_signed;
} Field;

static bool is_shift_by_constant(const IrInstruction *i)
{
    return i->op == IR_SHR && i->operands[1]->op == IR_INTEGER && unsigned_value(i->operands[1]) < ir_bits(i->type);
}

// The field that an instruction takes from its operand; no bits if it takes none.
static Field field_of(const IrInstruction *i)
{
    if (is_shift_by_constant(i)) {
        const uint64_t shift = unsigned_value(i->operands[1]);
        return (Field){.load = i->operands[0], .shift = shift, .bits = ir_bits(i->type) - shift, .is_signed = i->flags & IR_SIGNED};
    }
    const uint64_t mask = i->op == IR_AND && i->operands[1]->op == IR_INTEGER ? unsigned_value(i->operands[1]) : 0;
    if (!mask || mask & (mask + 1)) // the field must be the low bits
        return (Field){.bits = 0};
    IrInstruction *value = i->operands[0];
    const bool is_shifted = is_shift_by_constant(value) && ir_has_one_use(value) && value->block == i->block;
    return (Field){.load = is_shifted ? value->operands[0] : value, .shift = is_shifted ? unsigned_value(value->operands[1]) : 0, .bits = (uint64_t)__builtin_popcountll(mask)};
}

static bool can_narrow(const Field *f, const IrInstruction *user)
{
    if ((f->bits != 8 && f->bits != 16 && f->bits != 32) || f->shift % f->bits || f->load->op != IR_LOAD)
        return false;
    const IrInstruction *load = f->load;
    const bool is_whole = load->memory == load->type && f->bits < ir_bits(load->type) && f->shift + f->bits <= ir_bits(load->type);
    return is_whole && ir_has_one_use(load) && load->block == user->block && !(load->flags & IR_VOLATILE);
}

static bool narrow(IrInstruction *i)
{
    const Field f = field_of(i);
    if (!f.bits || !can_narrow(&f, i))
        return false;
    IrInstruction *load = f.load;
    load->memory = f.bits == 8 ? IR_B8 : f.bits == 16 ? IR_B16 : IR_B32;
    load->integer += (int64_t)(f.shift / 8);
    if (load->alignment > f.bits / 8)
        load->alignment = (uint32_t)(f.bits / 8);
    load->flags = (load->flags & ~(uint32_t)IR_SIGNED) | (f.is_signed ? IR_SIGNED : 0);
    ir_replace(i, load);
    return true;
}

bool narrow_loads(IrModule *module, IrFunction *function)
{
    bool changed = false;
    (void)module;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first, *next; i; i = next) {
            next = i->next;
            if (i->type == IR_B32 || i->type == IR_B64)
                changed |= narrow(i);
        }
    return changed;
}
