// lexer.c: splits PTX into tokens, with one token of lookahead; functions that expect, accept or skip tokens.
#include "front/parser.h"

#include <stdlib.h>
#include <string.h>

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

static void skip_blanks(Parser *p)
{
    for (;; p->at++) {
        if (*p->at == '\n') {
            p->line++;
        } else if (p->at[0] == '/' && p->at[1] == '/') {
            while (p->at[1] && p->at[1] != '\n')
                p->at++;
        } else if (p->at[0] == '/' && p->at[1] == '*') {
            for (p->at += 2; *p->at && !(p->at[0] == '*' && p->at[1] == '/'); p->at++)
                p->line += *p->at == '\n';
            if (!*p->at)
                return;
            p->at++;
        } else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r') {
            return;
        }
    }
}

static void read_word(Parser *p)
{
    const char *c = p->at + 1;
    const bool is_directive = *p->at == '.'; // ends at the next dot: .reg.b32 is two tokens
    while ((is_word_start(*c) && !(is_directive && *c == '.')) || is_digit(*c) || (c[0] == ':' && c[1] == ':') ||
           (c[0] == ':' && c[-1] == ':'))
        c++;
    p->token.kind = WORD;
    p->token.text = (Slice){p->at, (size_t)(c - p->at)};
    p->at = c;
}

// Reads 0f3F800000 or 0d3FF0000000000000, the bits of a float or of a double; false for other tokens.
static bool read_float_bits(Parser *p)
{
    const char letter = p->at[1] | 0x20;
    const int digits = letter == 'f' ? 8 : letter == 'd' ? 16 : 0;
    if (p->at[0] != '0' || digits == 0)
        return false;
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++) {
        const char c = p->at[2 + i], low = c | 0x20;
        if (!is_digit(c) && !(low >= 'a' && low <= 'f'))
            return false;
        bits = bits << 4 | (uint64_t)(is_digit(c) ? c - '0' : low - 'a' + 10);
    }
    p->token.kind = FLOATING;
    if (digits == 16) {
        memcpy(&p->token.floating, &bits, sizeof bits);
    } else {
        const uint32_t low = (uint32_t)bits;
        float value;
        memcpy(&value, &low, sizeof low);
        p->token.floating = value;
        p->token.is_float32 = true;
    }
    p->token.integer = (int64_t)bits; // exact: the conversion to double may change a NaN's payload
    p->token.text = (Slice){p->at, (size_t)digits + 2};
    p->at += digits + 2;
    return true;
}

static void read_number(Parser *p)
{
    if (read_float_bits(p))
        return;
    const char *start = p->at;
    const bool is_binary = start[0] == '0' && (start[1] | 0x20) == 'b';
    char *end;
    p->token.kind = INTEGER;
    p->token.integer = (int64_t)strtoull(is_binary ? start + 2 : start, &end, is_binary ? 2 : 0);
    const bool is_hexadecimal = start[0] == '0' && (start[1] | 0x20) == 'x';
    if (!is_hexadecimal && (*end == '.' || (*end | 0x20) == 'e')) {
        p->token.kind = FLOATING;
        p->token.floating = strtod(start, &end);
        memcpy(&p->token.integer, &p->token.floating, sizeof p->token.floating);
    } else if ((*end | 0x20) == 'u') {
        end++;
    }
    p->token.text = (Slice){start, (size_t)(end - start)};
    p->at = end;
}

void sim_advance(Parser *p)
{
    skip_blanks(p);
    p->token = (Token){.line = p->line};
    const char c = *p->at;
    if (c == 0) {
        p->token.kind = END;
        p->token.text = (Slice){"the end", 7};
    } else if (is_word_start(c)) {
        read_word(p);
    } else if (is_digit(c)) {
        read_number(p);
    } else if (c == '"') {
        const char *end = p->at + 1;
        while (*end && *end != '"' && *end != '\n')
            end++;
        p->token.kind = STRING;
        p->token.text = (Slice){p->at + 1, (size_t)(end - p->at - 1)};
        if (*end != '"')
            sim_fail(p, "a string without an end");
        p->at = end + 1;
    } else {
        p->token.kind = PUNCTUATION;
        p->token.text = (Slice){p->at++, 1};
    }
}

bool sim_next_is(const Parser *p, const char *text)
{
    return p->token.kind != STRING && sim_slice_is(p->token.text, text);
}

bool sim_accept(Parser *p, const char *text)
{
    if (!sim_next_is(p, text))
        return false;
    sim_advance(p);
    return true;
}

void sim_expect(Parser *p, const char *text)
{
    if (!sim_accept(p, text))
        sim_fail(p, "expected '%s', found '%.*s'", text, (int)(p->token.text.length < 40 ? p->token.text.length : 40),
             p->token.text.text);
}

Slice sim_expect_word(Parser *p, const char *what)
{
    const Slice word = p->token.text;
    if (p->token.kind != WORD)
        sim_fail(p, "expected %s, found '%.*s'", what, (int)(word.length < 40 ? word.length : 40), word.text);
    sim_advance(p);
    return word;
}

int64_t sim_expect_integer(Parser *p)
{
    const bool is_negative = sim_accept(p, "-");
    const int64_t value = p->token.integer;
    if (p->token.kind != INTEGER)
        sim_fail(p, "expected a whole number");
    sim_advance(p);
    return is_negative ? (int64_t)(0 - (uint64_t)value) : value;
}

void sim_skip_statement(Parser *p)
{
    while (!sim_next_is(p, ";") && p->token.kind != END)
        sim_advance(p);
    sim_expect(p, ";");
}

// Scans characters instead of tokens, for speed, because most bodies are skipped.
void sim_skip_braces(Parser *p)
{
    if (!sim_next_is(p, "{"))
        sim_expect(p, "{");
    for (int depth = 1; depth > 0;) {
        const char c = *p->at;
        const bool is_comment = c == '/' && (p->at[1] == '/' || p->at[1] == '*');
        if (c == '"' || c == 0)
            sim_advance(p);
        else if (c == '\n' || is_comment)
            skip_blanks(p);
        else
            p->at++;
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (c == 0)
            sim_fail(p, "a brace without its partner");
    }
    sim_advance(p);
}

void sim_skip_line(Parser *p)
{
    while (*p->at && *p->at != '\n')
        p->at++;
    sim_advance(p);
}

const char *sim_parse_or_skip(Parser *p, void (*parse)(Parser *, void *), void *what)
{
    const Position start = sim_position(p);
    if (sim_parse_catching(p, parse, what))
        return NULL;
    const char *error = sim_copy_error(p);
    sim_restore_position(p, &start);
    sim_skip_statement(p);
    return error;
}
