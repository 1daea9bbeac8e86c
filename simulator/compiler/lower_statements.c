// lower_statements.c: lowers statements to basic blocks.
#include "compiler/lower.h"

static void lower_list(Lowering *l, Statement *s)
{
    for (; s; s = s->next)
        lower_statement(l, s);
}

static void lower_declaration(Lowering *l, Statement *s)
{
    Variable *v = s->variable;
    if (v->space == SPACE_SHARED)
        lower_shared(l, v);
    if (v->space != SPACE_AUTOMATIC)
        return;
    if (type_is_unknown(v->type)) {
        lower_error(l, v->position, 0, NULL, "the type of '%s' is not known", v->name ? v->name->text : "this");
        return;
    }
    const Type *inner = type_innermost(v->type);
    if (inner->kind == TYPE_RECORD && inner->record->destructor && inner->record->destructor->body_token)
        lower_error(l, v->position, 0, "write what it does as a function, and call it", "an object with a destructor is not supported in a kernel");
    lower_set_line(l, v->position);
    const uint32_t alignment = lower_alignment(v->type);
    IrInstruction *slot = lower_alloca(l, lower_size(v->type), v->alignment > alignment ? v->alignment : alignment);
    v->ir = slot;
    lower_initialisation(l, (Address){slot, (v->type->qualifiers & TYPE_VOLATILE) != 0, 0}, v->type, v->initialiser);
}

static void lower_if(Lowering *l, Statement *s)
{
    if (s->first)
        lower_list(l, s->first);
    if (s->is_constexpr) {
        bool value;
        if (constant_condition(l->compiler, s->expression, &value))
            lower_list(l, value ? s->body : s->else_body);
        return;
    }
    IrBlock *if_true = lower_block(l), *after = lower_block(l), *if_false = s->else_body ? lower_block(l) : after;
    lower_set_line(l, s->position);
    lower_condition_to(l, s->expression, if_true, if_false);
    l->block = if_true;
    lower_list(l, s->body);
    lower_jump(l, after);
    if (s->else_body) {
        l->block = if_false;
        lower_list(l, s->else_body);
        lower_jump(l, after);
    }
    l->block = after;
}

static void lower_body(Lowering *l, Statement *body, IrBlock *break_to, IrBlock *continue_to)
{
    IrBlock *outer_break = l->break_to, *outer_continue = l->continue_to;
    l->break_to = break_to;
    l->continue_to = continue_to;
    lower_list(l, body);
    l->break_to = outer_break;
    l->continue_to = outer_continue;
}

static void lower_loop(Lowering *l, Statement *s)
{
    lower_list(l, s->first);
    IrBlock *header = lower_block(l), *body = lower_block(l), *step = lower_block(l), *after = lower_block(l);
    header->unroll = s->unroll;
    lower_jump(l, header);
    l->block = header;
    if (s->expression) {
        lower_set_line(l, s->expression->start);
        lower_condition_to(l, s->expression, body, after);
    } else {
        lower_jump(l, body);
    }
    l->block = body;
    lower_body(l, s->body, after, step);
    lower_jump(l, step);
    l->block = step;
    if (s->step) {
        lower_set_line(l, s->step->start);
        lower_discarded(l, s->step);
    }
    lower_jump(l, header);
    l->block = after;
}

static void lower_do(Lowering *l, Statement *s)
{
    IrBlock *body = lower_block(l), *test = lower_block(l), *after = lower_block(l);
    body->unroll = s->unroll;
    lower_jump(l, body);
    l->block = body;
    lower_body(l, s->body, after, test);
    lower_jump(l, test);
    l->block = test;
    lower_set_line(l, s->expression->start);
    lower_condition_to(l, s->expression, body, after);
    l->block = after;
}

// ---- switch, lowered to a chain of comparisons

static void lower_switch(Lowering *l, Statement *s)
{
    lower_list(l, s->first);
    IrInstruction *value = lower_value(l, s->expression);
    IrBlock *after = lower_block(l), *else_body = after;
    uint32_t count = 0;
    for (Statement *label = s->cases; label; label = label->next_case)
        count++;
    Statement **cases = compile_allocate(l->compiler, (count + 1) * sizeof *cases);
    uint32_t at = count;
    for (Statement *label = s->cases; label; label = label->next_case) // the list is in reverse order
        cases[--at] = label;
    for (uint32_t k = 0; k < count; k++) {
        IrBlock *target = lower_block(l);
        cases[k]->label = compile_new(l->compiler, Label);
        cases[k]->label->block = target;
        if (cases[k]->is_default) {
            else_body = target;
            continue;
        }
        IrBlock *next = lower_block(l);
        IrInstruction *test = lower_emit2(l, IR_COMPARE, IR_PRED, value, lower_integer(l, value->type, cases[k]->low));
        test->compare = IR_EQUAL;
        lower_branch(l, test, target, next);
        l->block = next;
    }
    lower_jump(l, else_body);
    l->block = lower_block(l); // code before the first case is unreachable
    lower_body(l, s->body, after, l->continue_to);
    lower_jump(l, after);
    l->block = after;
}

// ---- jumps

static void lower_return(Lowering *l, Statement *s)
{
    Type *result = l->source->type->target;
    IrInstruction *value = NULL;
    lower_set_line(l, s->position);
    if (s->expression && l->result)
        lower_passed(l, (Address){l->result, false, 0}, result, s->expression);
    else if (s->expression && type_is_any_reference(result))
        value = lower_generic(l, lower_lvalue(l, s->expression).pointer);
    else if (s->expression && result->kind == TYPE_VOID)
        lower_discarded(l, s->expression);
    else if (s->expression)
        value = lower_value(l, s->expression);
    if (ir_is_terminated(l->block))
        l->block = lower_block(l);
    ir_return(l->module, l->block, value);
}

static IrBlock *label_block(Lowering *l, Label *label)
{
    if (!label->block)
        label->block = lower_block(l);
    return label->block;
}

void lower_statement(Lowering *l, Statement *s)
{
    lower_enter(l, s->position);
    if (s->kind != STATEMENT_BLOCK && s->kind != STATEMENT_EMPTY)
        lower_set_line(l, s->position);
    switch (s->kind) {
    case STATEMENT_EXPRESSION: lower_discarded(l, s->expression); break;
    case STATEMENT_DECLARE: lower_declaration(l, s); break;
    case STATEMENT_BLOCK: lower_list(l, s->first); break;
    case STATEMENT_IF: lower_if(l, s); break;
    case STATEMENT_LOOP: lower_loop(l, s); break;
    case STATEMENT_DO: lower_do(l, s); break;
    case STATEMENT_SWITCH: lower_switch(l, s); break;
    case STATEMENT_CASE:
        lower_jump(l, s->label->block);
        l->block = s->label->block;
        break;
    case STATEMENT_RETURN: lower_return(l, s); break;
    case STATEMENT_BREAK: lower_jump(l, l->break_to); break;
    case STATEMENT_CONTINUE: lower_jump(l, l->continue_to); break;
    case STATEMENT_GOTO: lower_jump(l, label_block(l, s->label)); break;
    case STATEMENT_LABEL:
        lower_jump(l, label_block(l, s->label));
        l->block = s->label->block;
        break;
    default: break;
    }
    lower_leave(l);
}
