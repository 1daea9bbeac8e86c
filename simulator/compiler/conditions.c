// conditions.c: evaluates the expressions of #if.
#include "compiler/preprocessor.h"

#include <string.h>

typedef struct ConditionReader {
    Compiler *compiler;
    const Token *tokens;
    uint32_t at, count, depth;
    Position position;
    bool failed;
} ConditionReader;

static int64_t read_conditional(ConditionReader *r);

static void fail(ConditionReader *r, const char *what)
{
    if (!r->failed)
        source_error(r->compiler, r->at < r->count ? r->tokens[r->at].position : r->position, 0, NULL, "%s in #if", what);
    r->failed = true;
}

static bool accept(ConditionReader *r, uint16_t id)
{
    const bool found = r->at < r->count && token_is(&r->tokens[r->at], id);
    r->at += found;
    return found;
}

static int64_t read_primary(ConditionReader *r)
{
    if (r->at >= r->count) {
        fail(r, "an expression is missing");
        return 0;
    }
    if (accept(r, '(')) {
        const int64_t value = read_conditional(r);
        if (!accept(r, ')'))
            fail(r, "a ) is missing");
        return value;
    }
    const Token *t = &r->tokens[r->at++];
    NumberValue number;
    int64_t character;
    bool plain;
    if (t->kind == TOKEN_NUMBER && literal_number(r->compiler, t, &number))
        return (int64_t)number.integer;
    if (t->kind == TOKEN_CHARACTER && literal_character(r->compiler, t, &character, &plain))
        return character;
    if (t->kind == TOKEN_NAME) {
        if (r->at < r->count && token_is(&r->tokens[r->at], '(')) { // such as __has_builtin(x)
            while (r->at < r->count && !accept(r, ')'))
                r->at++;
            return 0;
        }
        return t->id == KEYWORD_TRUE;
    }
    r->at--;
    fail(r, "a wrong token");
    return 0;
}

static int64_t read_unary(ConditionReader *r)
{
    if (++r->depth > MAX_NESTING)
        source_abandon(r->compiler, r->position, "an #if is nested too deeply");
    int64_t value;
    if (accept(r, '!'))
        value = !read_unary(r);
    else if (accept(r, '-'))
        value = (int64_t)(0 - (uint64_t)read_unary(r));
    else if (accept(r, '~'))
        value = ~read_unary(r);
    else if (accept(r, '+'))
        value = read_unary(r);
    else
        value = read_primary(r);
    r->depth--;
    return value;
}

enum { MIN_PRECEDENCE = 1, MAX_PRECEDENCE = 10 };

// The precedence of the operator at the current token, or 0; sets *id, and *length in tokens.
static int operator_level(const ConditionReader *r, uint16_t *id, uint32_t *length)
{
    if (r->at >= r->count || r->tokens[r->at].kind != TOKEN_PUNCTUATOR)
        return 0;
    *id = r->tokens[r->at].id;
    *length = 1;
    if (*id == '>' && r->at + 1 < r->count && token_is(&r->tokens[r->at + 1], '>')) {
        *length = 2;
        return 8;
    }
    return token_operator_level(*id);
}

static int64_t apply(ConditionReader *r, uint16_t id, bool shift_right, int64_t a, int64_t b)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    if (shift_right)
        return a >> (b & 63);
    switch (id) {
    case ID_OR: return a || b;
    case ID_AND: return a && b;
    case '|': return a | b;
    case '^': return a ^ b;
    case '&': return a & b;
    case ID_EQUAL: return a == b;
    case ID_NOT_EQUAL: return a != b;
    case '<': return a < b;
    case '>': return a > b;
    case ID_LESS_EQUAL: return a <= b;
    case ID_GREATER_EQUAL: return a >= b;
    case ID_SHIFT_LEFT: return (int64_t)(ua << (b & 63));
    case '+': return (int64_t)(ua + ub);
    case '-': return (int64_t)(ua - ub);
    case '*': return (int64_t)(ua * ub);
    default:
        if (b == 0)
            fail(r, "a division by zero");
        if (b == 0 || b == -1)
            return id == '/' ? (int64_t)(0 - ua) : 0;
        return id == '/' ? a / b : a % b;
    }
}

static int64_t read_binary(ConditionReader *r, int level)
{
    if (level > MAX_PRECEDENCE)
        return read_unary(r);
    int64_t left = read_binary(r, level + 1);
    uint16_t id = ID_NONE;
    uint32_t length = 0;
    while (!r->failed && operator_level(r, &id, &length) == level) {
        r->at += length;
        const bool had_failed = r->failed;
        const uint16_t operator_id = id;
        const bool shift = length == 2, skipped = (operator_id == ID_AND && !left) || (operator_id == ID_OR && left);
        r->compiler->silent += skipped; // 0 && 1 / 0 is no error
        const int64_t right = read_binary(r, level + 1);
        r->compiler->silent -= skipped;
        if (skipped)
            r->failed = had_failed;
        left = apply(r, operator_id, shift, left, right);
    }
    return left;
}

static int64_t read_conditional(ConditionReader *r)
{
    if (++r->depth > MAX_NESTING)
        source_abandon(r->compiler, r->position, "an #if is nested too deeply");
    int64_t value = read_binary(r, MIN_PRECEDENCE);
    if (accept(r, '?')) {
        const int64_t if_true = read_conditional(r);
        if (!accept(r, ':'))
            fail(r, "a : is missing");
        const int64_t if_false = read_conditional(r);
        value = value ? if_true : if_false;
    }
    r->depth--;
    return value;
}

// Replaces defined X, defined(X) and __has_include(X), before macros are expanded.
static TokenList replace_defined(Compiler *c, const Token *line, uint32_t count)
{
    TokenList out = {0};
    for (uint32_t k = 0; k < count; k++) {
        Token t = line[k];
        const bool defined = t.length == 7 && !memcmp(t.text, "defined", 7);
        const bool include = t.length == 13 && !memcmp(t.text, "__has_include", 13);
        if (t.kind == TOKEN_NAME && (defined || include)) {
            const bool parenthesis = k + 1 < count && token_is(&line[k + 1], '(');
            const Token *name = k + 1 + parenthesis < count ? &line[k + 1 + parenthesis] : NULL;
            bool value = defined && name && name->kind == TOKEN_NAME && name->name->macro;
            k += name ? 1 + parenthesis : 0;
            if (include) {
                const char *begin = name ? name->text : "";
                while (k < count && !token_is(&line[k], ')'))
                    k++;
                const size_t length = k < count && line[k].text > begin + 2 ? (size_t)(line[k].text - begin - 2) : 0;
                value = header_is_known(compile_copy_text(c, begin + (length > 0), length));
                k -= parenthesis;
            }
            k += parenthesis && k + 1 < count && token_is(&line[k + 1], ')');
            t = (Token){.kind = TOKEN_NUMBER, .position = t.position, .text = value ? "1" : "0", .length = 1};
        }
        *compile_push(c, out.tokens, out.count, out.capacity) = t;
    }
    return out;
}

bool condition_value(Compiler *c, const Token *line, uint32_t count, Position at)
{
    const TokenList known = replace_defined(c, line, count);
    const TokenList list = macro_expand_list(c, known.tokens, known.count);
    ConditionReader r = {.compiler = c, .tokens = list.tokens, .count = list.count, .position = at};
    const int64_t value = read_conditional(&r);
    if (!r.failed && r.at < r.count)
        fail(&r, "a wrong token");
    return value != 0 && !r.failed;
}
