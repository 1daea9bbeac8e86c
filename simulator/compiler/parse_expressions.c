// parse_expressions.c: the grammar of expressions, from the comma operator to unary operators.
#include "compiler/build.h"

#include <string.h>

Constant parse_constant(Compiler *c, Type *type, const char *what)
{
    Expression *e = parse_conditional(c);
    if (type && e->type->kind != TYPE_UNKNOWN)
        e = convert(c, e, type, what);
    Expression *value = expression_value(c, e);
    Constant constant = {0};
    if (expression_is_unknown(value)) {
        constant.is_unknown = true;
        constant.integer = 1;
    } else if (!constant_evaluate(c, value, &constant)) {
        expression_error(c, e, "use a number, const int or constexpr", "%s must be known when the program is compiled", what);
        constant = (Constant){.integer = 1, .is_unknown = true};
    }
    return constant;
}

// ---- postfix operators

typedef struct Arguments {
    Expression **list;
    uint32_t count, capacity;
} Arguments;

static void parse_argument(Compiler *c, void *context)
{
    Arguments *arguments = context;
    Expression *e = parse_at(c, '{') ? parse_braced(c) : parse_assignment(c);
    *compile_push(c, arguments->list, arguments->count, arguments->capacity) = e;
}

Expression **parse_arguments(Compiler *c, uint16_t closing, uint32_t *count)
{
    Arguments arguments = {0};
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = false;
    while (!parse_at(c, closing) && parse_token(c)->kind != TOKEN_END) {
        if (!pack_at_expansion(c) || !pack_expand(c, parse_argument, &arguments)) {
            parse_argument(c, &arguments);
            parse_accept(c, ID_ELLIPSIS);
        }
        if (!parse_accept(c, ','))
            break;
        if (parse_at(c, closing) && closing == ')')
            parse_syntax_error(c, "delete the comma", "expected an argument after ','");
    }
    c->parser->state.no_greater = greater;
    parse_expect(c, closing, closing == ')' ? "after the arguments" : "after the list");
    *count = arguments.count;
    return arguments.list ? arguments.list : compile_allocate(c, sizeof *arguments.list);
}

Expression *parse_braced(Compiler *c)
{
    const Position start = parse_token(c)->position;
    parse_enter(c);
    parse_expect(c, '{', "before the list");
    uint32_t count;
    Expression **list = parse_arguments(c, '}', &count);
    Expression *e = expression_new(c, EXPRESSION_LIST, type_basic(c, TYPE_INITIALISERS), start, parse_end(c));
    e->arguments = list;
    e->argument_count = count;
    parse_leave(c);
    return e;
}

Expression *parse_functional_cast(Compiler *c, Type *type, Position start)
{
    if (parse_at(c, '{')) {
        Expression *list = parse_braced(c);
        list->start = start;
        Expression *e = initialise_list(c, type, list, NULL);
        e->start = start;
        return e;
    }
    parse_expect(c, '(', "after the type");
    uint32_t count;
    Expression **arguments = parse_arguments(c, ')', &count);
    const Position end = parse_end(c);
    if (type->kind == TYPE_AUTO)
        return count == 1 ? expression_value(c, arguments[0]) : expression_unknown(c, start, end);
    if (count == 1 && type->kind != TYPE_RECORD)
        return cast_to(c, arguments[0], type, CAST_FUNCTIONAL, start, end);
    return initialise_direct(c, type_bare(type), arguments, count, start, end);
}

// name<<<grid, block, bytes, stream>>>
static void parse_launch(Compiler *c, Expression *callee)
{
    const Position at = parse_token(c)->position;
    parse_advance(c);
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = true;
    Expression *list = expression_new(c, EXPRESSION_LIST, type_basic(c, TYPE_UNKNOWN), at, at);
    uint32_t capacity = 0;
    while (!parse_at(c, '>') && parse_token(c)->kind != TOKEN_END) {
        Expression *e = parse_at(c, '{') ? parse_braced(c) : parse_assignment(c);
        *compile_push(c, list->arguments, list->argument_count, capacity) = e;
        if (!parse_accept(c, ','))
            break;
    }
    c->parser->state.no_greater = greater;
    if (parse_greater_count(c) >= 3) {
        parse_advance(c), parse_advance(c), parse_advance(c);
    } else {
        parse_syntax_error(c, "a launch is name<<<blocks, threads>>>(arguments)", "expected '>>>' after the launch's configuration");
    }
    if (list->argument_count == 1 && !c->parser->state.panicking && callee->kind == EXPRESSION_FUNCTION) {
        source_host_error(c, list->arguments[0]->start, 0, compile_format(c, "write %s<<<blocks, threads>>>(...)", callee->name ? callee->name->text : "kernel"),
                          "a launch needs the number of blocks and of threads");
    }
    callee->is_launch = true;
    callee->condition = list;
}

static bool points_to_function(const Type *type)
{
    return type->kind == TYPE_POINTER && type->target->kind == TYPE_FUNCTION;
}

static Expression *parse_member(Compiler *c, Expression *object)
{
    const Position at = parse_token(c)->position;
    const bool arrow = parse_at(c, ID_ARROW);
    parse_advance(c);
    const Token *t = parse_token(c);
    Scope *outer = c->parser->state.scope;
    // The name is looked up in the object's class, but its template arguments in the current scope.
    ParsedName name = {.start = t->position};
    const Type *type = arrow && object->type->kind == TYPE_POINTER ? object->type->target : object->type;
    parse_accept(c, KEYWORD_TEMPLATE);
    name.is_destructor = parse_accept(c, '~');
    t = parse_token(c);
    if (t->kind == TOKEN_NAME && token_is(parse_peek(c, 1), ID_SCOPE)) {
        name = parse_qualified_name(c);
    } else if (t->kind == TOKEN_NAME && !t->id) {
        name.name = t->name;
        parse_advance(c);
        Symbol *symbol = type->kind == TYPE_RECORD ? scope_find_member(c, type->record->scope, t->name) : NULL;
        if (parse_at(c, '<') && symbol && symbol->kind == SYMBOL_TEMPLATE) {
            parse_advance(c);
            name.has_arguments = true;
            name.arguments = parse_template_arguments(c, symbol->template, &name.argument_count);
            if (!name.arguments)
                name.arguments = compile_new(c, TemplateArgument);
        } else if (parse_at(c, '<') && type_is_unknown(type)) {
            const ParserState saved = parse_save(c);
            if (!parse_skip_angles(c) || !parse_at(c, '('))
                parse_restore(c, &saved);
        }
    } else if (token_is(t, KEYWORD_OPERATOR)) {
        name = parse_qualified_name(c);
    } else {
        parse_syntax_error(c, NULL, "expected a member's name after '%s'", arrow ? "->" : ".");
        return expression_unknown(c, object->start, parse_end(c));
    }
    name.end = parse_end(c);
    c->parser->state.scope = outer;
    return build_member(c, object, &name, arrow, at);
}

static Expression *parse_postfix(Compiler *c, Expression *e)
{
    for (;;) {
        const Token *t = parse_token(c);
        if (token_is(t, '[') && !(e->kind == EXPRESSION_UNKNOWN && token_is(parse_peek(c, 1), '[') && token_is(parse_peek(c, 2), ']'))) {
            parse_advance(c);
            const bool greater = c->parser->state.no_greater;
            c->parser->state.no_greater = false;
            Expression *index = parse_at(c, '{') ? parse_braced(c) : parse_expression(c);
            c->parser->state.no_greater = greater;
            parse_expect(c, ']', "after the index");
            if (index->kind == EXPRESSION_COMMA && !index->in_parentheses) {
                source_error(c, index->start, expression_length(index), "write [y][x], or an index of one dimension: y * width + x",
                             "[a, b] uses only b");
                index = expression_unknown(c, index->start, index->end);
            }
            e = build_index(c, e, index, parse_end(c));
        } else if (token_is(t, '(')) {
            parse_advance(c);
            uint32_t count;
            Expression **arguments = parse_arguments(c, ')', &count);
            e = build_call(c, e, arguments, count, parse_end(c));
        } else if (token_is(t, '.') || token_is(t, ID_ARROW)) {
            e = parse_member(c, e);
        } else if (token_is(t, ID_INCREMENT) || token_is(t, ID_DECREMENT)) {
            parse_advance(c);
            e = build_increment(c, e, t->id == ID_DECREMENT, true, e->start, parse_end(c));
        } else if (token_is(t, ID_LAUNCH) && (e->kind == EXPRESSION_FUNCTION || expression_is_unknown(e) || points_to_function(e->type))) {
            parse_launch(c, e);
        } else {
            return e;
        }
    }
}

// ---- casts and unary operators

static Expression *parse_named_cast(Compiler *c)
{
    static const struct {
        uint16_t id;
        CastKind kind;
    } casts[] = {{KEYWORD_STATIC_CAST, CAST_STATIC}, {KEYWORD_REINTERPRET_CAST, CAST_REINTERPRET}, {KEYWORD_CONST_CAST, CAST_CONST},
                 {KEYWORD_DYNAMIC_CAST, CAST_STATIC}};
    const Token *t = parse_token(c);
    CastKind kind = CAST_STATIC;
    for (size_t k = 0; k < sizeof casts / sizeof *casts; k++)
        if (casts[k].id == t->id)
            kind = casts[k].kind;
    parse_advance(c);
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = true;
    if (!parse_accept(c, '<'))
        parse_syntax_error(c, "write cast<type>(value)", "expected '<' after '%s'", token_id_text(t->id));
    Type *type = parse_type_name(c);
    if (!parse_accept(c, '>'))
        parse_syntax_error(c, "add '>'", "expected '>' after the type");
    c->parser->state.no_greater = false;
    parse_expect(c, '(', "before the value");
    Expression *e = parse_expression(c);
    c->parser->state.no_greater = greater;
    parse_expect(c, ')', "after the value");
    return cast_to(c, e, type, kind, t->position, parse_end(c));
}

// Whether a ( begins a cast: a type and a ) follow.
static bool begins_cast(Compiler *c)
{
    const ParserState saved = parse_save(c);
    parse_advance(c);
    bool cast = parse_at_type(c);
    if (cast) {
        const Token *t = parse_token(c);
        if (t->kind == TOKEN_NAME && !t->id) {
            parse_maybe_named_type(c);
            const Token *next = parse_token(c), *after = parse_peek(c, 1);
            if (token_is(next, '{') || token_is(next, ID_SCOPE) || (token_is(next, '(') && !token_is(after, '*') && !token_is(after, ')')))
                cast = false;
        } else if (token_is(parse_peek(c, 1), '(') && !token_is(parse_peek(c, 2), '*') && t->id != KEYWORD_DECLTYPE) {
            cast = false;
        } else if (token_is(parse_peek(c, 1), '{') && t->id != KEYWORD_STRUCT) {
            cast = false;
        }
    }
    parse_restore(c, &saved);
    return cast;
}

static Expression *parse_unary(Compiler *c);

static Expression *parse_c_cast(Compiler *c)
{
    const Position start = parse_token(c)->position;
    parse_advance(c);
    const bool greater = c->parser->state.no_greater;
    c->parser->state.no_greater = false;
    Type *type = parse_type_name(c);
    c->parser->state.no_greater = greater;
    parse_expect(c, ')', "after the type");
    if (parse_at(c, '{'))
        return parse_postfix(c, parse_functional_cast(c, type, start));
    Expression *e = parse_unary(c);
    return cast_to(c, e, type, CAST_C, start, e->end);
}

static Expression *parse_sizeof(Compiler *c)
{
    const Token *t = parse_token(c);
    const bool alignment = t->id != KEYWORD_SIZEOF;
    parse_advance(c);
    if (parse_at(c, ID_ELLIPSIS)) { // sizeof...(pack)
        parse_advance(c), parse_expect(c, '(', "after sizeof...");
        const Token *name = parse_token(c);
        Symbol *pack = name->kind == TOKEN_NAME ? scope_lookup(c, c->parser->state.scope, name->name) : NULL;
        parse_advance(c);
        parse_expect(c, ')', "after the pack");
        if (!pack || pack->kind != SYMBOL_PACK)
            return expression_unknown(c, t->position, parse_end(c));
        return expression_integer(c, type_size_t(c), pack->element_count, t->position, parse_end(c));
    }
    Type *type;
    if (parse_at(c, '(') && begins_cast(c)) {
        parse_advance(c);
        const bool greater = c->parser->state.no_greater;
        c->parser->state.no_greater = false;
        type = parse_type_name(c);
        c->parser->state.no_greater = greater;
        parse_expect(c, ')', "after the type");
    } else {
        c->parser->state.unevaluated++;
        Expression *e = parse_unary(c);
        c->parser->state.unevaluated--;
        type = expression_is_unknown(e) ? type_basic(c, TYPE_UNKNOWN) : e->type;
    }
    type = type_without_reference(type);
    const Position end = parse_end(c);
    if (type_is_unknown(type) || !record_is_usable(c, type, t->position, end - t->position))
        return expression_unknown(c, t->position, end);
    if (!type_is_complete(type)) {
        source_error(c, t->position, end - t->position, type->kind == TYPE_ARRAY ? "the launch decides its size" : NULL, "the size of '%s' is not known",
                     type_text(c, type));
        return expression_unknown(c, t->position, end);
    }
    return expression_integer(c, type_size_t(c), alignment ? (int64_t)type->alignment : (int64_t)type->size, t->position, end);
}

static Expression *parse_new(Compiler *c)
{
    const Position start = parse_token(c)->position;
    parse_advance(c);
    Expression *placement = NULL;
    if (parse_at(c, '(') && !begins_cast(c)) {
        parse_advance(c);
        placement = expression_value(c, parse_expression(c));
        parse_expect(c, ')', "after the address");
    }
    const Specifiers s = parse_specifiers(c);
    Type *type = s.type;
    while (parse_accept(c, '*'))
        type = type_pointer(c, type);
    bool is_array = false;
    if (parse_accept(c, '[')) {
        parse_expression(c);
        parse_expect(c, ']', "after the number of elements");
        is_array = true;
    }
    Expression *value = NULL;
    if (parse_at(c, '(') || parse_at(c, '{'))
        value = parse_functional_cast(c, type, start);
    else if (!type_is_unknown(type))
        value = initialise_default(c, type, start, NULL);
    const Position end = parse_end(c);
    if (!placement || is_array) {
        source_error(c, start, end - start, "use an array of the kernel's own, shared memory, or memory that the host allocates",
                     "new in a kernel is only supported as new (address) T(...)");
        return expression_unknown(c, start, end);
    }
    if (type_is_unknown(type) || (value && expression_is_unknown(value)) || expression_is_unknown(placement))
        return expression_unknown(c, start, end);
    Expression *e = expression_new(c, EXPRESSION_NEW, type_pointer(c, type), start, end);
    e->left = cast_to(c, placement, type_pointer(c, type), CAST_C, placement->start, placement->end);
    e->right = value;
    return e;
}

static Expression *parse_prefix(Compiler *c, const Token *t)
{
    parse_advance(c);
    Expression *e = parse_unary(c);
    switch (t->id) {
    case '&': return build_address(c, e, t->position);
    case '*': return build_dereference(c, e, t->position);
    case ID_INCREMENT: case ID_DECREMENT: return build_increment(c, e, t->id == ID_DECREMENT, false, t->position, e->end);
    default: return build_unary(c, t->id, e, t->position);
    }
}

static Expression *parse_unary_inner(Compiler *c)
{
    const Token *t = parse_token(c);
    switch (t->id) {
    case '+': case '-': case '!': case '~': case '&': case '*': case ID_INCREMENT: case ID_DECREMENT: return parse_prefix(c, t);
    case KEYWORD_SIZEOF: case KEYWORD_ALIGNOF: case KEYWORD_ALIGNOF_2: return parse_sizeof(c);
    case KEYWORD_STATIC_CAST: case KEYWORD_REINTERPRET_CAST: case KEYWORD_CONST_CAST: case KEYWORD_DYNAMIC_CAST:
        return parse_postfix(c, parse_named_cast(c));
    case KEYWORD_NEW: return parse_new(c);
    case KEYWORD_DELETE: {
        parse_advance(c);
        if (parse_accept(c, '['))
            parse_expect(c, ']', "after delete [");
        Expression *e = parse_unary(c);
        source_error(c, t->position, t->length, NULL, "delete in a kernel is not supported");
        return expression_unknown(c, t->position, e->end);
    }
    case '(':
        if (begins_cast(c))
            return parse_c_cast(c);
        break;
    default: break;
    }
    return parse_postfix(c, parse_name_expression(c));
}

Expression *parse_operand(Compiler *c)
{
    return parse_unary(c);
}

static Expression *parse_unary(Compiler *c)
{
    parse_enter(c);
    Expression *e = parse_unary_inner(c);
    parse_leave(c);
    return e;
}

// ---- binary operators

// The precedence of the operator at the current token; 0: not an operator. Sets *id, and *length in tokens.
static int operator_level(Compiler *c, uint16_t *id, uint32_t *length)
{
    const Token *t = parse_token(c);
    *id = t->id;
    *length = 1;
    if (t->kind != TOKEN_PUNCTUATOR)
        return 0;
    if (t->id == '>') {
        const Token *next = parse_peek(c, 1);
        const bool joined = !(next->flags & (TOKEN_SPACE | TOKEN_FIRST));
        if (c->parser->state.no_greater || (joined && token_is(next, ID_GREATER_EQUAL))) // >>= is an assignment
            return 0;
        if (joined && token_is(next, '>')) {
            *id = OPERATOR_SHIFT_RIGHT;
            *length = 2;
            return 8;
        }
    }
    return token_operator_level(t->id);
}

static Expression *parse_binary(Compiler *c, int min_level)
{
    Expression *left = parse_unary(c);
    for (;;) {
        uint16_t id;
        uint32_t length;
        const int level = operator_level(c, &id, &length);
        if (level < min_level || level == 0)
            return left;
        const Position at = parse_token(c)->position;
        if (id == ID_SHIFT_LEFT && left->kind == EXPRESSION_FUNCTION && left->function && left->function->is_kernel)
            source_host_error(c, at, 2, compile_format(c, "write %s<<<blocks, threads>>>(...)", left->function->name->text), "a launch has three angle brackets");
        while (length-- > 0)
            parse_advance(c);
        parse_enter(c);
        Expression *right = parse_binary(c, level + 1);
        parse_leave(c);
        left = build_binary(c, id, left, right, at);
    }
}

Expression *parse_conditional(Compiler *c)
{
    parse_enter(c);
    Expression *condition = parse_binary(c, 1);
    if (parse_accept(c, '?')) {
        const bool greater = c->parser->state.no_greater;
        c->parser->state.no_greater = false;
        Expression *if_true = parse_expression(c);
        c->parser->state.no_greater = greater;
        parse_expect(c, ':', "of '?:'");
        Expression *if_false = parse_assignment(c);
        condition = build_conditional(c, condition, if_true, if_false);
    }
    parse_leave(c);
    return condition;
}

static uint16_t assignment_operator(Compiler *c, uint32_t *length)
{
    const Token *t = parse_token(c);
    *length = 1;
    switch (t->id) {
    case '=': case ID_ADD_ASSIGN: case ID_SUB_ASSIGN: case ID_MUL_ASSIGN: case ID_DIV_ASSIGN: case ID_REM_ASSIGN: case ID_AND_ASSIGN:
    case ID_OR_ASSIGN: case ID_XOR_ASSIGN: case ID_SHIFT_LEFT_ASSIGN: return t->id;
    case '>': {
        const Token *next = parse_peek(c, 1);
        if (c->parser->state.no_greater || !token_is(next, ID_GREATER_EQUAL) || (next->flags & (TOKEN_SPACE | TOKEN_FIRST)))
            return ID_NONE;
        *length = 2;
        return OPERATOR_SHIFT_RIGHT_ASSIGN;
    }
    default: return ID_NONE;
    }
}

Expression *parse_assignment(Compiler *c)
{
    if (parse_at(c, KEYWORD_THROW)) {
        const Position start = parse_token(c)->position;
        parse_advance(c);
        source_error(c, start, 5, "use __trap(), or an error code", "a kernel cannot throw");
        if (!parse_at(c, ';'))
            parse_assignment(c);
        return expression_unknown(c, start, parse_end(c));
    }
    parse_enter(c);
    Expression *left = parse_conditional(c);
    uint32_t length;
    const uint16_t id = assignment_operator(c, &length);
    if (id) {
        const Position at = parse_token(c)->position;
        while (length-- > 0)
            parse_advance(c);
        Expression *right = parse_at(c, '{') ? parse_braced(c) : parse_assignment(c);
        left = build_assign(c, id, left, right, at);
    }
    parse_leave(c);
    return left;
}

Expression *parse_expression(Compiler *c)
{
    Expression *e = parse_assignment(c);
    while (parse_accept(c, ','))
        e = build_comma(c, e, parse_assignment(c));
    return e;
}
