// parse_types.c: attributes, and the specifiers that begin a declaration.
#include "compiler/build.h"

#include <string.h>

// ---- attributes

static Expression *attribute_argument(Compiler *c)
{
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = false;
    Expression *e = parse_conditional(c);
    c->parser->state.no_greater = greater;
    return expression_value(c, e);
}

static void parse_launch_bounds(Compiler *c, Specifiers *s)
{
    Expression **parts[] = {&s->max_threads, &s->min_blocks, &s->max_blocks_per_cluster};
    parse_expect(c, '(', "after __launch_bounds__");
    for (int k = 0; k < 3; k++) {
        *parts[k] = attribute_argument(c);
        if (!parse_accept(c, ','))
            break;
    }
    parse_expect(c, ')', "after the bounds");
}

static void parse_cluster_dims(Compiler *c, Specifiers *s)
{
    parse_expect(c, '(', "after __cluster_dims__");
    for (int k = 0; k < 3; k++) {
        s->cluster[k] = attribute_argument(c);
        if (!parse_accept(c, ','))
            break;
    }
    parse_expect(c, ')', "after the dimensions");
}

static void parse_alignment(Compiler *c, Specifiers *s)
{
    parse_expect(c, '(', "after the alignment");
    uint64_t value = 0;
    const Token *at = parse_token(c);
    if (parse_at_type(c)) {
        value = parse_type_name(c)->alignment;
    } else {
        const Constant constant = parse_constant(c, NULL, "an alignment");
        value = constant.is_unknown ? 1 : (uint64_t)constant.integer;
    }
    if (value == 0 || value > 65536 || (value & (value - 1)))
        source_error(c, at->position, at->length, NULL, "an alignment must be a power of two up to 65536");
    else if (value > s->alignment)
        s->alignment = (uint32_t)value;
    parse_expect(c, ')', "after the alignment");
}

// [[name]], __attribute__((name(arguments)))
static void parse_attribute_list(Compiler *c, Specifiers *s)
{
    const uint32_t begin = c->parser->state.at;
    parse_skip_group(c);
    const uint32_t end = c->parser->state.at;
    for (uint32_t k = begin; k < end; k++) {
        const Token *t = &c->parser->list.tokens[k];
        if (t->kind != TOKEN_NAME)
            continue;
        if (!strcmp(t->name->text, "aligned") && token_is(t + 1, '(')) {
            c->parser->state.at = k + 1;
            parse_alignment(c, s);
        } else if (!strcmp(t->name->text, "noreturn")) {
            s->is_noreturn = true;
        } else if (!strcmp(t->name->text, "noinline")) {
            s->no_inline = true;
        }
    }
    c->parser->state.at = end;
}

bool parse_attributes(Compiler *c, Specifiers *s)
{
    switch (parse_token(c)->id) {
    case KEYWORD_LAUNCH_BOUNDS: parse_advance(c); parse_launch_bounds(c, s); return true;
    case KEYWORD_CLUSTER_DIMS: parse_advance(c); parse_cluster_dims(c, s); return true;
    case KEYWORD_ALIGNAS: case KEYWORD_ALIGN: case KEYWORD_BUILTIN_ALIGN: parse_advance(c); parse_alignment(c, s); return true;
    case KEYWORD_MAX_REGISTERS: case KEYWORD_ATTRIBUTE: parse_advance(c); parse_attribute_list(c, s); return true;
    case KEYWORD_EXTENSION: parse_advance(c); return true;
    case '[':
        if (!token_is(parse_peek(c, 1), '['))
            return false;
        parse_attribute_list(c, s);
        return true;
    default: return false;
    }
}

// ---- specifiers

typedef struct BasicType { // the words of a built-in type
    int is_signed, is_unsigned, is_short, is_long;
    uint16_t word; // int, char, ... or 0
    Position start;
} BasicType;

static bool parse_basic_word(Compiler *c, BasicType *b)
{
    const Token *t = parse_token(c);
    switch (t->id) {
    case KEYWORD_SIGNED: case KEYWORD_SIGNED_2: b->is_signed++; break;
    case KEYWORD_UNSIGNED: b->is_unsigned++; break;
    case KEYWORD_SHORT: b->is_short++; break;
    case KEYWORD_LONG: b->is_long++; break;
    case KEYWORD_VOID: case KEYWORD_BOOL: case KEYWORD_CHAR: case KEYWORD_INT: case KEYWORD_FLOAT: case KEYWORD_DOUBLE: case KEYWORD_WCHAR:
    case KEYWORD_CHAR16: case KEYWORD_CHAR32: case KEYWORD_INT128: case KEYWORD_INT128_T: case KEYWORD_UINT128_T:
        if (b->word)
            return false;
        b->word = t->id;
        break;
    default: return false;
    }
    parse_advance(c);
    return true;
}

static Type *basic_type(Compiler *c, const BasicType *b)
{
    static const TypeKind integers[2][3] = {{TYPE_INT, TYPE_LONG, TYPE_LONG_LONG}, {TYPE_UNSIGNED, TYPE_UNSIGNED_LONG, TYPE_UNSIGNED_LONG_LONG}};
    const bool plain = !b->is_signed && !b->is_unsigned && !b->is_short && !b->is_long;
    TypeKind kind = TYPE_UNKNOWN;
    switch (b->word) {
    case KEYWORD_VOID: kind = plain ? TYPE_VOID : TYPE_UNKNOWN; break;
    case KEYWORD_BOOL: kind = plain ? TYPE_BOOL : TYPE_UNKNOWN; break;
    case KEYWORD_FLOAT: kind = plain ? TYPE_FLOAT : TYPE_UNKNOWN; break;
    case KEYWORD_DOUBLE: kind = plain || b->is_long == 1 ? TYPE_DOUBLE : TYPE_UNKNOWN; break;
    case KEYWORD_CHAR: kind = b->is_unsigned ? TYPE_UNSIGNED_CHAR : b->is_signed ? TYPE_SIGNED_CHAR : TYPE_CHAR; break;
    case KEYWORD_WCHAR: kind = TYPE_INT; break;
    case KEYWORD_CHAR16: kind = TYPE_UNSIGNED_SHORT; break;
    case KEYWORD_CHAR32: kind = TYPE_UNSIGNED; break;
    case KEYWORD_INT: case 0:
        kind = b->is_short ? (b->is_unsigned ? TYPE_UNSIGNED_SHORT : TYPE_SHORT) : integers[b->is_unsigned > 0][b->is_long > 2 ? 2 : b->is_long];
        break;
    default:
        source_error(c, b->start, parse_end(c) - b->start, "use two 64-bit integers", "integers of 128 bits are not supported");
        return type_basic(c, TYPE_UNKNOWN);
    }
    const bool wrong = kind == TYPE_UNKNOWN || b->is_long > 2 || (b->is_short && b->is_long) || (b->is_signed && b->is_unsigned) || b->is_unsigned > 1;
    if (wrong)
        source_error(c, b->start, parse_end(c) - b->start, NULL, "these words do not make a type");
    return type_basic(c, wrong ? TYPE_UNKNOWN : kind);
}

Type *parse_decltype(Compiler *c)
{
    parse_expect(c, '(', "after decltype");
    if (parse_accept(c, KEYWORD_AUTO)) {
        parse_expect(c, ')', "after auto");
        return type_basic(c, TYPE_AUTO);
    }
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = false;
    c->parser->state.unevaluated++;
    Expression *e = parse_expression(c);
    c->parser->state.unevaluated--;
    c->parser->state.no_greater = greater;
    parse_expect(c, ')', "after the expression");
    Type *type = e->type;
    if (expression_is_unknown(e))
        return type_basic(c, TYPE_UNKNOWN);
    const bool plain_name = !e->in_parentheses && (e->kind == EXPRESSION_VARIABLE || e->kind == EXPRESSION_MEMBER);
    if (plain_name)
        return e->kind == EXPRESSION_VARIABLE ? e->variable->type : e->field->type;
    return e->is_lvalue ? type_reference(c, type, e->is_xvalue) : type;
}

static bool parse_storage(Compiler *c, Specifiers *s)
{
    switch (parse_token(c)->id) {
    case KEYWORD_TYPEDEF: s->is_typedef = true; break;
    case KEYWORD_EXTERN:
        s->is_extern = true;
        if (parse_peek(c, 1)->kind == TOKEN_STRING) {
            s->is_extern_c = true;
            parse_advance(c);
        }
        break;
    case KEYWORD_STATIC: s->is_static = true; break;
    case KEYWORD_INLINE: case KEYWORD_INLINE_2: case KEYWORD_INLINE_3: case KEYWORD_INLINE_HINT: s->is_inline = true; break;
    case KEYWORD_FORCE_INLINE: s->is_inline = s->force_inline = true; break;
    case KEYWORD_NO_INLINE:
        s->no_inline = true;
        if (token_is(parse_peek(c, 1), '(')) { // part of __attribute__((__noinline__))
            parse_advance(c);
            parse_skip_group(c);
            return true;
        }
        break;
    case KEYWORD_CONSTEXPR: s->is_constexpr = true; break;
    case KEYWORD_FRIEND: s->is_friend = true; break;
    case KEYWORD_EXPLICIT:
        s->is_explicit = true;
        if (token_is(parse_peek(c, 1), '(')) {
            parse_advance(c), parse_advance(c);
            s->is_explicit = parse_constant(c, type_basic(c, TYPE_BOOL), "explicit(...)").integer != 0;
            parse_expect(c, ')', "after explicit(");
            return true;
        }
        break;
    case KEYWORD_VIRTUAL: s->is_virtual = true; break;
    case KEYWORD_MUTABLE: s->is_mutable = true; break;
    case KEYWORD_REGISTER: case KEYWORD_THREAD_LOCAL: break;
    case KEYWORD_GLOBAL: s->is_kernel = true; break;
    case KEYWORD_DEVICE: s->is_device = true; break;
    case KEYWORD_HOST: s->is_host = true; break;
    case KEYWORD_SHARED: s->is_shared = true; break;
    case KEYWORD_CONSTANT: s->is_constant = true; break;
    case KEYWORD_MANAGED: s->is_managed = true; break;
    case KEYWORD_GRID_CONSTANT: break;
    default: return false;
    }
    parse_advance(c);
    return true;
}

uint8_t parse_qualifier(uint16_t id)
{
    switch (id) {
    case KEYWORD_CONST: case KEYWORD_CONST_2: return TYPE_CONST;
    case KEYWORD_VOLATILE: case KEYWORD_VOLATILE_2: case KEYWORD_VOLATILE_3: return TYPE_VOLATILE;
    case KEYWORD_RESTRICT: case KEYWORD_RESTRICT_2: return TYPE_RESTRICT;
    default: return 0;
    }
}

static bool begins_constructor(Compiler *c) // of the enclosing record, or of its template
{
    const Scope *scope = c->parser->state.scope;
    while (scope->kind == SCOPE_TEMPLATE && scope->parent)
        scope = scope->parent;
    const Token *t = parse_token(c);
    return t->kind == TOKEN_NAME && !t->id && scope->kind == SCOPE_RECORD && t->name == scope->record->name && token_is(parse_peek(c, 1), '(');
}

static bool parse_type_word(Compiler *c, Specifiers *s)
{
    const Token *t = parse_token(c);
    switch (t->id) {
    case KEYWORD_STRUCT: case KEYWORD_CLASS: case KEYWORD_UNION: s->type = parse_record(c, s, NULL); return true;
    case KEYWORD_ENUM: parse_advance(c); s->type = parse_enumeration(c, s); return true;
    case KEYWORD_AUTO: parse_advance(c); s->type = type_basic(c, TYPE_AUTO); return true;
    case KEYWORD_DECLTYPE: parse_advance(c); s->type = parse_decltype(c); return true;
    case KEYWORD_TYPENAME: {
        parse_advance(c);
        const ParsedName name = parse_qualified_name(c);
        s->type = parse_named_type(c, &name);
        if (!s->type && (name.dependent_scope || c->parser->state.in_check))
            s->type = type_basic(c, TYPE_UNKNOWN);
        if (!s->type) {
            if (name.name && name.symbol)
                source_error(c, name.start, name.end - name.start, NULL, "'%s' is no type", name.name->text);
            else
                parse_report_unknown(c, &name);
            s->type = type_basic(c, TYPE_UNKNOWN);
        }
        return true;
    }
    default:
        if (begins_constructor(c))
            return false;
        if (t->kind == TOKEN_NAME && !t->id)
            return (s->type = parse_maybe_named_type(c)) != NULL;
        return token_is(t, ID_SCOPE) && (s->type = parse_maybe_named_type(c)) != NULL;
    }
}

Specifiers parse_specifiers(Compiler *c)
{
    Specifiers s = {.start = parse_token(c)->position};
    uint8_t qualifiers = 0;
    BasicType basic = {.start = s.start};
    bool has_basic = false;
    while (!s.lacks_semicolon) {
        const uint8_t qualifier = parse_qualifier(parse_token(c)->id);
        if (qualifier) {
            qualifiers |= qualifier;
            parse_advance(c);
        } else if (parse_storage(c, &s) || parse_attributes(c, &s)) {
            continue;
        } else if (!s.type && parse_basic_word(c, &basic)) {
            has_basic = true;
        } else if (s.type || has_basic || !parse_type_word(c, &s)) {
            break;
        }
    }
    s.has_type = s.type || has_basic;
    if (has_basic)
        s.type = basic_type(c, &basic);
    if (!s.type)
        s.type = type_basic(c, TYPE_UNKNOWN);
    if (qualifiers && s.type->kind != TYPE_UNKNOWN)
        s.type = type_qualified(c, s.type, qualifiers);
    return s;
}

bool parse_at_type(Compiler *c)
{
    const Token *t = parse_token(c);
    if (t->id >= ID_FIRST_KEYWORD)
        switch (t->id) {
        case KEYWORD_SIGNED: case KEYWORD_SIGNED_2: case KEYWORD_UNSIGNED: case KEYWORD_SHORT: case KEYWORD_LONG: case KEYWORD_VOID:
        case KEYWORD_BOOL: case KEYWORD_CHAR: case KEYWORD_INT: case KEYWORD_FLOAT: case KEYWORD_DOUBLE: case KEYWORD_WCHAR: case KEYWORD_CHAR16:
        case KEYWORD_CHAR32: case KEYWORD_INT128: case KEYWORD_INT128_T: case KEYWORD_UINT128_T: case KEYWORD_STRUCT: case KEYWORD_CLASS:
        case KEYWORD_UNION: case KEYWORD_ENUM: case KEYWORD_AUTO: case KEYWORD_DECLTYPE: case KEYWORD_TYPENAME: return true;
        default: return parse_qualifier(t->id) != 0;
        }
    if (t->kind != TOKEN_NAME && !token_is(t, ID_SCOPE))
        return false;
    const ParserState saved = parse_save(c);
    Type *type = parse_maybe_named_type(c);
    parse_restore(c, &saved);
    return type != NULL;
}
