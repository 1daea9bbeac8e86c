// macros.c: macro definition and expansion.
#include "compiler/preprocessor.h"

#include <string.h>

enum SpecialMacro { NOT_SPECIAL, FILE_MACRO, LINE_MACRO, COUNTER_MACRO };

// ---- definitions

static bool same_body(const Macro *a, const Macro *b)
{
    if (a->is_function != b->is_function || a->parameter_count != b->parameter_count || a->body_count != b->body_count)
        return false;
    for (uint32_t k = 0; k < a->body_count; k++)
        if (a->body[k].length != b->body[k].length || memcmp(a->body[k].text, b->body[k].text, a->body[k].length))
            return false;
    return true;
}

// Reads the parameters (a, b, ...) after a macro's name. Returns the index of the token after them; 0: error.
static uint32_t read_parameters(Compiler *c, Macro *m, const Token *line, uint32_t count)
{
    uint32_t at = 2, capacity = 0;
    m->is_function = true;
    if (at < count && token_is(&line[at], ')'))
        return at + 1;
    while (at < count) {
        const Token *t = &line[at++];
        if (t->kind == TOKEN_NAME) {
            *compile_push(c, m->parameters, m->parameter_count, capacity) = t->name;
            if (at < count && token_is(&line[at], ID_ELLIPSIS))
                m->is_variadic = true, at++;
        } else if (token_is(t, ID_ELLIPSIS)) {
            m->is_variadic = true;
            *compile_push(c, m->parameters, m->parameter_count, capacity) = name_intern(c, "__VA_ARGS__", 11);
        } else {
            break;
        }
        if (at < count && token_is(&line[at], ')'))
            return at + 1;
        if (at >= count || !token_is(&line[at++], ',') || m->is_variadic)
            break;
    }
    source_error(c, line[0].position, line[0].length, NULL, "the parameters of the macro '%s' have no end", m->name->text);
    return 0;
}

void macro_define(Compiler *c, const Token *line, uint32_t count)
{
    if (count == 0 || line[0].kind != TOKEN_NAME) {
        source_error(c, count ? line[0].position : 0, 0, NULL, "#define needs a name");
        return;
    }
    Macro *m = compile_new(c, Macro);
    m->name = line[0].name;
    m->position = line[0].position;
    uint32_t at = 1;
    if (count > 1 && token_is(&line[1], '(') && !(line[1].flags & TOKEN_SPACE) && !(at = read_parameters(c, m, line, count)))
        return;
    m->body = compile_allocate(c, (count - at) * sizeof *m->body);
    m->body_count = count - at;
    if (m->body_count)
        memcpy(m->body, line + at, m->body_count * sizeof *m->body);
    const Macro *old = m->name->macro;
    if (old && !same_body(old, m) && old->position) {
        source_warning(c, m->position, m->name->length, compile_format(c, "#undef %s first", m->name->text), "'%s' is defined again",
                       m->name->text);
        source_note(c, old->position, m->name->length, "the first definition");
    }
    m->name->macro = m;
}

static void define_text(Compiler *c, const char *name, const char *value)
{
    const char *text = compile_format(c, "%s %s", name, value);
    SourceFile *file = source_add(c, "<built-in>", text, strlen(text), true);
    Lexer lexer = {.compiler = c, .text = file->text, .end = file->text + file->length, .at = file->text, .base = file->base};
    TokenList line = {0};
    for (Token t = lexer_next(&lexer); t.kind != TOKEN_END; t = lexer_next(&lexer))
        *compile_push(c, line.tokens, line.count, line.capacity) = t;
    macro_define(c, line.tokens, line.count);
    if (line.count && line.tokens[0].kind == TOKEN_NAME && line.tokens[0].name->macro)
        line.tokens[0].name->macro->position = 0;
}

static void define_option(Compiler *c, const char *option) // NAME or NAME=VALUE
{
    const char *equal = strchr(option, '=');
    if (equal)
        define_text(c, compile_copy_text(c, option, (size_t)(equal - option)), equal + 1);
    else
        define_text(c, option, "1");
}

static const char *const PREDEFINED[][2] = {
    {"__CUDACC__", "1"}, {"__NVCC__", "1"}, {"__CUDACC_VER_MAJOR__", "13"}, {"__CUDACC_VER_MINOR__", "0"},
    {"CUDART_VERSION", "13000"}, {"CUDA_VERSION", "13000"}, {"__cplusplus", "201703L"}, {"__linux__", "1"}, {"__unix__", "1"},
    {"__x86_64__", "1"}, {"__CHAR_BIT__", "8"}, {"__LP64__", "1"}, {"__GNUC__", "12"}, {"NULL", "0"},
    {"CHAR_BIT", "8"}, {"SCHAR_MIN", "(-128)"}, {"SCHAR_MAX", "127"}, {"UCHAR_MAX", "255"}, {"CHAR_MIN", "(-128)"},
    {"CHAR_MAX", "127"}, {"SHRT_MIN", "(-32768)"}, {"SHRT_MAX", "32767"}, {"USHRT_MAX", "65535"}, {"INT_MIN", "(-2147483647 - 1)"},
    {"INT_MAX", "2147483647"}, {"UINT_MAX", "4294967295u"}, {"LONG_MIN", "(-9223372036854775807l - 1)"},
    {"LONG_MAX", "9223372036854775807l"}, {"ULONG_MAX", "18446744073709551615ul"},
    {"LLONG_MIN", "(-9223372036854775807ll - 1)"}, {"LLONG_MAX", "9223372036854775807ll"},
    {"ULLONG_MAX", "18446744073709551615ull"}, {"INT8_MIN", "(-128)"}, {"INT8_MAX", "127"}, {"UINT8_MAX", "255"},
    {"INT16_MIN", "(-32768)"}, {"INT16_MAX", "32767"}, {"UINT16_MAX", "65535"}, {"INT32_MIN", "(-2147483647 - 1)"},
    {"INT32_MAX", "2147483647"}, {"UINT32_MAX", "4294967295u"}, {"INT64_MIN", "(-9223372036854775807l - 1)"},
    {"INT64_MAX", "9223372036854775807l"}, {"UINT64_MAX", "18446744073709551615ul"}, {"SIZE_MAX", "18446744073709551615ul"},
    {"FLT_EPSILON", "1.19209290e-7f"}, {"FLT_MIN", "1.17549435e-38f"}, {"FLT_MAX", "3.40282347e+38f"}, {"FLT_DIG", "6"},
    {"DBL_EPSILON", "2.2204460492503131e-16"}, {"DBL_MIN", "2.2250738585072014e-308"}, {"DBL_MAX", "1.7976931348623157e+308"},
    {"DBL_DIG", "15"}, {"FLT_MANT_DIG", "24"}, {"DBL_MANT_DIG", "53"}, {"INFINITY", "__builtin_huge_valf()"},
    {"NAN", "__builtin_nanf(\"\")"}, {"HUGE_VALF", "__builtin_huge_valf()"}, {"HUGE_VAL", "__builtin_huge_val()"},
    {"CUDART_INF_F", "__builtin_huge_valf()"}, {"CUDART_INF", "__builtin_huge_val()"}, {"CUDART_NAN_F", "__builtin_nanf(\"\")"},
    {"M_PI", "3.14159265358979323846"}, {"M_PI_2", "1.57079632679489661923"}, {"M_E", "2.7182818284590452354"},
    {"M_SQRT2", "1.41421356237309504880"}, {"M_LN2", "0.69314718055994530942"}, {"CUDART_PI_F", "3.141592654f"},
    {"CUDART_PI", "3.1415926535897931e+0"}, {"EXIT_SUCCESS", "0"}, {"EXIT_FAILURE", "1"}, {"RAND_MAX", "2147483647"},
    {"__forceinline", "__forceinline__"}, {"__DEVICE__", "__device__"}, {"__grid_constant", "__grid_constant__"},
    {"offsetof(type, member)", "__builtin_offsetof(type, member)"},
    {"__FUNCTION__", "__func__"}, {"__PRETTY_FUNCTION__", "__func__"},
    {"assert(condition)", "((condition) ? (void)0 : __assertion(#condition, __FILE__, __LINE__, __func__))"},
};

void macros_start(Compiler *c)
{
    for (size_t k = 0; k < sizeof PREDEFINED / sizeof *PREDEFINED; k++)
        define_text(c, PREDEFINED[k][0], PREDEFINED[k][1]);
    define_text(c, "__CUDA_ARCH__", compile_format(c, "%d", 10 * c->options->architecture));
    define_text(c, "__CUDA_ARCH_LIST__", compile_format(c, "%d", 10 * c->options->architecture));
    static const struct {
        const char *name;
        enum SpecialMacro special;
    } special[] = {{"__FILE__", FILE_MACRO}, {"__LINE__", LINE_MACRO}, {"__COUNTER__", COUNTER_MACRO}};
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        define_text(c, special[k].name, "0");
        name_intern(c, special[k].name, strlen(special[k].name))->macro->special = (uint8_t)special[k].special;
    }
    for (int k = 0; k < c->options->define_count; k++)
        define_option(c, c->options->defines[k]);
}

// ---- expansion

typedef struct Argument {
    TokenList tokens, expanded;
    bool is_expanded;
} Argument;

// Lexes a token from a text, with the position and flags of `model`.
static Token token_from_text(Compiler *c, const char *text, const Token *model)
{
    Lexer lexer = {.compiler = c, .text = text, .end = text + strlen(text), .at = text};
    Token t = lexer_next(&lexer);
    t.position = model->position;
    t.flags = (model->flags & TOKEN_SPACE) | TOKEN_EXPANDED;
    return t;
}

static Token special_value(Compiler *c, const Macro *m, const Token *at)
{
    const SourceFile *file = source_file_at(c, at->position);
    const char *text = m->special == LINE_MACRO ? compile_format(c, "%u", source_line(c, at->position))
                       : m->special == FILE_MACRO ? compile_format(c, "\"%s\"", file ? file->name : "?")
                                                : compile_format(c, "%u", c->preprocessor->counter++);
    return token_from_text(c, text, at);
}

static Token stringify(Compiler *c, const TokenList *list, const Token *model)
{
    size_t length = 3;
    for (uint32_t k = 0; k < list->count; k++)
        length += 2 * list->tokens[k].length + 1;
    char *text = compile_allocate(c, length), *p = text;
    *p++ = '"';
    for (uint32_t k = 0; k < list->count; k++) {
        const Token *t = &list->tokens[k];
        if (k && (t->flags & (TOKEN_SPACE | TOKEN_FIRST)))
            *p++ = ' ';
        const bool quoted = t->kind == TOKEN_STRING || t->kind == TOKEN_CHARACTER;
        for (uint32_t j = 0; j < t->length; j++) {
            if (quoted && (t->text[j] == '"' || t->text[j] == '\\'))
                *p++ = '\\';
            *p++ = t->text[j];
        }
    }
    *p++ = '"';
    return (Token){.kind = TOKEN_STRING, .flags = (model->flags & TOKEN_SPACE) | TOKEN_EXPANDED, .position = model->position,
                   .text = text, .length = (uint32_t)(p - text)};
}

static Token paste(Compiler *c, const Token *left, const Token *right)
{
    const char *text = compile_format(c, "%.*s%.*s", (int)left->length, left->text, (int)right->length, right->text);
    const Token t = token_from_text(c, text, left);
    if (t.length != strlen(text))
        source_error(c, left->position, 0, NULL, "## makes '%s', which is no token", text);
    return t;
}

// Reads the arguments of a function-like macro after its '('. False if the text ends first.
static bool read_arguments(Compiler *c, const Macro *m, const Token *use, Argument *arguments, uint32_t *count)
{
    uint32_t depth = 0, given = 0;
    for (;;) {
        const Token t = preprocess_raw(c);
        if (t.kind == TOKEN_END) {
            source_error(c, use->position, 0, "add a )", "the arguments of the macro '%s' have no end", m->name->text);
            return false;
        }
        if (depth == 0 && token_is(&t, ')'))
            break;
        depth += token_is(&t, '(');
        depth -= token_is(&t, ')');
        const bool last = m->is_variadic && given + 1 >= m->parameter_count;
        if (depth == 0 && token_is(&t, ',') && !last) {
            if (++given >= m->parameter_count + 1)
                given = m->parameter_count; // too many: reported below
            continue;
        }
        TokenList *list = &arguments[given].tokens;
        *compile_push(c, list->tokens, list->count, list->capacity) = t;
        if (++c->preprocessor->work > 8 * MAX_TOKENS)
            source_abandon(c, use->position, "the macros expand to too many tokens");
    }
    *count = given + 1;
    return true;
}

static int parameter_index(const Macro *m, const Token *t)
{
    for (uint32_t k = 0; t->kind == TOKEN_NAME && k < m->parameter_count; k++)
        if (m->parameters[k] == t->name)
            return (int)k;
    return -1;
}

static const TokenList *expanded_argument(Compiler *c, Argument *argument)
{
    if (!argument->is_expanded)
        argument->expanded = macro_expand_list(c, argument->tokens.tokens, argument->tokens.count);
    argument->is_expanded = true;
    return &argument->expanded;
}

static void add_tokens(Compiler *c, TokenList *out, const TokenList *list, const Token *model)
{
    for (uint32_t k = 0; k < list->count; k++) {
        Token t = list->tokens[k];
        if (k == 0)
            t.flags = (uint8_t)((t.flags & ~TOKEN_SPACE) | (model->flags & TOKEN_SPACE));
        *compile_push(c, out->tokens, out->count, out->capacity) = t;
    }
    if ((c->preprocessor->work += list->count) > 8 * MAX_TOKENS)
        source_abandon(c, model->position, "the macros expand to too many tokens");
}

// Substitutes one token of a macro body, before ## is applied.
static void substitute_token(Compiler *c, const Macro *m, Argument *arguments, uint32_t *k, bool pasted, const Token *use, TokenList *out)
{
    Token t = m->body[*k];
    t.position = use->position;
    t.flags |= TOKEN_EXPANDED;
    const int index = parameter_index(m, &t);
    if (m->is_function && token_is(&t, '#') && *k + 1 < m->body_count && parameter_index(m, &m->body[*k + 1]) >= 0) {
        const int which = parameter_index(m, &m->body[++*k]);
        *compile_push(c, out->tokens, out->count, out->capacity) = stringify(c, &arguments[which].tokens, &t);
    } else if (index >= 0) {
        add_tokens(c, out, pasted ? &arguments[index].tokens : expanded_argument(c, &arguments[index]), &t);
    } else {
        *compile_push(c, out->tokens, out->count, out->capacity) = t;
    }
}

static TokenList substitute(Compiler *c, const Macro *m, Argument *arguments, const Token *use)
{
    TokenList out = {0};
    for (uint32_t k = 0; k < m->body_count; k++) {
        const bool after = k > 0 && token_is(&m->body[k - 1], ID_PASTE);
        const bool before = k + 1 < m->body_count && token_is(&m->body[k + 1], ID_PASTE);
        if (token_is(&m->body[k], ID_PASTE) && k > 0 && k + 1 < m->body_count)
            continue;
        const uint32_t joint = out.count;
        substitute_token(c, m, arguments, &k, after || before, use, &out);
        if (!after || joint == 0)
            continue;
        const bool comma = token_is(&out.tokens[joint - 1], ',');
        if (joint == out.count && comma && m->is_variadic) {
            out.count--; // , ## __VA_ARGS__ without arguments
        } else if (joint < out.count && !(comma && m->is_variadic)) {
            out.tokens[joint - 1] = paste(c, &out.tokens[joint - 1], &out.tokens[joint]);
            memmove(&out.tokens[joint], &out.tokens[joint + 1], (out.count - joint - 1) * sizeof *out.tokens);
            out.count--;
        }
    }
    return out;
}

static bool expand_function(Compiler *c, Macro *m, Token *use)
{
    Preprocessor *pp = c->preprocessor;
    // Looks ahead for the '(', and restores the state if there is none.
    while (pp->sources[pp->source_count - 1].is_list && pp->sources[pp->source_count - 1].at == pp->sources[pp->source_count - 1].count &&
           !pp->sources[pp->source_count - 1].is_end)
        preprocess_pop(c);
    const TokenSource before = pp->sources[pp->source_count - 1];
    const Token next = preprocess_raw(c);
    if (!token_is(&next, '(')) {
        pp->sources[pp->source_count - 1] = before;
        return false;
    }
    Argument *arguments = compile_allocate(c, (m->parameter_count + 2) * sizeof *arguments);
    uint32_t count = 0;
    if (!read_arguments(c, m, use, arguments, &count))
        return true;
    const bool none = count == 1 && arguments[0].tokens.count == 0;
    if (count != m->parameter_count && !(none && m->parameter_count == 0) && !(m->is_variadic && count + 1 == m->parameter_count)) {
        source_error(c, use->position, use->length, NULL, "the macro '%s' has %u parameter%s", m->name->text, m->parameter_count,
                     m->parameter_count == 1 ? "" : "s");
        source_note(c, m->position, m->name->length, "'%s' is defined here", m->name->text);
        return true;
    }
    const TokenList list = substitute(c, m, arguments, use);
    preprocess_push_list(c, list.tokens, list.count, m, false);
    return true;
}

bool macro_expand(Compiler *c, Token *token)
{
    Macro *m = token->name->macro;
    if (!m || (token->flags & TOKEN_UNEXPANDABLE))
        return false;
    if (m->active) {
        token->flags |= TOKEN_UNEXPANDABLE;
        return false;
    }
    if (m->special) {
        Token *value = compile_new(c, Token);
        *value = special_value(c, m, token);
        preprocess_push_list(c, value, 1, NULL, false);
        return true;
    }
    if (m->is_function)
        return expand_function(c, m, token);
    TokenList list = substitute(c, m, NULL, token);
    if (list.count)
        list.tokens[0].flags = (uint8_t)((list.tokens[0].flags & ~(TOKEN_SPACE | TOKEN_FIRST)) | (token->flags & (TOKEN_SPACE | TOKEN_FIRST)));
    preprocess_push_list(c, list.tokens, list.count, m, false);
    return true;
}

TokenList macro_expand_list(Compiler *c, const Token *tokens, uint32_t count)
{
    Preprocessor *pp = c->preprocessor;
    if (++pp->nesting > MAX_NESTING)
        source_abandon(c, count ? tokens[0].position : 0, "the macros are nested too deeply");
    TokenList out = {0};
    preprocess_push_list(c, tokens, count, NULL, true);
    const uint32_t level = pp->source_count;
    for (;;) {
        Token t = preprocess_raw(c);
        if (t.kind == TOKEN_END)
            break;
        if (t.kind != TOKEN_NAME || !macro_expand(c, &t))
            *compile_push(c, out.tokens, out.count, out.capacity) = t;
    }
    while (pp->source_count >= level)
        preprocess_pop(c);
    pp->nesting--;
    return out;
}
