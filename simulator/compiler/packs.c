// packs.c: pack expansions and fold expressions. A pattern is parsed once for each element of its packs, with the packs' names bound to that
// element.
#include "compiler/build.h"

#include <string.h>

enum { MAX_PATTERN_PACKS = 8 };

typedef struct Pattern {
    uint32_t begin, end;  // tokens [begin, end); `end` is the `...` or the token that ends the pattern
    Symbol *packs[MAX_PATTERN_PACKS], saved[MAX_PATTERN_PACKS];
    uint32_t pack_count;
    uint32_t element_count;
} Pattern;

static bool opens(const Token *t)
{
    return token_is(t, '(') || token_is(t, '[') || token_is(t, '{');
}

static bool closes(const Token *t)
{
    return token_is(t, ')') || token_is(t, ']') || token_is(t, '}');
}

static bool opens_angle(Compiler *c, const Token *t) // the < of a template argument list or a named cast
{
    const Token *name = t - 1;
    if (!token_is(t, '<') || name->kind != TOKEN_NAME)
        return false;
    const Symbol *symbol = name->id ? NULL : scope_lookup(c, c->parser->state.scope, name->name);
    return name->id || (symbol && symbol->kind == SYMBOL_TEMPLATE) || token_is(name - 1, ID_SCOPE);
}

// The index of the first `...` at this nesting level, before the end of the pattern; 0: there is none.
static uint32_t find_ellipsis(Compiler *c, uint32_t from, bool ends_at_comma)
{
    const Token *tokens = c->parser->list.tokens;
    const bool in_angles = c->parser->state.no_greater;
    uint32_t depth = 0, angles = 0;
    for (uint32_t k = from; tokens[k].kind != TOKEN_END; k++) {
        const Token *t = &tokens[k];
        const bool ends = closes(t) || token_is(t, ';') || (!angles && ((ends_at_comma && token_is(t, ',')) || (in_angles && token_is(t, '>'))));
        if (depth == 0 && ends)
            return 0;
        if (depth == 0 && !angles && token_is(t, ID_ELLIPSIS) && !(k > from && token_is(t - 1, KEYWORD_SIZEOF)))
            return k;
        if (depth == 0) {
            angles += opens_angle(c, t);
            angles -= angles && token_is(t, '>');
        }
        depth += opens(t);
        depth -= closes(t);
    }
    return 0;
}

// Finds the unexpanded packs of a pattern, except those that are expanded within it or are operands of sizeof...
static void find_packs(Compiler *c, Pattern *p)
{
    const Token *tokens = c->parser->list.tokens;
    p->pack_count = 0;
    p->element_count = 0;
    for (uint32_t k = p->begin; k < p->end && p->pack_count < MAX_PATTERN_PACKS; k++) {
        const Token *t = &tokens[k];
        const bool expanded = k + 1 < p->end && token_is(t + 1, ID_ELLIPSIS), counted = k > p->begin + 1 && token_is(t - 2, ID_ELLIPSIS);
        const bool member = k > p->begin && (token_is(t - 1, '.') || token_is(t - 1, ID_ARROW) || token_is(t - 1, ID_SCOPE));
        Symbol *symbol = t->kind == TOKEN_NAME && !t->id && !expanded && !counted && !member ? scope_lookup(c, c->parser->state.scope, t->name) : NULL;
        if (!symbol || symbol->kind != SYMBOL_PACK)
            continue;
        bool known = false;
        for (uint32_t j = 0; j < p->pack_count; j++)
            known |= p->packs[j] == symbol;
        if (known)
            continue;
        if (p->pack_count && symbol->element_count != p->element_count)
            source_error(c, t->position, t->length, NULL, "the packs of this pattern have %u and %u elements", p->element_count, symbol->element_count);
        if (!p->pack_count || symbol->element_count < p->element_count)
            p->element_count = symbol->element_count;
        p->packs[p->pack_count++] = symbol;
    }
}

// Binds the packs' names to their elements of this index, until pattern_end.
static void pattern_begin(Compiler *c, Pattern *p, uint32_t index)
{
    for (uint32_t k = 0; k < p->pack_count; k++) {
        Symbol *symbol = p->packs[k];
        const Symbol *element = symbol->elements[index];
        p->saved[k] = *symbol;
        symbol->kind = element->kind;
        symbol->type = element->type;
        symbol->dependent = element->dependent;
        if (element->kind == SYMBOL_VARIABLE)
            symbol->variable = element->variable;
        else
            symbol->constant = element->constant;
    }
    c->parser->state.at = p->begin;
}

static void pattern_end(Pattern *p)
{
    for (uint32_t k = 0; k < p->pack_count; k++)
        *p->packs[k] = p->saved[k];
}

bool pack_at_expansion(Compiler *c)
{
    return c->parser->has_packs && find_ellipsis(c, c->parser->state.at, true);
}

bool pack_expand(Compiler *c, void (*parse)(Compiler *c, void *context), void *context)
{
    Pattern p = {.begin = c->parser->state.at, .end = find_ellipsis(c, c->parser->state.at, true)};
    find_packs(c, &p);
    if (!p.pack_count) // in the check of an uninstantiated template
        return false;
    for (uint32_t k = 0; k < p.element_count; k++) {
        pattern_begin(c, &p, k);
        parse(c, context);
        pattern_end(&p);
        if (c->parser->state.at != p.end && c->parser->state.at != p.end + 1) { // after a type name, the `...` has been consumed
            parse_syntax_error(c, NULL, "expected '...' after this pattern");
            break;
        }
    }
    c->parser->state.at = p.end + 1;
    return true;
}

// ---- fold expressions

typedef struct Fold {
    uint16_t id;               // token id of the operator
    uint32_t operator_at, operator_length;
    Pattern pattern;
    uint32_t initial;          // index of the first token of the initial value; 0: none
    uint32_t close;            // index of the )
    bool from_left;
} Fold;

static Expression *combine(Compiler *c, const Fold *f, Expression *left, Expression *right)
{
    const Position at = c->parser->list.tokens[f->operator_at].position;
    switch (f->id) {
    case ',': return build_comma(c, left, right);
    case '=': case ID_ADD_ASSIGN: case ID_SUB_ASSIGN: case ID_MUL_ASSIGN: case ID_DIV_ASSIGN: case ID_REM_ASSIGN: case ID_AND_ASSIGN:
    case ID_OR_ASSIGN: case ID_XOR_ASSIGN: case ID_SHIFT_LEFT_ASSIGN: return build_assign(c, f->id, left, right, at);
    default: return build_binary(c, f->id, left, right, at);
    }
}

static Expression *empty_fold(Compiler *c, const Fold *f, Position start, Position end)
{
    if (f->id == ID_AND || f->id == ID_OR)
        return expression_integer(c, type_basic(c, TYPE_BOOL), f->id == ID_AND, start, end);
    if (f->id == ',')
        return initialise_value(c, type_basic(c, TYPE_VOID), start, end);
    source_error(c, start, end - start, "add what it begins with: (0 + ... + name)", "the pack is empty, and '%s' has no value for that",
                 token_id_text(c->parser->list.tokens[f->operator_at].id));
    return expression_unknown(c, start, end);
}

static Expression *operand_at(Compiler *c, uint32_t token)
{
    c->parser->state.at = token;
    return parse_operand(c);
}

// The number of tokens of the operator at a token; 0: not an operator. Sets its id.
static uint32_t fold_operator(Compiler *c, uint32_t at, uint16_t *id)
{
    const Token *t = &c->parser->list.tokens[at];
    *id = t->id;
    if (t->kind != TOKEN_PUNCTUATOR || opens(t) || closes(t) || token_is(t, ';') || token_is(t, '?') || token_is(t, ':'))
        return 0;
    if (token_is(t, '>') && token_is(t + 1, '>')) {
        *id = OPERATOR_SHIFT_RIGHT;
        return 2;
    }
    return 1;
}

// Finds the operator, pattern and initial value of a fold expression whose parenthesis is before token `begin`. False: not a fold.
static bool read_fold(Compiler *c, uint32_t begin, uint32_t ellipsis, Fold *f)
{
    const Token *tokens = c->parser->list.tokens;
    uint32_t close = ellipsis + 1, depth = 0;
    for (; tokens[close].kind != TOKEN_END && (depth || !closes(&tokens[close])); close++) {
        depth += opens(&tokens[close]);
        depth -= closes(&tokens[close]);
    }
    *f = (Fold){.pattern = {.begin = begin, .end = close}, .close = close};
    f->from_left = ellipsis == begin;
    f->operator_at = f->from_left ? ellipsis + 1 : ellipsis - 1;
    if (!f->from_left && ellipsis >= begin + 2 && token_is(&tokens[ellipsis - 1], '>') && token_is(&tokens[ellipsis - 2], '>'))
        f->operator_at--;
    f->operator_length = fold_operator(c, f->operator_at, &f->id);
    if (!f->operator_length)
        return false;
    const uint32_t after = ellipsis + 1;
    if (f->from_left) {
        f->pattern.begin = after + f->operator_length;
        find_packs(c, &f->pattern);
        return true;
    }
    f->pattern.end = f->operator_at;
    find_packs(c, &f->pattern);
    if (after == close)
        return true;
    f->initial = after + f->operator_length;
    if (!f->pattern.pack_count) { // init op ... op pattern
        f->from_left = true;
        f->pattern = (Pattern){.begin = f->initial, .end = close};
        f->initial = begin;
        find_packs(c, &f->pattern);
    }
    return true;
}

static Expression *fold_elements(Compiler *c, Fold *f, Position start)
{
    Pattern *p = &f->pattern;
    Expression **elements = compile_allocate(c, (p->element_count + 1) * sizeof *elements);
    for (uint32_t k = 0; k < p->element_count; k++) {
        pattern_begin(c, p, k);
        elements[k] = parse_operand(c);
        pattern_end(p);
    }
    Expression *value = f->initial ? operand_at(c, f->initial) : NULL;
    for (uint32_t k = 0; k < p->element_count; k++) {
        Expression *e = elements[f->from_left ? k : p->element_count - 1 - k];
        value = !value ? e : f->from_left ? combine(c, f, value, e) : combine(c, f, e, value);
    }
    return value ? value : empty_fold(c, f, start, parse_end(c));
}

Expression *parse_fold(Compiler *c)
{
    ParserState *state = &c->parser->state;
    const uint32_t begin = state->at + 1, ellipsis = c->parser->has_packs ? find_ellipsis(c, begin, false) : 0;
    const Position start = parse_token(c)->position;
    Fold f;
    if (!ellipsis || !read_fold(c, begin, ellipsis, &f))
        return NULL;
    const bool greater = state->no_greater;
    state->no_greater = false;
    Expression *value = f.pattern.pack_count ? fold_elements(c, &f, start) : expression_unknown(c, start, start);
    state->no_greater = greater;
    state->at = f.close;
    parse_expect(c, ')', "after the fold expression");
    Expression *e = compile_new(c, Expression);
    *e = *value;
    e->in_parentheses = true;
    e->start = start;
    e->end = parse_end(c);
    return e;
}
