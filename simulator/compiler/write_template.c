// write_template.c: expands the PTX templates of intrinsics. intrinsics.h describes their placeholders.
#include "compiler/intrinsics.h"
#include "compiler/write.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 9, MAX_SCRATCH = 10, MAX_TEXT = 1024 };

typedef struct Expansion {
    Writer *writer;
    const IrInstruction *instruction;
    FILE *out;                           // the expanded text, which is written after the moves that its operands need
    uint32_t scratch[3][MAX_SCRATCH];    // register numbers of $t, $T and $p; 0: not used yet
    Name results[MAX_OPERANDS];          // registers of IR_ELEMENTs
    bool has_result[MAX_OPERANDS];
} Expansion;

static const IrInstruction *operand_at(const Expansion *e, char digit)
{
    const uint32_t index = (uint32_t)(digit - '1');
    return index < e->instruction->operand_count ? e->instruction->operands[index] : NULL;
}

// The class of an unused asm result, by its constraint's letter, which lower_asm.c keeps in the signature.
static RegisterClass class_of_letter(char letter)
{
    return letter == 'l' ? REGISTERS_64 : letter == 'h' ? REGISTERS_16 : letter == 'f' ? FLOATS_32 : letter == 'd' ? FLOATS_64 : REGISTERS_32;
}

static Name element_name(Expansion *e, uint32_t index)
{
    if (e->has_result[index])
        return e->results[index];
    const IrInstruction *found = NULL;
    for (const IrUse *use = e->instruction->uses; use; use = use->next)
        if (use->user->op == IR_ELEMENT && use->user->index == index)
            found = use->user;
    const RegisterClass class = found ? register_class(found->type) : class_of_letter(e->instruction->intrinsic->signature[index]);
    const uint32_t number = found ? e->writer->registers->number[found->id] : 0;
    e->results[index] = register_name(class, number ? number : scratch_register(e->writer, class));
    e->has_result[index] = true;
    return e->results[index];
}

// Writes $0 or $0a, and returns the number of letters read after $0.
static int write_result(Expansion *e, const char *after)
{
    if (*after >= 'a' && *after <= 'h') {
        fprintf(e->out, "%s", element_name(e, (uint32_t)(*after - 'a')).text);
        return 1;
    }
    if (!e->has_result[0]) {
        e->results[0] = result_name(e->writer, e->instruction);
        e->has_result[0] = true;
    }
    fprintf(e->out, "%s", e->results[0].text);
    return 0;
}

static void write_scratch(Expansion *e, char kind, char digit)
{
    static const uint8_t classes[] = {REGISTERS_32, REGISTERS_64, PREDICATES};
    const uint32_t which = kind == 't' ? 0 : kind == 'T' ? 1 : 2;
    uint32_t *number = &e->scratch[which][(uint32_t)(digit - '0') % MAX_SCRATCH];
    if (!*number)
        *number = scratch_register(e->writer, classes[which]);
    fprintf(e->out, "%s", register_name(classes[which], *number).text);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Writes a placeholder that begins with $, and returns its length.
static int write_dollar(Expansion *e, const char *at)
{
    const IrInstruction *i = e->instruction;
    const char kind = at[1];
    if (kind == '$') {
        fputc('$', e->out);
        return 2;
    }
    if (kind == '0')
        return 2 + write_result(e, at + 2);
    if (is_digit(kind) && operand_at(e, kind)) {
        const IrInstruction *value = operand_at(e, kind);
        fprintf(e->out, "%s", (value->type == IR_PRED ? operand_in_register : operand_name)(e->writer, value).text);
        return 2;
    }
    if ((kind == 't' || kind == 'T' || kind == 'p') && is_digit(at[2])) {
        write_scratch(e, kind, at[2]);
        return 3;
    }
    if (kind == 's')
        fprintf(e->out, "%s", space_suffix(i->space));
    else if (kind == 'm')
        fprintf(e->out, "%s", memory_suffix(i->memory, i->flags & IR_SIGNED));
    else if (kind == 'b')
        fprintf(e->out, "%s", i->memory == IR_B8 ? "b8" : bits_suffix(i->memory));
    else if (kind == 'x')
        fprintf(e->out, "%s", i->text ? i->text : "");
    else {
        fputc('$', e->out);
        return 1;
    }
    return 2;
}

static int write_placeholder(Expansion *e, const char *at)
{
    if (*at == '$')
        return write_dollar(e, at);
    const IrInstruction *value = is_digit(at[1]) ? operand_at(e, at[1]) : NULL;
    if (!value) {
        fputc(*at, e->out); // %tid.x
        return 1;
    }
    if (*at == '%') {
        fprintf(e->out, "%s", operand_in_register(e->writer, value).text);
        return 2;
    }
    char address[MAX_TEXT];
    write_address(e->writer, address, sizeof address, value, at[1] == '1' ? e->instruction->integer : 0);
    fprintf(e->out, "%s", address);
    return 2;
}

void write_intrinsic(Writer *w, const IrInstruction *i)
{
    char *text;
    size_t length;
    Expansion e = {.writer = w, .instruction = i, .out = open_memstream(&text, &length)};
    if (!e.out)
        sim_die("out of memory for PTX");
    fputc('\t', e.out);
    for (const char *at = i->intrinsic->ptx ? i->intrinsic->ptx : ""; *at;) {
        if (*at == '$' || *at == '%' || *at == '@') {
            at += write_placeholder(&e, at);
            continue;
        }
        fputc(*at, e.out);
        if (*at++ == '\n' && *at)
            fputc('\t', e.out);
    }
    fclose(e.out);
    fputs(text, w->out);
    if (!length || text[length - 1] != '\n')
        fputc('\n', w->out);
    free(text);
}
