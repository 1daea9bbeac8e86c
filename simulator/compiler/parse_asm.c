// parse_asm.c: inline PTX.
#include "compiler/build.h"

#include <string.h>

static const char *parse_text(Compiler *c, const char *what)
{
    if (parse_token(c)->kind != TOKEN_STRING) {
        parse_syntax_error(c, NULL, "expected %s, a string", what);
        return "";
    }
    return parse_name_expression(c)->text;
}

static void check_operand(Compiler *c, const Expression *e, const char *constraint, bool is_output)
{
    const char letter = constraint[strlen(constraint) - (*constraint != 0)];
    const Type *type = type_integer_of(e->type);
    const bool fits = letter == 'f'   ? type->kind == TYPE_FLOAT
                      : letter == 'd' ? type->kind == TYPE_DOUBLE
                      : letter == 'h' ? type->size == 2
                      : letter == 'r' ? type->size == 4 && !type_is_real(type)
                      : letter == 'l' ? type->size == 8 && !type_is_real(type)
                                      : letter == 'n' && !is_output;
    if (!fits)
        expression_error(c, e, "r: 32 bits, l: 64 bits, h: 16 bits, f: float, d: double, n: constant", "the constraint \"%s\" does not fit '%s'", constraint,
                         type_text(c, e->type));
    if (is_output && !e->is_lvalue)
        expression_error(c, e, NULL, "an output of asm must be a variable");
}

static bool parse_operands(Compiler *c, Assembly *a, bool is_output, uint32_t *constraint_capacity, uint32_t *operand_capacity)
{
    bool known = true;
    while (parse_token(c)->kind == TOKEN_STRING) {
        const char *constraint = parse_text(c, "a constraint");
        if (!parse_expect(c, '(', "after the constraint"))
            return false;
        Expression *e = parse_expression(c);
        parse_expect(c, ')', "after the operand");
        if (!is_output)
            e = expression_value(c, e);
        known &= !expression_is_unknown(e);
        if (!expression_is_unknown(e)) {
            if (!is_output && type_is_integer(type_integer_of(e->type)) && e->type->size < 4 && strchr(constraint, 'r'))
                e = convert_scalar(c, e, type_basic(c, TYPE_INT));
            check_operand(c, e, constraint, is_output);
        }
        uint32_t count = a->operand_count;
        *compile_push(c, a->constraints, count, *constraint_capacity) = constraint;
        *compile_push(c, a->operands, a->operand_count, *operand_capacity) = e;
        a->output_count += is_output;
        if (!parse_accept(c, ','))
            break;
    }
    return known;
}

// Accepts a colon of asm; a :: token stands for two, the second of which is then `pending`.
static bool accept_colon(Compiler *c, bool *pending)
{
    if (*pending) {
        *pending = false;
        return true;
    }
    if (parse_accept(c, ':'))
        return true;
    *pending = parse_accept(c, ID_SCOPE);
    return *pending;
}

Statement *parse_asm(Compiler *c, Position at)
{
    Assembly *a = compile_new(c, Assembly);
    uint32_t constraint_capacity = 0, operand_capacity = 0;
    while (parse_qualifier(parse_token(c)->id) || parse_at(c, KEYWORD_GOTO) || parse_at(c, KEYWORD_INLINE)) {
        a->is_volatile |= parse_qualifier(parse_token(c)->id) == TYPE_VOLATILE;
        parse_advance(c);
    }
    parse_expect(c, '(', "after asm");
    a->text = parse_text(c, "the PTX of asm");
    bool pending = false, known = true;
    if (accept_colon(c, &pending)) {
        known &= pending || parse_operands(c, a, true, &constraint_capacity, &operand_capacity);
        if (accept_colon(c, &pending)) {
            known &= pending || parse_operands(c, a, false, &constraint_capacity, &operand_capacity);
            if (accept_colon(c, &pending))
                while (parse_token(c)->kind == TOKEN_STRING) {
                    a->clobbers_memory |= !strcmp(parse_text(c, "a clobber"), "memory");
                    if (!parse_accept(c, ','))
                        break;
                }
        }
    }
    parse_expect(c, ')', "after the operands of asm");
    parse_expect(c, ';', "after asm(...)");
    if (!known)
        return statement_empty(c, at);
    Expression *e = expression_new(c, EXPRESSION_ASM, type_basic(c, TYPE_VOID), at, parse_end(c));
    a->is_volatile |= a->output_count == 0;
    e->assembly = a;
    Statement *s = statement_new(c, STATEMENT_EXPRESSION, at);
    s->expression = e;
    return s;
}
