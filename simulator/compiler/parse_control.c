// parse_control.c: if, loops and switch.
#include "compiler/build.h"

// ---- conditions

static Expression *parse_condition(Compiler *c, const char *what, Statement **declaration)
{
    *declaration = NULL;
    if (parse_at_declaration(c)) {
        bool is_condition = true;
        *declaration = parse_local_declaration(c, &is_condition);
        Statement *last = *declaration;
        while (last && last->next)
            last = last->next;
        if (!is_condition) // an init-statement, whose ; has been consumed
            return parse_at(c, ')') ? NULL : convert_to_condition(c, parse_expression(c), what);
        if (!last || last->kind != STATEMENT_DECLARE)
            return expression_unknown(c, parse_end(c), parse_end(c));
        return convert_to_condition(c, expression_variable(c, last->variable, last->position, last->position), what);
    }
    Expression *e = parse_expression(c);
    if (parse_accept(c, ';')) {
        *declaration = statement_new(c, STATEMENT_EXPRESSION, e->start);
        (*declaration)->expression = e;
        e = parse_expression(c);
    }
    return convert_to_condition(c, e, what);
}

// Skips a statement by its brackets and keywords only.
static void skip_statement(Compiler *c)
{
    parse_enter(c);
    const Token *t = parse_token(c);
    if (token_is(t, '{')) {
        parse_skip_group(c);
    } else if (token_is(t, KEYWORD_IF) || token_is(t, KEYWORD_FOR) || token_is(t, KEYWORD_WHILE) || token_is(t, KEYWORD_SWITCH)) {
        parse_advance(c);
        parse_accept(c, KEYWORD_CONSTEXPR);
        if (parse_at(c, '('))
            parse_skip_group(c);
        skip_statement(c);
        if (token_is(t, KEYWORD_IF) && parse_accept(c, KEYWORD_ELSE))
            skip_statement(c);
    } else if (token_is(t, KEYWORD_DO)) {
        parse_advance(c);
        skip_statement(c);
        while (!parse_at(c, ';') && !parse_at(c, '}') && parse_token(c)->kind != TOKEN_END)
            parse_skip_group(c);
        parse_accept(c, ';');
    } else {
        while (!parse_at(c, ';') && !parse_at(c, '}') && parse_token(c)->kind != TOKEN_END)
            parse_skip_group(c);
        parse_accept(c, ';');
    }
    parse_leave(c);
}

static void warn_about_empty(Compiler *c, const char *what)
{
    const Token *t = parse_token(c);
    const bool same_line = !(t->flags & TOKEN_FIRST), block = token_is(parse_peek(c, 1), '{');
    if (token_is(t, ';') && what[1] == 'i' && what[2] == 'f')
        c->parser->empty_if = t->position;
    if (token_is(t, ';') && same_line && block)
        source_warning(c, t->position, 1, "delete the ;", "the %s has an empty body: the block after it does not belong to it", what);
}

static Statement *parse_body(Compiler *c)
{
    Scope *outer = parse_enter_block(c);
    Statement *body = parse_statement(c);
    parse_leave_block(c, outer);
    if (body && body->next) { // a declaration of several variables
        Statement *block = statement_new(c, STATEMENT_BLOCK, body->position);
        block->first = body;
        body = block;
    }
    return body;
}

Statement *parse_if(Compiler *c, Position at)
{
    Statement *s = statement_new(c, STATEMENT_IF, at);
    const bool is_constexpr = parse_accept(c, KEYWORD_CONSTEXPR);
    Scope *outer = parse_enter_block(c);
    parse_expect(c, '(', "after 'if'");
    s->expression = parse_condition(c, "the condition of 'if'", &s->first);
    parse_expect(c, ')', "after the condition");
    if (!s->expression)
        s->expression = expression_unknown(c, at, at);
    bool value = true;
    const bool known = is_constexpr && !expression_is_unknown(s->expression) && constant_condition(c, s->expression, &value);
    if (is_constexpr && !known && !expression_is_unknown(s->expression))
        expression_error(c, s->expression, NULL, "the condition of 'if constexpr' must be known when the program is compiled");
    warn_about_empty(c, "'if'");
    if (known && !value)
        skip_statement(c);
    else
        s->body = parse_body(c);
    if (parse_accept(c, KEYWORD_ELSE)) {
        warn_about_empty(c, "'else'");
        if (known && value)
            skip_statement(c);
        else
            s->else_body = parse_body(c);
    }
    parse_leave_block(c, outer);
    if (!s->body)
        s->body = statement_empty(c, at);
    s->is_constexpr = known;
    return s;
}

// ---- loops

static uint32_t take_unroll(Compiler *c)
{
    struct PendingUnroll *u = &c->parser->unroll;
    const uint32_t factor = u->is_set ? u->factor : 0;
    u->is_set = false;
    return factor;
}

static Statement *parse_loop_body(Compiler *c, const char *what)
{
    warn_about_empty(c, what);
    c->parser->state.breakable++;
    c->parser->state.continuable++;
    Statement *body = parse_body(c);
    c->parser->state.breakable--;
    c->parser->state.continuable--;
    return body;
}

Statement *parse_while(Compiler *c, Position at)
{
    Statement *s = statement_new(c, STATEMENT_LOOP, at);
    s->unroll = take_unroll(c);
    Scope *outer = parse_enter_block(c);
    Statement *declaration;
    parse_expect(c, '(', "after 'while'");
    s->expression = parse_condition(c, "the condition of 'while'", &declaration);
    if (declaration) {
        source_error(c, declaration->position, 0, "declare it before the loop", "a variable in the condition of 'while' is not supported");
        s->first = declaration;
    }
    parse_expect(c, ')', "after the condition");
    s->body = parse_loop_body(c, "'while'");
    parse_leave_block(c, outer);
    return s;
}

Statement *parse_do(Compiler *c, Position at)
{
    Statement *s = statement_new(c, STATEMENT_DO, at);
    s->unroll = take_unroll(c);
    s->body = parse_loop_body(c, "'do'");
    if (!parse_accept(c, KEYWORD_WHILE)) {
        parse_syntax_error(c, "write do { ... } while (condition);", "expected 'while' after the body of 'do'");
        s->expression = expression_unknown(c, at, at);
        return s;
    }
    parse_expect(c, '(', "after 'while'");
    s->expression = convert_to_condition(c, parse_expression(c), "the condition of 'while'");
    parse_expect(c, ')', "after the condition");
    parse_expect(c, ';', "after 'do ... while (...)'");
    return s;
}

static bool is_range_for(Compiler *c)
{
    uint32_t depth = 0, questions = 0;
    for (uint32_t k = 0; k < 400; k++) {
        const Token *t = parse_peek(c, k);
        if (t->kind == TOKEN_END || token_is(t, '{') || token_is(t, ';') || (depth == 0 && token_is(t, ')')))
            return false;
        depth += token_is(t, '(') || token_is(t, '[');
        depth -= token_is(t, ')') || token_is(t, ']');
        questions += token_is(t, '?');
        if (token_is(t, ':') && questions-- == 0)
            return true;
    }
    return false;
}

static Statement *declare(Compiler *c, Variable *v)
{
    Statement *s = statement_new(c, STATEMENT_DECLARE, v->position);
    s->variable = v;
    return s;
}

// An unnamed variable that the compiler introduces.
static Variable *hidden_variable(Compiler *c, Type *type, Expression *value, Position at)
{
    Variable *v = variable_new(c, NULL, type, at);
    v->initialiser = value;
    v->is_initialised = true;
    return v;
}

static void set_element(Compiler *c, Statement *s, Variable *element, bool is_auto, Expression *value)
{
    if (expression_is_unknown(value)) {
        if (is_auto)
            element->type = type_basic(c, TYPE_UNKNOWN);
    } else {
        if (is_auto) {
            Type *bare = type_without_reference(element->type);
            Type *own = type_is_any_reference(element->type) ? type_qualified(c, value->type, bare->qualifiers) : type_bare(value->type);
            element->type = type_is_any_reference(element->type) ? type_reference(c, own, false) : type_qualified(c, own, element->type->qualifiers);
        }
        element->initialiser = initialise_copy(c, element->type, value, "a loop's variable");
    }
    element->is_initialised = true;
    s->first = declare(c, element);
}

// for (T x : array), lowered to a loop over an index.
static Statement *parse_range_for(Compiler *c, Statement *loop)
{
    const Specifiers s = parse_specifiers(c);
    Declarator d = {0};
    parse_declarator(c, &s, &d);
    Variable *element = variable_new(c, d.name, d.type, d.position);
    parse_expect(c, ':', "of the range");
    Expression *range = parse_at(c, '{') ? parse_braced(c) : parse_expression(c);
    parse_expect(c, ')', "after the range");
    if (d.name)
        scope_declare(c, c->parser->state.scope, SYMBOL_VARIABLE, d.name, d.position)->variable = element;
    Statement *inner = statement_new(c, STATEMENT_BLOCK, loop->position);
    Expression *value = expression_unknown(c, range->start, range->end);
    if (range->type->kind == TYPE_ARRAY && range->type->count != NO_SIZE && !expression_is_unknown(range)) {
        Type *index_type = type_basic(c, TYPE_INT);
        const Position at = range->start, end = range->end;
        Variable *index = hidden_variable(c, index_type, expression_integer(c, index_type, 0, at, end), at);
        loop->first = declare(c, index);
        Expression *count = expression_integer(c, index_type, (int64_t)range->type->count, at, end);
        loop->expression = build_binary(c, '<', expression_variable(c, index, at, end), count, at);
        loop->step = build_increment(c, expression_variable(c, index, at, end), false, false, at, end);
        value = build_index(c, range, expression_variable(c, index, at, end), end);
    } else if (range->type->kind == TYPE_INITIALISERS && range->argument_count && parse_is_lenient(c)) {
        value = range->arguments[0]; // all have its type
    } else if (!expression_is_unknown(range)) {
        expression_error(c, range, "loop over an index", "a loop over a '%s' is not supported, only over an array", type_text(c, range->type));
    }
    const bool is_auto = type_without_reference(d.type)->kind == TYPE_AUTO;
    set_element(c, inner, element, is_auto, value);
    Statement *body = parse_loop_body(c, "'for'");
    inner->first->next = body;
    loop->body = inner;
    return loop;
}

// The first comma in for (a, b, c), which should be a semicolon; or NULL.
static const Token *comma_of_for(Compiler *c)
{
    const Token *comma = NULL;
    uint32_t depth = 0;
    for (uint32_t k = 0; k < 200; k++) {
        const Token *t = parse_peek(c, k);
        if (t->kind == TOKEN_END || token_is(t, '{') || token_is(t, ';') || (depth == 0 && token_is(t, ':')))
            return NULL;
        if (depth == 0 && token_is(t, ')'))
            return comma;
        depth += token_is(t, '(') || token_is(t, '[');
        depth -= token_is(t, ')') || token_is(t, ']');
        if (depth == 0 && token_is(t, ',') && !comma)
            comma = t;
    }
    return NULL;
}

// After an error about a missing ; between the parts of a 'for', the next part is parsed as if it were there.
static void continue_with_next_part(Compiler *c)
{
    ParserState *state = &c->parser->state;
    if (state->panicking && state->panic_at == state->at && !parse_at(c, ';') && !parse_at(c, ')'))
        state->panicking = false;
}

Statement *parse_for(Compiler *c, Position at)
{
    Statement *s = statement_new(c, STATEMENT_LOOP, at);
    s->unroll = take_unroll(c);
    Scope *outer = parse_enter_block(c);
    parse_expect(c, '(', "after 'for'");
    const Token *comma = comma_of_for(c);
    if (comma) {
        source_error(c, comma->position, 1, "write for (int i = 0; i < n; i++)", "expected ';' between the parts of 'for', not ','");
        c->parser->state.at--;
        parse_skip_group(c);
        c->silent++; // its variables are undeclared: suppresses errors in the body
        s->body = parse_loop_body(c, "'for'");
        c->silent--;
        parse_leave_block(c, outer);
        return statement_empty(c, at);
    }
    if (is_range_for(c)) {
        parse_range_for(c, s);
        parse_leave_block(c, outer);
        return s;
    }
    if (parse_accept(c, ';')) {
        s->first = NULL;
    } else if (parse_at_declaration(c)) {
        s->first = parse_local_declaration(c, NULL);
    } else {
        s->first = statement_new(c, STATEMENT_EXPRESSION, parse_token(c)->position);
        s->first->expression = parse_expression(c);
        if (parse_at(c, ','))
            parse_syntax_error(c, "a for has semicolons: for (int i = 0; i < n; i++)", "expected ';' after the first part of 'for'");
        parse_expect(c, ';', "after the first part of 'for'");
    }
    continue_with_next_part(c);
    if (!parse_at(c, ';') && !parse_at(c, ')'))
        s->expression = convert_to_condition(c, parse_expression(c), "the condition of 'for'");
    parse_expect(c, ';', "after the condition of 'for'");
    continue_with_next_part(c);
    if (!parse_at(c, ')'))
        s->step = parse_expression(c);
    const bool is_closed = parse_expect(c, ')', "after the parts of 'for'");
    if (!is_closed && c->parser->state.panicking && parse_token(c)->kind != TOKEN_END && !parse_at(c, '{')) { // resynchronises at the body
        while (!parse_at(c, ')') && !parse_at(c, '{') && !parse_at(c, '}') && parse_token(c)->kind != TOKEN_END)
            parse_advance(c);
        parse_accept(c, ')');
    }
    c->parser->state.panicking = false;
    s->body = parse_loop_body(c, "'for'");
    parse_leave_block(c, outer);
    return s;
}

// ---- switch

Statement *parse_switch(Compiler *c, Position at)
{
    ParserState *state = &c->parser->state;
    Statement *s = statement_new(c, STATEMENT_SWITCH, at);
    Scope *outer = parse_enter_block(c);
    parse_expect(c, '(', "after 'switch'");
    if (parse_at_declaration(c)) {
        bool is_condition = false;
        s->first = parse_local_declaration(c, &is_condition);
    }
    Expression *e = expression_value(c, parse_expression(c));
    if (e->type->kind == TYPE_RECORD && convert_to_arithmetic(c, e))
        e = expression_value(c, convert_to_arithmetic(c, e));
    parse_expect(c, ')', "after the value");
    if (!expression_is_unknown(e)) {
        if (!type_is_integer(type_integer_of(e->type)))
            expression_error(c, e, "use if and else", "a 'switch' needs an integer, and this is '%s'", type_text(c, e->type));
        else
            e = convert_scalar(c, e, type_promoted(c, type_integer_of(e->type)));
    }
    s->expression = e;
    Statement *outer_switch = state->innermost_switch;
    state->innermost_switch = s;
    state->breakable++;
    s->body = parse_statement(c);
    state->breakable--;
    state->innermost_switch = outer_switch;
    parse_leave_block(c, outer);
    return s;
}

static void check_duplicate(Compiler *c, const Statement *switch_statement, const Statement *s)
{
    for (const Statement *other = switch_statement->cases; other; other = other->next_case)
        if (other != s && other->is_default == s->is_default && (s->is_default || (other->low <= s->high && s->low <= other->high))) {
            source_error(c, s->position, 0, NULL, s->is_default ? "a second 'default'" : "a second 'case' of this value");
            source_note(c, other->position, 0, "first used here");
            return;
        }
}

Statement *parse_case(Compiler *c, Position at, bool is_default)
{
    Statement *s = statement_new(c, STATEMENT_CASE, at);
    Statement *switch_statement = c->parser->state.innermost_switch;
    s->is_default = is_default;
    bool unknown = false;
    if (!is_default) {
        Type *type = switch_statement && !expression_is_unknown(switch_statement->expression) ? switch_statement->expression->type : NULL;
        const Constant value = parse_constant(c, type, "a 'case'");
        s->low = s->high = value.integer;
        unknown = value.is_unknown;
    }
    parse_expect(c, ':', is_default ? "after 'default'" : "after the value of 'case'");
    if (!switch_statement) {
        source_error(c, at, 0, NULL, "'%s' is only allowed in a 'switch'", is_default ? "default" : "case");
        return statement_empty(c, at);
    }
    if (!unknown) {
        check_duplicate(c, switch_statement, s);
        s->next_case = switch_statement->cases;
        switch_statement->cases = s;
    }
    if (!parse_at(c, '}'))
        s->next = parse_statement(c);
    return unknown ? s->next : s;
}
