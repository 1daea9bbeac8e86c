// literals.c: the values of numbers, characters and strings.
#include "compiler/tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER_LENGTH = 120 };

static bool read_suffix(NumberValue *v, const char *p)
{
    for (; *p; p++) {
        const char letter = (char)tolower((unsigned char)*p);
        if (v->is_real && letter == 'f' && !v->is_float && !v->is_long) {
            v->is_float = true;
        } else if (v->is_real && letter == 'l' && !v->is_float && !v->is_long) {
            v->is_long = true;
        } else if (!v->is_real && letter == 'u' && !v->is_unsigned) {
            v->is_unsigned = true;
        } else if (!v->is_real && letter == 'l' && !v->is_long && !v->is_long_long) {
            v->is_long_long = p[1] == *p;
            v->is_long = p[1] != *p;
            p += v->is_long_long;
        } else if (!v->is_real && letter == 'z' && !v->is_long && !v->is_long_long) {
            v->is_long = v->is_unsigned = true;
        } else {
            return false;
        }
    }
    return true;
}

static bool is_digit_of(char c, int base)
{
    return base == 16 ? isxdigit((unsigned char)c) != 0 : c >= '0' && c < '0' + base;
}

static const char *read_integer(NumberValue *v, const char *p, bool *too_large)
{
    int base = 10;
    if (p[0] == '0' && (p[1] | 32) == 'x')
        base = 16, p += 2;
    else if (p[0] == '0' && (p[1] | 32) == 'b')
        base = 2, p += 2;
    else if (p[0] == '0')
        base = 8;
    v->is_decimal = base == 10;
    for (; is_digit_of(*p, base); p++) {
        const uint64_t digit = (uint64_t)(isdigit((unsigned char)*p) ? *p - '0' : tolower((unsigned char)*p) - 'a' + 10);
        *too_large |= v->integer > (UINT64_MAX - digit) / (uint64_t)base;
        v->integer = v->integer * (uint64_t)base + digit;
    }
    return p;
}

bool literal_number(Compiler *c, const Token *token, NumberValue *v)
{
    *v = (NumberValue){0};
    char digits[MAX_NUMBER_LENGTH + 1];
    size_t count = 0;
    for (uint32_t k = 0; k < token->length; k++) {
        if (count == MAX_NUMBER_LENGTH) {
            source_error(c, token->position, token->length, NULL, "this number is too long");
            return false;
        }
        if (token->text[k] != '\'')
            digits[count++] = token->text[k];
    }
    digits[count] = 0;
    const bool hex = digits[0] == '0' && (digits[1] | 32) == 'x';
    v->is_real = strpbrk(digits, hex ? ".pP" : ".eE") != NULL;
    bool too_large = false;
    const char *rest;
    if (v->is_real) {
        char *end;
        v->real = strtod(digits, &end);
        rest = end;
        if (hex && !strpbrk(digits, "pP"))
            rest = "?";
    } else {
        rest = read_integer(v, digits, &too_large);
    }
    if (!read_suffix(v, rest)) {
        const bool float_suffix = !v->is_real && (rest[0] | 32) == 'f' && !rest[1];
        source_error(c, token->position, token->length,
                     float_suffix ? compile_format(c, "a float needs a point: %.*s.0f", (int)(rest - digits), digits) : NULL,
                     "'%.*s' is not a number", (int)token->length, token->text);
        return false;
    }
    if (too_large)
        source_error(c, token->position, token->length, NULL, "'%.*s' does not fit into 64 bits", (int)token->length, token->text);
    return !too_large;
}

// Decodes one character of a literal, which may be an escape sequence, and advances *p.
static uint32_t unescape(const char **p, const char *end, bool *bad)
{
    const char c = *(*p)++;
    if (c != '\\' || *p >= end)
        return (unsigned char)c;
    const char e = *(*p)++;
    static const char from[] = "ntrabfv\\'\"?", to[] = "\n\t\r\a\b\f\v\\'\"?";
    if (e && strchr(from, e))
        return (unsigned char)to[strchr(from, e) - from];
    uint32_t value = 0;
    if (e == 'x') {
        while (*p < end && isxdigit((unsigned char)**p)) {
            value = value * 16 + (uint32_t)(isdigit((unsigned char)**p) ? **p - '0' : tolower((unsigned char)**p) - 'a' + 10);
            (*p)++;
        }
        return value & 0xff;
    }
    if (e >= '0' && e <= '7') {
        value = (uint32_t)(e - '0');
        for (int k = 0; k < 2 && *p < end && **p >= '0' && **p <= '7'; k++)
            value = value * 8 + (uint32_t)(*(*p)++ - '0');
        return value & 0xff;
    }
    *bad = true;
    return (unsigned char)e;
}

bool literal_character(Compiler *c, const Token *token, int64_t *value, bool *is_plain)
{
    const char *p = token->text, *end = token->text + token->length - 1;
    *is_plain = *p == '\'';
    while (p < end && *p != '\'')
        p++;
    p++;
    bool bad = false;
    if (p >= end) {
        source_error(c, token->position, token->length, NULL, "an empty character");
        return false;
    }
    *value = (int8_t)unescape(&p, end, &bad);
    if (p < end)
        source_error(c, token->position, token->length, "a string has double quotes: \"...\"", "a character of several letters");
    else if (bad)
        source_error(c, token->position, token->length, NULL, "an unknown escape sequence in %.*s", (int)token->length, token->text);
    return p == end && !bad;
}

static char *raw_string(Compiler *c, const Token *token, const char *quote, size_t *length)
{
    const char *open = memchr(quote, '(', token->length);
    const size_t delimiter = open ? (size_t)(open - quote - 1) : 0;
    const char *end = token->text + token->length - delimiter - 2;
    *length = open && end > open ? (size_t)(end - open - 1) : 0;
    return compile_copy_text(c, open ? open + 1 : "", *length);
}

char *literal_string(Compiler *c, const Token *token, size_t *length)
{
    const char *p = token->text, *end = token->text + token->length;
    while (p < end && *p != '"')
        p++;
    if (p > token->text && p[-1] == 'R')
        return raw_string(c, token, p, length);
    end -= end > p + 1 && end[-1] == '"';
    char *bytes = compile_allocate(c, token->length + 1);
    size_t count = 0;
    bool bad = false;
    for (p++; p < end;) {
        const size_t splice = p[0] == '\\' && p[1] == '\n' ? 2 : p[0] == '\\' && p[1] == '\r' && p[2] == '\n' ? 3 : 0;
        if (splice)
            p += splice;
        else
            bytes[count++] = (char)unescape(&p, end, &bad);
    }
    if (bad)
        source_error(c, token->position, token->length, "write a backslash as \\\\", "an unknown escape sequence in this string");
    *length = count;
    return bytes;
}
