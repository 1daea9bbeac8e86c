// parse_operands.c: parses the operands of a PTX statement. (operands.c translates them to frame offsets.)
#include "front/parser.h"

#include <string.h>

static void parse_elements(Parser *p, Operand *o, const char *end)
{
    Operand elements[128];
    if (++p->nesting > MAX_NESTING)
        sim_fail(p, "operands nested too deeply");
    while (!sim_next_is(p, end)) {
        if (o->count == 128)
            sim_fail(p, "a list of more than 128 operands");
        sim_parse_operand(p, &elements[o->count++]);
        if (!sim_accept(p, ","))
            break;
    }
    sim_expect(p, end);
    p->nesting--;
    o->elements = sim_allocate(&p->module->arena, ((size_t)o->count + 1) * sizeof *o->elements);
    if (o->count)
        memcpy(o->elements, elements, (size_t)o->count * sizeof *elements);
}

void sim_parse_list(Parser *p, Operand *o, const char *end)
{
    o->kind = IS_VECTOR;
    parse_elements(p, o, end);
}

// Parses [base], [base+8] or [base, {coordinates}]; coordinates become the operand's elements.
static void parse_address(Parser *p, Operand *o)
{
    sim_parse_operand(p, o);
    if (o->kind == IS_VECTOR || o->kind == IS_SINK || o->is_address)
        sim_fail(p, "not an address");
    o->is_address = true;
    if (sim_accept(p, "+") || sim_next_is(p, "-"))
        o->integer = sim_expect_integer(p);
    if (sim_accept(p, ","))
        parse_elements(p, o, "]");
    else
        sim_expect(p, "]");
}

// Splits %r1.b0 into a register and a selector.
static void split_selector(Parser *p, Operand *o)
{
    const char *dot = memchr(o->name.text, '.', o->name.length);
    const size_t length = dot ? (size_t)(dot - o->name.text) : 0;
    o->reg = dot ? sim_find_register(p, (Slice){o->name.text, length}) : NULL;
    if (o->reg)
        o->selector = (Slice){dot + 1, o->name.length - length - 1};
}

// Parses the q of %r|q and of _|q.
static void parse_second_predicate(Parser *p, Operand *o)
{
    const Slice second = sim_expect_word(p, "a register");
    o->second = sim_find_register(p, second);
    if (!o->second && !sim_slice_is(second, "_"))
        sim_fail(p, "unknown register '%.*s'", (int)second.length, second.text);
}

static void parse_name(Parser *p, Operand *o)
{
    o->name = sim_expect_word(p, "an operand");
    if (sim_slice_is(o->name, "_")) {
        o->kind = IS_SINK;
        if (sim_accept(p, "|"))
            parse_second_predicate(p, o);
        return;
    }
    o->reg = sim_find_register(p, o->name);
    if (!o->reg)
        split_selector(p, o);
    if (o->reg) {
        o->kind = IS_REGISTER;
        if (sim_accept(p, "|"))
            parse_second_predicate(p, o);
        return;
    }
    o->variable = sim_variable_in_scope(p, o->name);
    o->kind = IS_SYMBOL; // the end of the scope turns it into a label if one has this name
}

void sim_parse_operand(Parser *p, Operand *o)
{
    memset(o, 0, sizeof *o);
    o->label = NO_INDEX;
    if (sim_accept(p, "{")) {
        sim_parse_list(p, o, "}");
    } else if (sim_accept(p, "(")) {
        sim_parse_list(p, o, ")");
    } else if (sim_accept(p, "[")) {
        parse_address(p, o);
    } else if (sim_accept(p, "!")) {
        parse_name(p, o);
        o->is_negated = true;
    } else if (p->token.kind == WORD) {
        parse_name(p, o);
        if (o->kind == IS_SYMBOL && sim_accept(p, "+"))
            o->integer = sim_expect_integer(p);
    } else {
        const bool is_negative = sim_accept(p, "-");
        if (p->token.kind == INTEGER) {
            o->kind = IS_INTEGER;
            o->integer = is_negative ? (int64_t)(0 - (uint64_t)p->token.integer) : p->token.integer;
        } else if (p->token.kind == FLOATING) {
            o->kind = IS_FLOAT;
            o->floating = is_negative ? -p->token.floating : p->token.floating;
            o->is_float32 = p->token.is_float32;
            o->integer = p->token.integer ^ (is_negative ? o->is_float32 ? 0x80000000 : INT64_MIN : 0);
        } else {
            sim_fail(p, "expected an operand, found '%.*s'",
                     (int)(p->token.text.length < 40 ? p->token.text.length : 40), p->token.text.text);
        }
        sim_advance(p);
    }
}
