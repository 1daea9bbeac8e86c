// statements.c: parses a function's body: instructions, labels and nested scopes.
#include "front/parser.h"

#include <string.h>

Statement *sim_new_statement(Parser *p)
{
    Function *f = p->function;
    if (f->count == p->statement_capacity) {
        if (p->statement_capacity > (1u << 24))
            sim_fail(p, "too many instructions");
        p->statement_capacity = p->statement_capacity ? 2 * p->statement_capacity : 64;
        Statement *grown = sim_allocate(&p->module->arena, p->statement_capacity * sizeof *grown);
        if (f->count)
            memcpy(grown, f->statements, f->count * sizeof *grown);
        f->statements = grown;
    }
    Statement *s = &f->statements[f->count++];
    s->line = p->token.line;
    s->source_file = p->location.file;
    s->source_line = p->location.line;
    s->caller_file = p->location.caller_file;
    s->outer_file = p->location.outer_file;
    s->outer_line = p->location.outer_line;
    return s;
}

static bool is_call(Slice opcode) // "call", "call.uni"
{
    return opcode.length >= 4 && memcmp(opcode.text, "call", 4) == 0;
}

const Operand *sim_callee_of(const Statement *s)
{
    const int at = s->count > 0 && s->operands[0].kind == IS_VECTOR;
    return s->is_call && at < s->count ? &s->operands[at] : NULL;
}

static void parse_guard_and_operands(Parser *p, void *statement)
{
    Statement *s = statement;
    if (sim_accept(p, "@")) {
        s->guard_negated = sim_accept(p, "!");
        const Slice name = sim_expect_word(p, "a predicate");
        s->guard = sim_find_register(p, name);
        if (!s->guard || s->guard->type != PRED)
            sim_fail(p, "'%.*s' is no predicate", (int)name.length, name.text);
    }
    s->opcode = sim_expect_word(p, "an instruction");
    s->is_call = is_call(s->opcode);
    while (!sim_next_is(p, ";")) {
        if (s->count == MAX_OPERANDS)
            sim_fail(p, "more than %d operands", MAX_OPERANDS);
        sim_parse_operand(p, &s->operands[s->count++]);
        if (!sim_accept(p, ","))
            break;
    }
    sim_expect(p, ";");
}

static void parse_instruction(Parser *p)
{
    Statement *s = sim_new_statement(p);
    s->opcode = p->token.text; // for errors in the guard
    s->error = sim_parse_or_skip(p, parse_guard_and_operands, s);
    if (s->error)
        s->count = 0; // the last operand may be incomplete
}

static void resolve_labels(Operand *o, const Scope *scope)
{
    if (o->kind == IS_SYMBOL && !o->variable)
        for (const Label *label = scope->labels; label; label = label->next)
            if (sim_same_slice(label->name, o->name)) {
                o->kind = IS_LABEL;
                o->label = label->statement;
                return;
            }
    for (int i = 0; i < o->count; i++)
        resolve_labels(&o->elements[i], scope);
}

static void close_scope(Parser *p)
{
    Scope *scope = p->scope;
    if (scope->labels)
        for (uint32_t i = scope->first_statement; i < p->function->count; i++)
            for (int k = 0; k < p->function->statements[i].count; k++)
                resolve_labels(&p->function->statements[i].operands[k], scope);
    p->scope = scope->outer;
}

// "name:", "name: .branchtargets a, b;" or "name: .callprototype ...;"
static void parse_label(Parser *p, Slice name)
{
    Label *label = sim_allocate(&p->module->arena, sizeof *label);
    *label = (Label){name, p->function->count, p->scope->labels};
    p->scope->labels = label;
    if (sim_next_is(p, ".branchtargets")) { // becomes a statement
        Statement *s = sim_new_statement(p);
        s->opcode = p->token.text;
        sim_advance(p);
        Operand *targets = &s->operands[s->count++];
        memset(targets, 0, sizeof *targets);
        sim_parse_list(p, targets, ";");
    } else if (sim_next_is(p, ".callprototype") || sim_next_is(p, ".calltargets")) {
        sim_skip_statement(p);
    }
}

void sim_parse_body(Parser *p)
{
    Scope scope = {.outer = p->scope, .first_statement = p->function->count};
    p->scope = &scope;
    if (++p->nesting > MAX_NESTING)
        sim_fail(p, "braces nested too deeply");
    sim_expect(p, "{");
    while (!sim_next_is(p, "}")) {
        Space space;
        if (p->token.kind == END)
            sim_fail(p, "a function without an end");
        if (sim_next_is(p, "{"))
            sim_parse_body(p);
        else if (sim_next_is(p, ".reg"))
            sim_parse_registers(p);
        else if (sim_next_is(p, ".loc"))
            sim_parse_location(p);
        else if (sim_next_is(p, ".pragma"))
            sim_skip_statement(p);
        else if (p->token.kind == WORD && sim_space_named(p->token.text, &space))
            sim_parse_variables(p, space);
        else if (sim_next_is(p, ".extern"))
            sim_advance(p);
        else if (sim_accept(p, ";"))
            continue;
        else if (p->token.kind == WORD && p->token.text.text[0] != '.') {
            const char *after = p->at;
            while (*after == ' ' || *after == '\t')
                after++;
            if (after[0] == ':' && after[1] != ':') {
                const Slice name = sim_expect_word(p, "a label");
                sim_expect(p, ":");
                parse_label(p, name);
            } else {
                parse_instruction(p);
            }
        } else if (sim_next_is(p, "@")) {
            parse_instruction(p);
        } else {
            sim_fail(p, "unknown directive '%.*s'", (int)(p->token.text.length < 40 ? p->token.text.length : 40),
                 p->token.text.text);
        }
    }
    close_scope(p);
    p->nesting--;
    sim_expect(p, "}");
}
