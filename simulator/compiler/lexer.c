// lexer.c: interns names, and splits a text into tokens.
#include "compiler/tokens.h"

#include <ctype.h>
#include <string.h>

// ---- names

enum { NAME_BUCKETS = 4096 };

typedef struct NameTable {
    Name *buckets[NAME_BUCKETS];
} NameTable;

Name *name_intern(Compiler *c, const char *text, size_t length)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t k = 0; k < length; k++)
        hash = (hash ^ (unsigned char)text[k]) * 16777619u;
    Name **bucket = &c->names->buckets[hash % NAME_BUCKETS];
    for (Name *name = *bucket; name; name = name->next)
        if (name->hash == hash && name->length == length && !memcmp(name->text, text, length))
            return name;
    Name *name = compile_new(c, Name);
    *name = (Name){.text = compile_copy_text(c, text, length), .length = (uint32_t)length, .hash = hash, .next = *bucket};
    return *bucket = name;
}

static const struct {
    const char *text;
    uint16_t id;
} KEYWORDS[] = {
#define KEYWORD(id, text) {text, KEYWORD_##id},
#include "compiler/keywords.h"
#undef KEYWORD
};

int token_operator_level(uint16_t id)
{
    switch (id) {
    case ID_OR: return 1;
    case ID_AND: return 2;
    case '|': return 3;
    case '^': return 4;
    case '&': return 5;
    case ID_EQUAL: case ID_NOT_EQUAL: return 6;
    case '<': case '>': case ID_LESS_EQUAL: case ID_GREATER_EQUAL: return 7;
    case ID_SHIFT_LEFT: return 8;
    case '+': case '-': return 9;
    case '*': case '/': case '%': return 10;
    default: return 0;
    }
}

void names_start(Compiler *c)
{
    c->names = compile_new(c, NameTable);
    for (size_t k = 0; k < sizeof KEYWORDS / sizeof *KEYWORDS; k++)
        name_intern(c, KEYWORDS[k].text, strlen(KEYWORDS[k].text))->keyword = KEYWORDS[k].id;
}

const char *keyword_suggestion(const Name *name)
{
    uint32_t limit = name->length <= 3 ? 2 : name->length <= 5 ? 5 : 7; // in units of source_distance
    const char *best = NULL;
    for (size_t k = 0; k < sizeof KEYWORDS / sizeof *KEYWORDS; k++) {
        const uint32_t distance = source_distance(name->text, name->length, KEYWORDS[k].text, strlen(KEYWORDS[k].text), limit);
        if (distance < limit) {
            limit = distance;
            best = KEYWORDS[k].text;
        }
    }
    return best;
}

// ---- punctuators, longest first

static const struct {
    const char *text;
    uint16_t id;
} PUNCTUATORS[] = {
    {"<<<", ID_LAUNCH}, {"<<=", ID_SHIFT_LEFT_ASSIGN}, {"...", ID_ELLIPSIS}, {"->*", ID_ARROW_STAR}, {"->", ID_ARROW},
    {"++", ID_INCREMENT}, {"--", ID_DECREMENT}, {"<<", ID_SHIFT_LEFT}, {"<=", ID_LESS_EQUAL}, {">=", ID_GREATER_EQUAL},
    {"==", ID_EQUAL}, {"!=", ID_NOT_EQUAL}, {"&&", ID_AND}, {"||", ID_OR}, {"+=", ID_ADD_ASSIGN}, {"-=", ID_SUB_ASSIGN},
    {"*=", ID_MUL_ASSIGN}, {"/=", ID_DIV_ASSIGN}, {"%=", ID_REM_ASSIGN}, {"&=", ID_AND_ASSIGN}, {"|=", ID_OR_ASSIGN},
    {"^=", ID_XOR_ASSIGN}, {"::", ID_SCOPE}, {"##", ID_PASTE}, {".*", ID_DOT_STAR},
};

const char *token_id_text(uint16_t id)
{
    static const char single[128][2] = {
#define ONE(c) [c] = {c, 0}
        ONE('('), ONE(')'), ONE('['), ONE(']'), ONE('{'), ONE('}'), ONE(';'), ONE(','), ONE('.'), ONE('+'), ONE('-'), ONE('*'),
        ONE('/'), ONE('%'), ONE('&'), ONE('|'), ONE('^'), ONE('~'), ONE('!'), ONE('<'), ONE('>'), ONE('='), ONE('?'), ONE(':'),
        ONE('#'),
#undef ONE
    };
    if (id < 128)
        return single[id];
    for (size_t k = 0; k < sizeof PUNCTUATORS / sizeof *PUNCTUATORS; k++)
        if (PUNCTUATORS[k].id == id)
            return PUNCTUATORS[k].text;
    for (size_t k = 0; k < sizeof KEYWORDS / sizeof *KEYWORDS; k++)
        if (KEYWORDS[k].id == id)
            return KEYWORDS[k].text;
    return "?";
}

// ---- tokens

static bool starts_name(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 128;
}

static bool continues_name(char c)
{
    return starts_name(c) || isdigit((unsigned char)c);
}

// Whether p is at a typographic quotation mark in UTF-8, three bytes long, as inserted by word processors.
static bool is_typographic(const char *p)
{
    return (unsigned char)p[0] == 0xe2 && (unsigned char)p[1] == 0x80 && (unsigned char)p[2] >= 0x98 && (unsigned char)p[2] <= 0x9f;
}

// The length of a line splice, a backslash and the line end after it; 0: none.
static size_t splice_length(const char *p)
{
    return p[0] != '\\' ? 0 : p[1] == '\n' ? 2 : p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

static void skip_block_comment(Lexer *l)
{
    const char *begin = l->at;
    for (l->at += 2; l->at < l->end; l->at++)
        if (l->at[0] == '*' && l->at[1] == '/') {
            l->at += 2;
            return;
        }
    source_error(l->compiler, l->base + (Position)(begin - l->text), 2, "end the comment with */", "this comment has no end");
    l->compiler->is_cut_off = true;
}

static void skip_space(Lexer *l)
{
    for (; l->at < l->end; l->after_space = true) {
        const size_t splice = splice_length(l->at);
        if (*l->at == '\n') {
            l->at_line_start = true;
            l->at++;
        } else if (splice) {
            l->at += splice;
        } else if (*l->at == ' ' || (*l->at >= '\t' && *l->at <= '\r')) {
            l->at++;
        } else if (l->at[0] == '/' && l->at[1] == '/') {
            while (l->at < l->end && *l->at != '\n')
                l->at += splice_length(l->at) ? splice_length(l->at) : 1;
        } else if (l->at[0] == '/' && l->at[1] == '*') {
            skip_block_comment(l);
        } else {
            return;
        }
    }
}

static const char *end_of_number(const char *p)
{
    while (continues_name(*p) || *p == '.' || (*p == '\'' && isalnum((unsigned char)p[1])) ||
           ((*p == '+' || *p == '-') && strchr("eEpP", p[-1]) && p[-1]))
        if ((*p == '+' || *p == '-') && (p[-1] | 32) == 'e') { // 0xe+1 is a sum
            const char *q = p;
            while (isalnum((unsigned char)q[-1]) || q[-1] == '.')
                q--;
            if (q[0] == '0' && (q[1] | 32) == 'x')
                return p;
            p++;
        } else {
            p++;
        }
    return p;
}

static const char *end_of_raw_string(Lexer *l, const char *p) // at the quote after R
{
    const char *open = p + 1;
    while (open < l->end && *open != '(' && open - p < 18)
        open++;
    const size_t length = (size_t)(open - p - 1);
    for (const char *q = open; q < l->end; q++)
        if (*q == ')' && (size_t)(l->end - q) > length + 1 && !memcmp(q + 1, p + 1, length) && q[length + 1] == '"')
            return q + length + 2;
    return l->end;
}

// The end of a quoted literal. An unterminated one is reported, and ends with its line.
static const char *end_of_quoted(Lexer *l, const char *p)
{
    const char quote = *p, *begin = p;
    for (p++; p < l->end && *p != quote && *p != '\n'; p++)
        if (*p == '\\' && p + 1 < l->end)
            p += p[1] == '\r' && p[2] == '\n' ? 2 : 1;
    if (p < l->end && *p == quote)
        return p + 1;
    source_error(l->compiler, l->base + (Position)(begin - l->text), 1,
                 quote == '"' ? "end the string with \"" : "end the character with '", "a %s without its end",
                 quote == '"' ? "string" : "character");
    return p;
}

static const char *end_of_prefix(const char *p) // of a string: u8, u, U, L, R and combinations, or NULL
{
    const char *q = p;
    if (*q == 'u' && q[1] == '8')
        q += 2;
    else if (*q == 'u' || *q == 'U' || *q == 'L')
        q++;
    if (*q == 'R' && q[1] == '"')
        return q + 1;
    return q > p && (*q == '"' || *q == '\'') ? q : NULL;
}

static void lex_word(Lexer *l, Token *t)
{
    const char *quote = end_of_prefix(l->at);
    if (quote) {
        t->kind = *quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
        l->at = quote[-1] == 'R' ? end_of_raw_string(l, quote) : end_of_quoted(l, quote);
        return;
    }
    const char *p = l->at;
    while (p < l->end && continues_name(*p) && !is_typographic(p))
        p++;
    t->kind = TOKEN_NAME;
    t->name = name_intern(l->compiler, l->at, (size_t)(p - l->at));
    t->id = t->name->keyword;
    l->at = p;
}

static void lex_punctuator(Lexer *l, Token *t)
{
    t->kind = TOKEN_PUNCTUATOR;
    for (size_t k = 0; k < sizeof PUNCTUATORS / sizeof *PUNCTUATORS; k++) {
        const size_t length = strlen(PUNCTUATORS[k].text);
        if (PUNCTUATORS[k].text[0] == *l->at && !strncmp(l->at, PUNCTUATORS[k].text, length)) {
            t->id = PUNCTUATORS[k].id;
            l->at += length;
            return;
        }
    }
    t->id = (uint8_t)*l->at;
    if (!*l->at || !strchr("()[]{};,.+-*/%&|^~!<>=?:#", *l->at)) {
        t->kind = TOKEN_OTHER;
        t->id = ID_NONE;
    }
    l->at++;
}

static void lex_typographic(Lexer *l, Token *t)
{
    Compiler *c = l->compiler;
    const bool single = ((unsigned char)l->at[2] & 4) == 0;
    source_error(c, t->position, 3, single ? "write ' instead" : "write \" instead", "a typographic quotation mark");
    const char *begin = l->at + 3, *p = begin;
    while (p < l->end && *p != '\n' && *p != '"' && !is_typographic(p))
        p++;
    l->at = p < l->end && *p != '\n' ? p + (*p == '"' ? 1 : 3) : p;
    t->kind = TOKEN_STRING;
    t->text = compile_format(c, "\"%.*s\"", (int)(p - begin), begin);
    t->length = (uint32_t)strlen(t->text);
}

Token lexer_next(Lexer *l)
{
    skip_space(l);
    Token t = {.text = l->at, .position = l->base + (Position)(l->at - l->text)};
    t.flags = (l->at_line_start ? TOKEN_FIRST : 0) | (l->after_space ? TOKEN_SPACE : 0);
    l->at_line_start = l->after_space = false;
    if (l->at >= l->end) {
        t.flags |= TOKEN_FIRST;
        return t;
    }
    const char c = *l->at;
    if (is_typographic(l->at)) {
        lex_typographic(l, &t);
        return t;
    }
    if (starts_name(c)) {
        lex_word(l, &t);
    } else if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)l->at[1]))) {
        t.kind = TOKEN_NUMBER;
        l->at = end_of_number(l->at + 1);
    } else if (c == '"' || c == '\'') {
        t.kind = c == '"' ? TOKEN_STRING : TOKEN_CHARACTER;
        l->at = end_of_quoted(l, l->at);
    } else if (c == '<' && l->in_include) {
        t.kind = TOKEN_STRING;
        while (l->at < l->end && *l->at != '>' && *l->at != '\n')
            l->at++;
        l->at += l->at < l->end && *l->at == '>';
    } else {
        lex_punctuator(l, &t);
    }
    l->at = l->at > l->end ? l->end : l->at;
    t.length = (uint32_t)(l->at - t.text);
    return t;
}
