// preprocessor.c: reads files, follows directives, and hands over tokens with their macros expanded.
#include "compiler/preprocessor.h"

#include <string.h>

// ---- The stack of token sources

void preprocess_push_list(Compiler *c, const Token *tokens, uint32_t count, Macro *macro, bool is_end)
{
    Preprocessor *pp = c->preprocessor;
    TokenSource *s = compile_push(c, pp->sources, pp->source_count, pp->source_capacity);
    *s = (TokenSource){.is_list = true, .is_end = is_end, .tokens = tokens, .count = count, .macro = macro};
    if (macro)
        macro->active++;
    if ((pp->work += count + 1) > 8 * MAX_TOKENS)
        source_abandon(c, count ? tokens[0].position : 0, "the macros expand to too many tokens");
}

static void push_file(Compiler *c, SourceFile *file)
{
    Preprocessor *pp = c->preprocessor;
    TokenSource *s = compile_push(c, pp->sources, pp->source_count, pp->source_capacity);
    *s = (TokenSource){.file = file, .conditions = pp->condition_count};
    s->lexer = (Lexer){.compiler = c, .text = file->text, .end = file->text + file->length, .at = file->text, .base = file->base,
                       .at_line_start = true};
}

void preprocess_pop(Compiler *c)
{
    Preprocessor *pp = c->preprocessor;
    TokenSource *s = &pp->sources[--pp->source_count];
    if (s->macro)
        s->macro->active--;
    if (s->is_list)
        return;
    while (pp->condition_count > s->conditions)
        source_error(c, pp->conditions[--pp->condition_count].position, 0, "end it with #endif", "this #if has no #endif");
}

static TokenSource *top(Compiler *c)
{
    return &c->preprocessor->sources[c->preprocessor->source_count - 1];
}

static TokenSource *current_file(Compiler *c)
{
    uint32_t k = c->preprocessor->source_count;
    while (k > 0 && c->preprocessor->sources[k - 1].is_list)
        k--;
    return k ? &c->preprocessor->sources[k - 1] : NULL;
}

Token preprocess_raw(Compiler *c)
{
    for (;;) {
        TokenSource *s = top(c);
        if (!s->is_list)
            return lexer_next(&s->lexer);
        if (s->at < s->count)
            return s->tokens[s->at++];
        if (s->is_end)
            return (Token){.kind = TOKEN_END, .flags = TOKEN_FIRST};
        preprocess_pop(c);
    }
}

// ---- Directives

// Reads the rest of a directive's line. A TOKEN_END, which is not counted, follows its tokens.
static TokenList read_line(Compiler *c, Lexer *lexer)
{
    TokenList line = {0};
    for (;;) {
        Lexer before = *lexer;
        const Token t = lexer_next(lexer);
        if (t.flags & TOKEN_FIRST) {
            *lexer = before;
            lexer->at_line_start = true;
            if (t.kind == TOKEN_END)
                lexer->at = lexer->end;
            *compile_push(c, line.tokens, line.count, line.capacity) = (Token){.kind = TOKEN_END, .position = t.position};
            line.count--;
            return line;
        }
        *compile_push(c, line.tokens, line.count, line.capacity) = t;
    }
}

static bool word_is(const Token *t, const char *text)
{
    return t->length == strlen(text) && !memcmp(t->text, text, t->length);
}

// Skips lines up to the #elif, #else or #endif that belongs to the innermost #if; the lexer is then at that line's '#'.
static void skip_group(Compiler *c, Lexer *lexer)
{
    int depth = 0;
    c->silent++; // an unmatched quote is no error in a skipped group
    for (;;) {
        Lexer before = *lexer;
        const Token hash = lexer_next(lexer);
        if (hash.kind == TOKEN_END)
            break;
        if (!(hash.flags & TOKEN_FIRST) || !token_is(&hash, '#'))
            continue;
        Lexer after = *lexer;
        const Token word = lexer_next(lexer);
        if (word.flags & TOKEN_FIRST) {
            *lexer = after;
            lexer->at_line_start = true;
        } else if (word_is(&word, "if") || word_is(&word, "ifdef") || word_is(&word, "ifndef")) {
            depth++;
        } else if (word_is(&word, "endif") && depth > 0) {
            depth--;
        } else if (depth == 0 && (word_is(&word, "elif") || word_is(&word, "else") || word_is(&word, "endif"))) {
            *lexer = before;
            lexer->at_line_start = true;
            break;
        }
    }
    c->silent--;
}

static void begin_condition(Compiler *c, Lexer *lexer, Position at, bool value)
{
    Preprocessor *pp = c->preprocessor;
    *compile_push(c, pp->conditions, pp->condition_count, pp->condition_capacity) = (Condition){.position = at, .taken = value};
    if (!value)
        skip_group(c, lexer);
}

static bool is_defined(Compiler *c, const TokenList *line, const Token *directive)
{
    if (line->count == 0 || line->tokens[0].kind != TOKEN_NAME) {
        source_error(c, directive->position, directive->length, NULL, "#%.*s needs a name", (int)directive->length, directive->text);
        return false;
    }
    return line->tokens[0].name->macro != NULL;
}

static void continue_condition(Compiler *c, Lexer *lexer, const Token *directive, const TokenList *line)
{
    Preprocessor *pp = c->preprocessor;
    if (pp->condition_count == current_file(c)->conditions) {
        source_error(c, directive->position, directive->length, NULL, "#%.*s without #if", (int)directive->length, directive->text);
        return;
    }
    Condition *condition = &pp->conditions[pp->condition_count - 1];
    if (word_is(directive, "endif")) {
        pp->condition_count--;
        return;
    }
    if (condition->in_else)
        source_error(c, directive->position, directive->length, NULL, "#%.*s after #else", (int)directive->length, directive->text);
    condition->in_else |= word_is(directive, "else");
    const bool value = !condition->taken && (condition->in_else || condition_value(c, line->tokens, line->count, directive->position));
    condition->taken |= value;
    if (!value)
        skip_group(c, lexer);
}

static void undefine(Compiler *c, const TokenList *line, const Token *directive)
{
    if (is_defined(c, line, directive))
        line->tokens[0].name->macro = NULL;
}

static const char *header_of(Compiler *c, const TokenList *line)
{
    TokenList expanded = *line;
    if (line->count && line->tokens[0].kind == TOKEN_NAME)
        expanded = macro_expand_list(c, line->tokens, line->count);
    if (expanded.count == 0 || expanded.tokens[0].kind != TOKEN_STRING || expanded.tokens[0].length < 3)
        return NULL;
    return compile_copy_text(c, expanded.tokens[0].text + 1, expanded.tokens[0].length - 2);
}

static void include(Compiler *c, const TokenList *line, const Token *directive)
{
    Preprocessor *pp = c->preprocessor;
    const char *name = header_of(c, line);
    if (!name) {
        source_error(c, directive->position, directive->length, NULL, "#include needs \"FILE\" or <FILE>");
        return;
    }
    size_t bytes = 0;
    const char *text = NULL;
    if (!header_is_known(name) && c->options->read_include)
        text = c->options->read_include(c->options->include_context, name, &bytes);
    if (!text) {
        *compile_push(c, pp->headers, pp->header_count, pp->header_capacity) = name;
        if (!header_is_known(name))
            pp->missing = name;
        return;
    }
    for (uint32_t k = 0; k < c->file_count; k++)
        if (c->files[k]->has_pragma_once && !strcmp(c->files[k]->name, name))
            return;
    if (++pp->include_depth > MAX_INCLUDE_DEPTH)
        source_abandon(c, directive->position, "the files include each other without end");
    push_file(c, source_add(c, name, text, bytes, false));
}

static void emit_token(Compiler *c, Token token)
{
    TokenList *out = &c->preprocessor->output;
    if (out->count >= MAX_TOKENS)
        source_abandon(c, token.position, "the program is too large: it has more than %u tokens", MAX_TOKENS);
    *compile_push(c, out->tokens, out->count, out->capacity) = token;
}

static void pragma(Compiler *c, const TokenList *line)
{
    if (line->count && word_is(&line->tokens[0], "once"))
        current_file(c)->file->has_pragma_once = true;
    if (line->count == 0 || (!word_is(&line->tokens[0], "unroll") && !word_is(&line->tokens[0], "nounroll")))
        return;
    Token unroll = line->tokens[0];
    const TokenList argument = macro_expand_list(c, line->tokens + 1, line->count - 1);
    unroll.kind = TOKEN_UNROLL;
    emit_token(c, unroll);
    for (uint32_t k = 0; k < argument.count; k++)
        emit_token(c, argument.tokens[k]);
    emit_token(c, (Token){.kind = TOKEN_LINE_END, .position = unroll.position, .text = "", .length = 0});
}

static void report_message(Compiler *c, const TokenList *line, const Token *directive, bool is_error)
{
    const char *text = line->count ? line->tokens[0].text : "";
    int length = 0;
    while (text[length] && text[length] != '\n')
        length++;
    if (is_error)
        source_error(c, directive->position, directive->length, NULL, "#error %.*s", length, text);
    else
        source_warning(c, directive->position, directive->length, NULL, "#warning %.*s", length, text);
}

static const char *similar_directive(Compiler *c, const Token *directive)
{
    static const char *const all[] = {"include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "pragma"};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (source_distance(directive->text, directive->length, all[k], strlen(all[k]), 6) <= 4)
            return compile_format(c, "did you mean '#%s'?", all[k]);
    return NULL;
}

static void follow_directive(Compiler *c)
{
    Lexer *lexer = &top(c)->lexer;
    Lexer before = *lexer;
    const Token directive = lexer_next(lexer);
    if (directive.flags & TOKEN_FIRST) { // a '#' alone
        *lexer = before;
        lexer->at_line_start = true;
        return;
    }
    lexer->in_include = word_is(&directive, "include");
    const TokenList line = read_line(c, lexer);
    lexer->in_include = false;
    if (word_is(&directive, "include")) {
        include(c, &line, &directive);
    } else if (word_is(&directive, "define")) {
        macro_define(c, line.tokens, line.count);
    } else if (word_is(&directive, "undef")) {
        undefine(c, &line, &directive);
    } else if (word_is(&directive, "if")) {
        begin_condition(c, lexer, directive.position, condition_value(c, line.tokens, line.count, directive.position));
    } else if (word_is(&directive, "ifdef") || word_is(&directive, "ifndef")) {
        begin_condition(c, lexer, directive.position, is_defined(c, &line, &directive) == word_is(&directive, "ifdef"));
    } else if (word_is(&directive, "elif") || word_is(&directive, "else") || word_is(&directive, "endif")) {
        continue_condition(c, lexer, &directive, &line);
    } else if (word_is(&directive, "error") || word_is(&directive, "warning")) {
        report_message(c, &line, &directive, word_is(&directive, "error"));
    } else if (word_is(&directive, "pragma")) {
        pragma(c, &line);
    } else if (!word_is(&directive, "line") && directive.kind != TOKEN_NUMBER) {
        source_error(c, directive.position, directive.length, similar_directive(c, &directive), "an unknown directive: #%.*s", (int)directive.length,
                     directive.text);
    }
}

// ---- Whole files

static void read_all(Compiler *c)
{
    Preprocessor *pp = c->preprocessor;
    for (;;) {
        Token t = preprocess_raw(c);
        if (t.kind == TOKEN_END) {
            const bool last = pp->source_count == 1;
            if (last)
                emit_token(c, t);
            pp->include_depth -= !last;
            preprocess_pop(c);
            if (last)
                return;
        } else if ((t.flags & TOKEN_FIRST) && token_is(&t, '#') && !top(c)->is_list) {
            follow_directive(c);
        } else if (t.kind == TOKEN_OTHER) {
            source_error(c, t.position, 1, t.text[0] == '`' || t.text[0] == '@' ? "delete it" : NULL,
                         "'%.*s' has no meaning here", 1, (unsigned char)t.text[0] < 32 ? "?" : t.text);
        } else if (t.kind != TOKEN_NAME || !macro_expand(c, &t)) {
            emit_token(c, t);
        }
    }
}

static void tokenise(Compiler *c, SourceFile *file)
{
    Lexer lexer = {.compiler = c, .text = file->text, .end = file->text + file->length, .at = file->text, .base = file->base};
    Token t;
    do
        emit_token(c, t = lexer_next(&lexer));
    while (t.kind != TOKEN_END);
}

TokenList preprocess(Compiler *c, SourceFile *file)
{
    const TokenList outer = c->preprocessor->output;
    c->preprocessor->output = (TokenList){0};
    if (file->built_in) {
        tokenise(c, file);
    } else {
        push_file(c, file);
        read_all(c);
    }
    const TokenList result = c->preprocessor->output;
    c->preprocessor->output = outer;
    return result;
}

bool preprocess_has_included(Compiler *c, const char *header)
{
    for (uint32_t k = 0; k < c->preprocessor->header_count; k++)
        if (!strcmp(c->preprocessor->headers[k], header))
            return true;
    return false;
}

const char *preprocess_macro_at(Compiler *c, Position position)
{
    const SourceFile *file = source_file_at(c, position);
    size_t length = 0;
    const char *text = file ? file->text + (position - file->base) : "";
    while (text[length] == '_' || (text[length] >= '0' && text[length] <= '9') || (text[length] >= 'A' && text[length] <= 'Z') ||
           (text[length] >= 'a' && text[length] <= 'z'))
        length++;
    const Macro *m = name_intern(c, text, length)->macro;
    const bool ends_with_semicolon = m && m->body_count && token_is(&m->body[m->body_count - 1], ';');
    return ends_with_semicolon ? compile_format(c, "the macro '%s' ends with ';': delete it in line %u", m->name->text, source_line(c, m->position)) : NULL;
}

const char *preprocess_missing_header(Compiler *c)
{
    return c->preprocessor->missing;
}
