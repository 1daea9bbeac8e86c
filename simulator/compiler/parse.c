// parse.c: token access and error recovery of the parser, and the order in which a program is parsed.
#include "compiler/parser.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/host.h"
#include "compiler/library.h"
#include "compiler/preprocessor.h"

// ---- tokens

const Token *parse_token(Compiler *c)
{
    return &c->parser->list.tokens[c->parser->state.at];
}

const Token *parse_peek(Compiler *c, uint32_t ahead)
{
    const Parser *p = c->parser;
    uint32_t at = p->state.at;
    while (ahead-- > 0 && p->list.tokens[at].kind != TOKEN_END)
        at++;
    return &p->list.tokens[at];
}

const Token *parse_previous(Compiler *c)
{
    const uint32_t at = c->parser->state.at;
    return &c->parser->list.tokens[at ? at - 1 : 0];
}

void parse_advance(Compiler *c)
{
    if (parse_token(c)->kind != TOKEN_END)
        c->parser->state.at++;
}

bool parse_at(Compiler *c, uint16_t id)
{
    return token_is(parse_token(c), id);
}

bool parse_accept(Compiler *c, uint16_t id)
{
    if (!parse_at(c, id))
        return false;
    parse_advance(c);
    return true;
}

Position parse_end(Compiler *c)
{
    const Token *t = parse_previous(c);
    return t->position + ((t->flags & TOKEN_EXPANDED) ? 0 : t->length);
}

uint32_t parse_greater_count(Compiler *c)
{
    uint32_t count = 0;
    while (token_is(parse_peek(c, count), '>') && (count == 0 || !(parse_peek(c, count)->flags & (TOKEN_SPACE | TOKEN_FIRST))))
        count++;
    return count;
}

// ---- errors

void parse_syntax_error(Compiler *c, const char *help, const char *format, ...)
{
    Parser *p = c->parser;
    const Token *t = parse_token(c);
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!p->state.panicking)
        source_error(c, t->position, (t->flags & TOKEN_EXPANDED) ? 0 : t->length, help, "%s", text);
    p->syntax_errors += !p->state.panicking;
    p->state.panicking = true;
    p->state.panic_at = p->state.at;
}

static const char *token_text(Compiler *c, const Token *t)
{
    if (t->kind == TOKEN_END)
        return "the end of the file";
    if (t->kind == TOKEN_LINE_END)
        return "the end of the line";
    const int length = t->length < 40 ? (int)t->length : 40;
    return compile_format(c, t->kind == TOKEN_NAME && t->id ? "the keyword '%.*s'" : "'%.*s'", length, t->text);
}

// The last character of a macro's use: of its name, or of the parentheses with its arguments.
static Position end_of_macro(const Compiler *c, Position name)
{
    const SourceFile *file = source_file_at(c, name);
    const char *begin = file->text + (name - file->base), *at = begin;
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    const char *end = at;
    at += strspn(at, " \t");
    for (uint32_t depth = 0; *at && (depth || *at == '('); at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == '"' || *at == '\'')
            for (const char quote = *at++; *at && *at != quote; at++)
                at += *at == '\\' && at[1];
        if (!*at)
            break;
        end = at + 1;
        if (!depth)
            break;
    }
    return name + (Position)(end - begin) - 1;
}

bool parse_expect(Compiler *c, uint16_t id, const char *where)
{
    if (parse_accept(c, id))
        return true;
    Parser *p = c->parser;
    const Token *t = parse_token(c), *last = parse_previous(c);
    const bool open_string = last->kind == TOKEN_STRING && last->length && last->text[last->length - 1] != '"' && last->text[last->length - 1] != '>';
    if (p->state.panicking || open_string || (c->is_cut_off && t->kind == TOKEN_END)) { // the lexer has reported the error
        p->state.panicking = true;
        p->state.panic_at = p->state.at;
        return false;
    }
    p->syntax_errors++;
    const char *expected = token_id_text(id);
    const char *help = compile_format(c, "add '%s'", expected);
    // A missing token is reported after the previous token if the next one is on another line.
    const bool after = id == ';' || id == ')' || id == ']' || (t->flags & TOKEN_FIRST);
    if (after && !(last->flags & TOKEN_EXPANDED) && last->length)
        source_error(c, last->position + last->length - 1, 1, help, "expected '%s' %s", expected, where);
    else if (after && (last->flags & TOKEN_EXPANDED) && source_line(c, t->position) > source_line(c, end_of_macro(c, last->position)))
        source_error(c, end_of_macro(c, last->position), 1, help, "expected '%s' %s", expected, where);
    else
        source_error(c, t->position, (t->flags & TOKEN_EXPANDED) ? 0 : t->length, help, "expected '%s' %s, not %s", expected, where, token_text(c, t));
    if (id == ';' && t->flags & TOKEN_FIRST) // the next line is parsed as if the ; were there
        return true;
    p->state.panicking = true;
    p->state.panic_at = p->state.at;
    return false;
}

bool token_begins_declaration(const Token *t)
{
    switch (t->id) {
    case KEYWORD_STATIC: case KEYWORD_CONSTEXPR: case KEYWORD_EXTERN: case KEYWORD_INLINE: case KEYWORD_TYPEDEF: case KEYWORD_TEMPLATE: case KEYWORD_USING:
    case KEYWORD_NAMESPACE: case KEYWORD_STATIC_ASSERT: case KEYWORD_GLOBAL: case KEYWORD_DEVICE: case KEYWORD_HOST: case KEYWORD_CONSTANT: case KEYWORD_STRUCT: case KEYWORD_ENUM:
    case KEYWORD_VOID: case KEYWORD_BOOL: case KEYWORD_CHAR: case KEYWORD_INT: case KEYWORD_UNSIGNED: case KEYWORD_LONG: case KEYWORD_FLOAT: case KEYWORD_DOUBLE:
        return true;
    default:
        return false;
    }
}

void parse_end_of_statement(Compiler *c, const char *where, bool is_certain)
{
    const int silent = c->silent;
    if (is_certain && silent == 1)
        c->silent = 0;
    parse_expect(c, ';', where);
    c->silent = silent;
}

void parse_end_of_declaration(Compiler *c, const char *where, uint32_t earlier_errors)
{
    const Token *t = parse_token(c), *next = parse_peek(c, 1);
    const bool begins = token_begins_declaration(t) || (parse_qualifier(t->id) && token_begins_declaration(next)) || token_is(t, '}') ||
                        (t->kind == TOKEN_NAME && next->kind == TOKEN_NAME);
    parse_end_of_statement(c, where, (t->flags & TOKEN_FIRST) && begins && c->silent_errors == earlier_errors);
}

void parse_skip_group(Compiler *c)
{
    static const struct {
        uint16_t open, close;
    } groups[] = {{'(', ')'}, {'[', ']'}, {'{', '}'}};
    uint32_t depth[3] = {0};
    uint32_t guard = c->parser->list.count;
    do {
        const Token *t = parse_token(c);
        if (t->kind == TOKEN_END)
            return;
        for (int k = 0; k < 3; k++) {
            if (token_is(t, groups[k].open))
                depth[k]++;
            else if (token_is(t, groups[k].close) && depth[k])
                depth[k]--;
        }
        // A } that closes an enclosing group is not counted.
        parse_advance(c);
    } while ((depth[0] || depth[1] || depth[2]) && guard-- > 0);
}

// Whether a line begins a namespace-scope declaration, so that a } before it is missing.
static bool begins_outer_declaration(const Token *t)
{
    return (t->flags & TOKEN_FIRST) && (token_is(t, KEYWORD_GLOBAL) || token_is(t, KEYWORD_TEMPLATE) || token_is(t, KEYWORD_NAMESPACE));
}

void parse_recover(Compiler *c)
{
    Parser *p = c->parser;
    p->state.panicking = false;
    uint32_t unclosed_until = 0; // groups that begin before this token are not closed before it
    for (uint32_t begin = p->state.at;;) {
        const Token *t = parse_token(c);
        if (t->kind == TOKEN_END || token_is(t, '}'))
            return;
        if (p->state.at > begin && begins_outer_declaration(t))
            return;
        if (token_is(t, '{')) {
            parse_skip_group(c);
            parse_accept(c, ';');
            return;
        }
        const bool group = token_is(t, '(') || token_is(t, '[');
        if (group && p->state.at >= unclosed_until) {
            // Skips a group only if it is closed within the statement; an unclosed ( would extend to the end.
            uint32_t depth = 0, k = 0;
            for (;; k++) {
                const Token *inner = &t[k];
                depth += token_is(inner, '(') || token_is(inner, '[');
                depth -= token_is(inner, ')') || token_is(inner, ']');
                if (depth == 0 || inner->kind == TOKEN_END || token_is(inner, ';') || token_is(inner, '{') || token_is(inner, '}'))
                    break;
            }
            if (depth == 0) {
                parse_skip_group(c);
                continue;
            }
            unclosed_until = p->state.at + k;
        }
        parse_advance(c);
        if (token_is(t, ';'))
            return;
    }
}

void parse_correct_keyword(Compiler *c)
{
    static const struct {
        const char *word;
        uint16_t id;
    } words[] = {{"__global__", KEYWORD_GLOBAL}, {"__device__", KEYWORD_DEVICE}, {"__host__", KEYWORD_HOST}, {"__shared__", KEYWORD_SHARED},
                 {"__constant__", KEYWORD_CONSTANT}};
    Token *t = &c->parser->list.tokens[c->parser->state.at];
    const Token *next = parse_peek(c, 1);
    const bool is_word = t->kind == TOKEN_NAME && !t->id && next->kind == TOKEN_NAME && next->id && !(next->flags & TOKEN_FIRST);
    if (!is_word || scope_lookup(c, c->parser->state.scope, t->name))
        return;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (source_distance(t->text, t->length, words[k].word, strlen(words[k].word), 9) < 9) {
            source_error(c, t->position, t->length, compile_format(c, "did you mean '%s'?", words[k].word), "unknown word '%s'", t->name->text);
            t->id = words[k].id;
            return;
        }
}

bool parse_skip_angles(Compiler *c)
{
    if (!parse_at(c, '<'))
        return false;
    const uint32_t begin = c->parser->state.at;
    uint32_t depth = 0;
    for (;;) {
        const Token *t = parse_token(c);
        if (t->kind == TOKEN_END || token_is(t, ';') || token_is(t, '{') || token_is(t, '}'))
            break;
        if (token_is(t, '(') || token_is(t, '[')) {
            parse_skip_group(c);
            continue;
        }
        depth += token_is(t, '<');
        depth -= token_is(t, '>');
        parse_advance(c);
        if (depth == 0)
            return true;
        if (depth > MAX_NESTING) // so that S<S<S<... takes linear time
            break;
    }
    c->parser->state.at = begin;
    return false;
}

// ---- state

ParserState parse_save(Compiler *c)
{
    return c->parser->state;
}

void parse_restore(Compiler *c, const ParserState *state)
{
    c->parser->state = *state;
}

void parse_enter(Compiler *c)
{
    if (++c->parser->nesting > MAX_NESTING)
        source_abandon(c, parse_token(c)->position, "this is nested too deeply");
}

void parse_leave(Compiler *c)
{
    c->parser->nesting--;
}

// ---- translation units

void parse_start(Compiler *c)
{
    Parser *p = c->parser = compile_new(c, Parser);
    library_start(c);
    p->global = scope_new(c, SCOPE_NAMESPACE, NULL);
    p->global->is_library = true;
    p->state.scope = p->global;
    // A dummy, so that index 0 means "no token".
    *compile_push(c, p->list.tokens, p->list.count, p->list.capacity) = (Token){.kind = TOKEN_END, .text = ""};
}

static uint32_t add_tokens(Compiler *c, const TokenList *list)
{
    Parser *p = c->parser;
    const uint32_t begin = p->list.count;
    if (begin + list->count > 2 * MAX_TOKENS)
        source_abandon(c, 0, "the program is too large");
    for (uint32_t k = 0; k < list->count; k++)
        *compile_push(c, p->list.tokens, p->list.count, p->list.capacity) = list->tokens[k];
    return begin;
}

void parse_library_text(Compiler *c, SourceFile *file)
{
    Parser *p = c->parser;
    const TokenList list = preprocess(c, file);
    const uint32_t begin = add_tokens(c, &list);
    const ParserState saved = parse_save(c);
    const int silent = c->silent;
    c->silent = 0; // an error in a library text is a bug of the compiler
    parse_enter(c);
    p->state = (ParserState){.at = begin, .scope = p->global};
    while (parse_token(c)->kind != TOKEN_END)
        parse_declaration(c);
    parse_leave(c);
    c->silent = silent;
    parse_restore(c, &saved);
}

void parse_mark_needed(Compiler *c, Function *f)
{
    Parser *p = c->parser;
    if (f->is_needed || f->intrinsic)
        return;
    f->is_needed = true;
    if (p->last_needed)
        p->last_needed->next_needed = f;
    else
        p->first_needed = f;
    p->last_needed = f;
    f->instantiation = c->instantiation;
}

static void parse_needed(Compiler *c)
{
    Parser *p = c->parser;
    while (p->first_needed) {
        Function *f = p->first_needed;
        p->first_needed = f->next_needed;
        if (!p->first_needed)
            p->last_needed = NULL;
        parse_delayed_body(c, f);
    }
}

// Reports an unmatched } at namespace scope.
static void report_extra_brace(Compiler *c)
{
    source_error(c, parse_token(c)->position, 1, "delete it, or add the { that it closes", "this } has no {");
    parse_advance(c);
}

void parse_additional_source(Compiler *c, SourceFile *file)
{
    const TokenList list = preprocess(c, file);
    c->parser->state.at = add_tokens(c, &list);
    while (parse_token(c)->kind != TOKEN_END)
        if (parse_at(c, '}'))
            report_extra_brace(c);
        else
            parse_declaration(c);
}

void parse_program(Compiler *c, SourceFile *file)
{
    Parser *p = c->parser;
    parse_additional_source(c, file);
    parse_needed(c);
    if (c->options->host)
        host_parse(c);
    parse_needed(c);
    // Launches in host code instantiate kernel templates.
    for (uint32_t k = 0; k < p->function_count; k++)
        parse_delayed_body(c, p->functions[k]);
    parse_needed(c);
    template_check_unused(c);
    parse_needed(c);
}
