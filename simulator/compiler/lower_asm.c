// lower_asm.c: lowers inline PTX to an intrinsic with a new row.
#include "compiler/intrinsics.h"
#include "compiler/lower.h"

#include <ctype.h>
#include <string.h>

enum { MAX_ASM_OPERANDS = 9 };

static char letter_of(const char *constraint)
{
    return constraint[strcspn(constraint, "rlhfd")];
}

// An output that the text also reads ("+r") is initialised from an additional input, after the others.
static char *move_tied(Lowering *l, const Assembly *a)
{
    char *text = "";
    uint32_t input = a->operand_count - a->output_count;
    for (uint32_t k = 0; k < a->output_count; k++) {
        if (a->constraints[k][0] != '+')
            continue;
        const char letter = letter_of(a->constraints[k]);
        const char *type = letter == 'l' ? "b64" : letter == 'h' ? "b16" : letter == 'f' ? "f32" : letter == 'd' ? "f64" : "b32";
        const char part[2] = {a->output_count > 1 ? (char)('a' + k) : '\0', '\0'};
        text = compile_format(l->compiler, "%smov.%s $0%s, %%%u;\n", text, type, part, ++input);
    }
    return text;
}

// The text with the placeholders of intrinsics.h: outputs are $0a, $0b, ... (or $0), inputs %1, %2, ...
static char *translate(Lowering *l, const Assembly *a, const Expression *e)
{
    Compiler *c = l->compiler;
    const char *moves = move_tied(l, a);
    const size_t length = strlen(moves);
    char *text = compile_allocate(c, length + 3 * strlen(a->text) + 1), *to = text + length;
    memcpy(text, moves, length);
    for (const char *from = a->text; *from;) {
        if (*from == '$') {
            *to++ = '$', *to++ = *from++;
        } else if (*from != '%') {
            *to++ = *from++;
        } else if (from[1] == '%') {
            *to++ = '%';
            from += 2;
        } else if (isdigit((unsigned char)from[1])) {
            uint32_t index = 0;
            for (from++; isdigit((unsigned char)*from) && index < 1000; from++)
                index = 10 * index + (uint32_t)(*from - '0');
            if (index >= a->operand_count) {
                lower_error(l, e->start, e->end, NULL, "asm has no operand %%%u", index);
                return text;
            }
            if (index < a->output_count) {
                *to++ = '$', *to++ = '0';
                if (a->output_count > 1)
                    *to++ = (char)('a' + index);
            } else {
                *to++ = a->constraints[index][0] == 'n' ? '$' : '%';
                *to++ = (char)('1' + index - a->output_count);
            }
        } else {
            *to++ = *from++;
        }
    }
    return text;
}

// The constraint letter of each output: r, l, h, f or d.
static char *output_letters(Lowering *l, const Assembly *a)
{
    char *letters = compile_allocate(l->compiler, a->output_count + 1);
    for (uint32_t k = 0; k < a->output_count; k++)
        letters[k] = letter_of(a->constraints[k]);
    letters[a->output_count] = '\0';
    return letters;
}

// As in nvcc, asm is never convergent: a loop that tests its result is rotated.
static uint16_t effects_of(const Assembly *a)
{
    if (a->is_volatile && a->clobbers_memory)
        return INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS;
    if (a->clobbers_memory)
        return INTRINSIC_READS | INTRINSIC_WRITES;
    return a->is_volatile ? INTRINSIC_UNIQUE | INTRINSIC_WRITES : INTRINSIC_PURE;
}

// nvcc gives an asm statement the line of the operand that it evaluates last.
static Position position_of(const Assembly *a, const Expression *e)
{
    for (uint32_t k = a->operand_count; k-- > 0;)
        if (a->constraints[k][0] != 'n')
            return a->operands[k]->start;
    return e->start;
}

void lower_asm(Lowering *l, Expression *e)
{
    const Assembly *a = e->assembly;
    const uint32_t inputs = a->operand_count - a->output_count;
    IrInstruction *operands[MAX_ASM_OPERANDS];
    Address outputs[MAX_ASM_OPERANDS];
    uint32_t count = inputs; // operands that the text reads
    for (uint32_t k = 0; k < a->output_count; k++)
        count += a->constraints[k][0] == '+';
    if (count > MAX_ASM_OPERANDS || a->output_count > 8) {
        lower_error(l, e->start, e->end, NULL, "asm with more than %d inputs or 8 outputs is not supported", MAX_ASM_OPERANDS);
        return;
    }
    for (uint32_t k = 0; k < inputs; k++) {
        operands[k] = lower_value(l, a->operands[a->output_count + k]);
        const bool immediate = a->constraints[a->output_count + k][0] == 'n';
        if (immediate && operands[k]->op != IR_INTEGER)
            lower_error(l, e->start, e->end, NULL, "an operand \"n\" of asm must be a constant");
    }
    for (uint32_t k = 0, tied = inputs; k < a->output_count; k++) {
        outputs[k] = lower_lvalue(l, a->operands[k]);
        if (a->constraints[k][0] == '+')
            operands[tied++] = lower_load(l, outputs[k], type_bare(a->operands[k]->type));
    }
    Intrinsic *row = compile_new(l->compiler, Intrinsic);
    *row = (Intrinsic){.name = "asm", .signature = output_letters(l, a), .ptx = translate(l, a, e), .effects = effects_of(a)};
    lower_set_line(l, position_of(a, e));
    const IrType result = a->output_count == 1 ? lower_type(a->operands[0]->type) : IR_VOID;
    IrInstruction *i = lower_emit(l, IR_INTRINSIC, result, count, operands);
    i->intrinsic = row;
    i->count = (uint8_t)a->output_count;
    for (uint32_t k = 0; k < a->output_count; k++) {
        IrInstruction *value = i;
        if (a->output_count > 1) {
            value = lower_emit1(l, IR_ELEMENT, lower_type(a->operands[k]->type), i);
            value->index = k;
        }
        lower_store(l, outputs[k], type_bare(a->operands[k]->type), value);
    }
}
