// parse_statements.c: blocks, jumps, declaration statements and expression statements.
#include "compiler/build.h"

#include <string.h>

Statement *statement_new(Compiler *c, StatementKind kind, Position position)
{
    Statement *s = compile_new(c, Statement);
    s->kind = (uint8_t)kind;
    s->position = position;
    return s;
}

Statement *statement_empty(Compiler *c, Position at)
{
    return statement_new(c, STATEMENT_EMPTY, at);
}

// ---- scopes

Scope *parse_enter_block(Compiler *c)
{
    Scope *outer = c->parser->state.scope;
    c->parser->state.scope = scope_new(c, SCOPE_BLOCK, outer);
    return outer;
}

void parse_leave_block(Compiler *c, Scope *outer)
{
    Parser *p = c->parser;
    if (p->state.scope->count)
        *compile_push(c, p->closed, p->closed_count, p->closed_capacity) = p->state.scope;
    c->parser->state.scope = outer;
}

// True if a function definition seems to start here. Within a block, that means that a } is missing before it.
bool parse_at_function_definition(Compiler *c)
{
    const Token *t = parse_token(c);
    if (!(t->flags & TOKEN_FIRST))
        return false;
    if (token_is(t, KEYWORD_GLOBAL) || token_is(t, KEYWORD_TEMPLATE) || token_is(t, KEYWORD_NAMESPACE))
        return true;
    if (!token_is(t, KEYWORD_DEVICE) && !token_is(t, KEYWORD_HOST) && !token_is(t, KEYWORD_STATIC) && !token_is(t, KEYWORD_VOID) && !token_is(t, KEYWORD_INT))
        return false;
    for (uint32_t k = 1; k < 40; k++) { // looks for ) {
        const Token *next = parse_peek(c, k);
        if (token_is(next, ';') || token_is(next, '=') || token_is(next, '{') || token_is(next, '}') || next->kind == TOKEN_END)
            return token_is(next, '{') && token_is(parse_peek(c, k - 1), ')');
    }
    return false;
}

bool parse_at_nested_definition(Compiler *c, Position open)
{
    return parse_at_function_definition(c) && source_indentation(c, parse_token(c)->position) > source_indentation(c, open);
}

static void skip_nested_function(Compiler *c)
{
    const Token *t = parse_token(c);
    const Function *f = c->parser->state.function;
    source_host_error(c, t->position, t->length, compile_format(c, "move it to before '%s'", f && f->name ? f->name->text : "this function"),
                      "a function cannot be defined within another one");
    while (!parse_at(c, '{') && !parse_at(c, ';') && parse_token(c)->kind != TOKEN_END)
        parse_advance(c);
    parse_skip_group(c);
}

Statement *parse_block(Compiler *c)
{
    Parser *p = c->parser;
    const Token *open = parse_previous(c);
    Statement *block = statement_new(c, STATEMENT_BLOCK, open->position), **last = &block->first;
    Scope *outer = parse_enter_block(c);
    parse_enter(c);
    while (!parse_at(c, '}')) {
        if (parse_at_nested_definition(c, open->position)) {
            skip_nested_function(c);
            continue;
        }
        if (parse_token(c)->kind == TOKEN_END || parse_at_function_definition(c)) {
            if (!p->state.panicking && !c->is_cut_off)
                source_error(c, open->position, 1, "add the } that ends the block", "this { has no }");
            p->state.panicking = true;
            p->state.panic_at = p->state.at;
            break;
        }
        const uint32_t begin = p->state.at;
        Statement *s = parse_statement(c);
        if (s)
            *last = s;
        while (*last)
            last = &(*last)->next;
        const bool is_synchronised = p->state.at > p->state.panic_at && (token_is(parse_previous(c), ';') || token_is(parse_previous(c), '}'));
        if (p->state.panicking && !is_synchronised)
            parse_recover(c);
        p->state.panicking = false;
        if (p->state.at == begin)
            parse_advance(c);
    }
    parse_leave(c);
    parse_leave_block(c, outer);
    parse_accept(c, '}');
    return block;
}

// ---- jumps

static Label *label_named(Compiler *c, Name *name)
{
    Function *f = c->parser->state.function;
    for (Label *label = f->labels; label; label = label->next)
        if (label->name == name)
            return label;
    Label *label = compile_new(c, Label);
    label->name = name;
    label->next = f->labels;
    return f->labels = label;
}

static Statement *parse_goto(Compiler *c, Position at)
{
    const Token *t = parse_token(c);
    Statement *s = statement_new(c, STATEMENT_GOTO, at);
    if (t->kind != TOKEN_NAME || t->id) {
        parse_syntax_error(c, NULL, "expected a label after 'goto'");
        return statement_empty(c, at);
    }
    s->label = label_named(c, t->name);
    s->label->used_at = t->position;
    parse_advance(c);
    parse_expect(c, ';', "after the label");
    return s;
}

static Statement *parse_label(Compiler *c)
{
    const Token *t = parse_token(c);
    Statement *s = statement_new(c, STATEMENT_LABEL, t->position);
    s->label = label_named(c, t->name);
    if (s->label->position) {
        source_error(c, t->position, t->length, NULL, "label '%s' is defined twice", t->name->text);
        source_note(c, s->label->position, t->length, "first defined here");
    }
    s->label->position = t->position;
    parse_advance(c), parse_advance(c);
    if (!parse_at(c, '}'))
        s->next = parse_statement(c);
    return s;
}

static Type *deduced_result(Compiler *c, Expression *e)
{
    if (!e)
        return type_basic(c, TYPE_VOID);
    return expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION ? type_basic(c, TYPE_UNKNOWN) : expression_decayed_type(c, e);
}

static Type *result_type(Compiler *c, Function *f, Expression *e)
{
    Type *result = f->type->target;
    if (type_without_reference(result)->kind != TYPE_AUTO)
        return result;
    Type *deduced = type_is_any_reference(result) && e ? type_reference(c, e->type, false) : deduced_result(c, e);
    f->type = type_function(c, deduced, f->type->parameters, f->type->parameter_count, f->type->variadic,
                            (f->type->member_const ? TYPE_CONST : 0) | (f->type->member_volatile ? TYPE_VOLATILE : 0));
    return deduced;
}

// The ; after a host's return is certainly missing before a }, and before the next line if all else was understood.
static void parse_end_of_return(Compiler *c, const Expression *value, uint32_t earlier_errors)
{
    const bool is_understood = c->silent_errors == earlier_errors && parse_token(c)->flags & TOKEN_FIRST;
    parse_end_of_statement(c, value ? "after the value" : "after 'return'", is_understood || parse_at(c, '}'));
}

static Statement *parse_return(Compiler *c, Position at)
{
    Function *f = c->parser->state.function;
    Statement *s = statement_new(c, STATEMENT_RETURN, at);
    Expression *e = NULL;
    const uint32_t errors = c->silent_errors;
    const bool at_next_line = parse_token(c)->flags & TOKEN_FIRST, is_next_statement = at_next_line && parse_at_declaration(c);
    if (!parse_at(c, ';') && !parse_at(c, '}') && !is_next_statement)
        e = parse_at(c, '{') ? parse_braced(c) : parse_expression(c);
    Type *result = result_type(c, f, e);
    const char *name = f->name ? f->name->text : "this lambda";
    const bool is_value_of_void = e && result->kind == TYPE_VOID && e->type->kind != TYPE_VOID;
    if (is_value_of_void && at_next_line && c->silent <= 1) {
        source_host_error(c, at + 5, 1, "add ';'", "expected ';' after 'return'");
    } else if (is_value_of_void && !(expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION)) {
        if (f->is_kernel)
            expression_error(c, e, "store the result through a pointer that the host passes", "a kernel returns nothing");
        else
            expression_error(c, e, NULL, "'%s' returns nothing: it is void", name);
    } else if (!e && result->kind != TYPE_VOID && !type_is_unknown(result) && !f->is_constructor) {
        source_error(c, at, 6, NULL, "'%s' must return a '%s'", name, type_text(c, result));
    } else if (e && result->kind != TYPE_VOID) {
        s->expression = initialise_copy(c, result, e, "a return");
    } else {
        s->expression = e;
    }
    parse_end_of_return(c, e, errors);
    return s;
}

static Statement *parse_jump(Compiler *c, StatementKind kind, Position at)
{
    const ParserState *state = &c->parser->state;
    const bool known = kind == STATEMENT_BREAK ? state->breakable > 0 : state->continuable > 0;
    if (!known)
        source_error(c, at, 0, NULL, "'%s' is only allowed in a loop%s", kind == STATEMENT_BREAK ? "break" : "continue",
                     kind == STATEMENT_BREAK ? " or a switch" : "");
    parse_expect(c, ';', kind == STATEMENT_BREAK ? "after 'break'" : "after 'continue'");
    return known ? statement_new(c, kind, at) : statement_empty(c, at);
}

// ---- expressions as statements

static void warn_about_unused(Compiler *c, const Expression *e)
{
    if (e->kind == EXPRESSION_FUNCTION && e->symbol && !e->template_arguments) {
        source_warning(c, e->start, expression_length(e), compile_format(c, "call it: %s()", e->symbol->name->text),
                       "this names the function '%s', but does not call it", e->symbol->name->text);
        return;
    }
    if (expression_is_unknown(e) || e->in_parentheses || c->instantiation)
        return;
    if (e->kind == EXPRESSION_EQUAL)
        source_warning(c, e->start, expression_length(e), "assign with =", "this compares, and does nothing with the result");
    else if (e->kind >= EXPRESSION_ADD && e->kind <= EXPRESSION_GREATER_EQUAL)
        source_warning(c, e->start, expression_length(e), NULL, "this computes a value, and does nothing with it");
}

static Statement *parse_expression_statement(Compiler *c)
{
    Statement *s = statement_new(c, STATEMENT_EXPRESSION, parse_token(c)->position);
    s->expression = parse_expression(c);
    warn_about_unused(c, s->expression);
    if (s->expression->kind == EXPRESSION_FUNCTION)
        s->kind = STATEMENT_EMPTY;
    if (expression_is_unknown(s->expression) && parse_token(c)->kind == TOKEN_NAME && !c->parser->state.panicking && c->result->error_count) {
        c->parser->state.panicking = true; // the unknown name has been reported: suppresses errors after it
        return s;
    }
    parse_expect(c, ';', "after the expression");
    return s;
}

static void parse_unroll(Compiler *c)
{
    const Token *t = parse_token(c);
    struct PendingUnroll *u = &c->parser->unroll;
    const bool is_nounroll = t->text[0] == 'n';
    *u = (struct PendingUnroll){.is_set = true, .factor = is_nounroll ? 1 : UINT32_MAX, .position = t->position};
    parse_advance(c);
    if (parse_token(c)->kind != TOKEN_LINE_END) {
        const Constant value = parse_constant(c, type_basic(c, TYPE_LONG_LONG), "the factor of #pragma unroll");
        u->factor = value.is_unknown ? 0 : value.integer < 1 ? 1 : value.integer > 1 << 20 ? 1 << 20 : (uint32_t)value.integer;
    }
    while (parse_token(c)->kind != TOKEN_LINE_END && parse_token(c)->kind != TOKEN_END)
        parse_advance(c);
    parse_advance(c);
    const Token *loop = parse_token(c);
    if (!token_is(loop, KEYWORD_FOR) && !token_is(loop, KEYWORD_WHILE) && !token_is(loop, KEYWORD_DO)) {
        source_warning(c, t->position, t->length, NULL, "#pragma unroll belongs directly before a loop");
        u->is_set = false;
    }
}

static Statement *parse_try(Compiler *c)
{
    const Position at = parse_previous(c)->position;
    source_error(c, at, 3, NULL, "a kernel cannot catch exceptions");
    Statement *body = parse_statement(c);
    while (parse_accept(c, KEYWORD_CATCH)) {
        if (parse_at(c, '('))
            parse_skip_group(c);
        if (parse_is_lenient(c))
            parse_statement(c);
        else if (parse_at(c, '{'))
            parse_skip_group(c);
    }
    return body;
}

static Statement *parse_keyword_statement(Compiler *c, const Token *t)
{
    parse_advance(c);
    switch (t->id) {
    case '{': return parse_block(c);
    case KEYWORD_IF: return parse_if(c, t->position);
    case KEYWORD_FOR: return parse_for(c, t->position);
    case KEYWORD_WHILE: return parse_while(c, t->position);
    case KEYWORD_DO: return parse_do(c, t->position);
    case KEYWORD_SWITCH: return parse_switch(c, t->position);
    case KEYWORD_CASE: return parse_case(c, t->position, false);
    case KEYWORD_DEFAULT: return parse_case(c, t->position, true);
    case KEYWORD_RETURN: return parse_return(c, t->position);
    case KEYWORD_BREAK: return parse_jump(c, STATEMENT_BREAK, t->position);
    case KEYWORD_CONTINUE: return parse_jump(c, STATEMENT_CONTINUE, t->position);
    case KEYWORD_GOTO: return parse_goto(c, t->position);
    case KEYWORD_ASM: case KEYWORD_ASM_2: case KEYWORD_ASM_3: return parse_asm(c, t->position);
    case KEYWORD_TRY: return parse_try(c);
    case ';': return statement_empty(c, t->position);
    case KEYWORD_ELSE:
        c->parser->state.at--;
        parse_syntax_error(c, c->parser->empty_if ? compile_format(c, "delete the ';' after the condition in line %u, which is the whole body of the 'if'",
                                                                   source_line(c, c->parser->empty_if))
                                                  : "put several statements before 'else' into braces",
                           "'else' without an 'if' before it");
        parse_advance(c);
        c->parser->state.panicking = false;
        return parse_statement(c);
    default: c->parser->state.at--; return NULL;
    }
}

Statement *parse_statement(Compiler *c)
{
    parse_enter(c);
    const Token *t = parse_token(c);
    Statement *s = NULL;
    if (t->kind == TOKEN_UNROLL) {
        parse_unroll(c);
        s = parse_statement(c);
    } else if (t->kind == TOKEN_END) {
        parse_syntax_error(c, NULL, "expected a statement, but the file ends here");
        s = statement_empty(c, t->position);
    } else if (token_is(t, '}')) {
        parse_syntax_error(c, NULL, "expected a statement before '}'");
        s = statement_empty(c, t->position);
    } else if ((s = parse_keyword_statement(c, t))) {
        // done
    } else if (t->kind == TOKEN_NAME && !t->id && token_is(parse_peek(c, 1), ':')) {
        s = parse_label(c);
    } else if (parse_at_declaration(c)) {
        s = parse_local_declaration(c, NULL);
    } else {
        s = parse_expression_statement(c);
    }
    parse_leave(c);
    return s;
}
