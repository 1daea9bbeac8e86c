// evaluate_objects.c: evaluates objects, calls and statements.
#include "compiler/host.h"

#include <string.h>

#include "compiler/intrinsics.h"

enum { MAX_CALL_DEPTH = 100 };
#define MAX_OBJECT_BYTES ((uint64_t)1 << 20)

Variable *evaluate_object(Evaluator *v, Type *type)
{
    if (type->size > MAX_OBJECT_BYTES)
        return NULL;
    Variable *object = compile_new(v->compiler, Variable);
    object->type = type;
    object->bytes = compile_allocate(v->compiler, type->size + 8);
    return object;
}

bool evaluate_step(Evaluator *v, const Expression *e)
{
    const bool is_deep = v->depth > MAX_NESTING;
    if (!is_deep && ++v->steps <= MAX_CONSTANT_STEPS)
        return true;
    return evaluate_fail(v, e, !v->host ? "its evaluation takes too long" : is_deep ? "the host's calls are nested too deeply: does the recursion end?"
                                                                                   : "the host code takes too long: does the loop end?");
}

static bool is_inside(const Constant *address, const Type *type)
{
    const Variable *object = address->variable;
    return object && object->bytes && address->integer >= 0 && (uint64_t)address->integer + type->size <= object->type->size;
}

// The message about an invalid access by host code.
static const char *invalid_access_message(const Host *h, const Constant *address, const char *verb)
{
    uint64_t bytes_there;
    if (host_is_on_device(h, address, 0, &bytes_there))
        return compile_format(h->compiler, "the host cannot %s device memory: cudaMemcpy copies it", verb);
    if (!address->variable)
        return compile_format(h->compiler, "the host %ss through a pointer to nothing", verb);
    return compile_format(h->compiler, "the host %ss past the end of an array or variable", verb);
}

bool evaluate_read(Evaluator *v, const Expression *e, Constant address, Type *type, Constant *value)
{
    Variable *variable = address.variable;
    *value = (Constant){0};
    if (variable && !variable->bytes && address.integer == 0 && type == type_bare(variable->type) &&
        constant_of_variable(v->compiler, variable, value))
        return true;
    if (v->host && variable && !host_fill_variable(v, variable))
        return false;
    if (!is_inside(&address, type) && v->host)
        return evaluate_fail(v, e, invalid_access_message(v->host, &address, "read"));
    if (!is_inside(&address, type))
        return evaluate_fail(v, e, variable && variable->name ? compile_format(v->compiler, "the value of '%s' is not known when the program is compiled",
                                                                             variable->name->text)
                                                              : "it depends on values that are not known when the program is compiled");
    const unsigned char *bytes = variable->bytes + address.integer;
    float single;
    const Constant *pointer = NULL;
    switch (type_integer_of(type)->kind) {
    case TYPE_FLOAT:
        memcpy(&single, bytes, sizeof single);
        *value = (Constant){.is_real = true, .real = single};
        return true;
    case TYPE_DOUBLE:
        value->is_real = true;
        memcpy(&value->real, bytes, sizeof value->real);
        return true;
    case TYPE_POINTER:
        memcpy(&pointer, bytes, sizeof pointer);
        *value = pointer ? *pointer : (Constant){0};
        return true;
    default:
        if (!type_is_integer(type_integer_of(type)))
            return evaluate_fail(v, e, "this has no constant value");
        memcpy(&value->integer, bytes, type->size);
        value->integer = constant_wrap(type, value->integer);
        return true;
    }
}

bool evaluate_write(Evaluator *v, const Expression *e, Constant address, Type *type, const Constant *value)
{
    if (v->host && address.variable && !host_fill_variable(v, address.variable))
        return false;
    if (!is_inside(&address, type) && v->host)
        return evaluate_fail(v, e, invalid_access_message(v->host, &address, "write"));
    if (!is_inside(&address, type))
        return evaluate_fail(v, e, "a constant expression changes a variable of its own only");
    unsigned char *bytes = address.variable->bytes + address.integer;
    if (type->kind == TYPE_FLOAT) {
        const float single = (float)value->real;
        memcpy(bytes, &single, sizeof single);
    } else if (type->kind == TYPE_DOUBLE) {
        memcpy(bytes, &value->real, sizeof value->real);
    } else if (type->kind == TYPE_POINTER) {
        Constant *pointer = NULL;
        if (value->variable || value->function || value->integer) {
            pointer = compile_new(v->compiler, Constant);
            *pointer = *value;
        }
        memcpy(bytes, &pointer, sizeof pointer);
    } else {
        memcpy(bytes, &value->integer, type->size <= 8 ? type->size : 8);
    }
    return true;
}

// ---- lvalues

static Variable *object_of(Evaluator *v, Variable *variable)
{
    for (Frame *f = v->frame; f; f = f->outer) {
        for (uint32_t k = f->count; k-- > 0;)
            if (f->variables[k] == variable)
                return f->objects[k];
        break;
    }
    return NULL;
}

static void bind(Evaluator *v, Variable *variable, Variable *object)
{
    Frame *f = v->frame;
    *compile_push(v->compiler, f->variables, f->count, f->capacity) = variable;
    f->count--;
    *compile_push(v->compiler, f->objects, f->count, f->object_capacity) = object;
}

// Evaluates the initialiser of a constant aggregate on its first use.
static void fill_constant(Evaluator *v, Variable *variable)
{
    const bool constant = variable->is_constexpr || (type_innermost(variable->type)->qualifiers & TYPE_CONST);
    if (variable->bytes || !constant || !variable->is_initialised || variable->is_parameter || variable->type->size > MAX_OBJECT_BYTES ||
        (variable->type->kind != TYPE_ARRAY && variable->type->kind != TYPE_RECORD) || !variable->initialiser)
        return;
    Evaluator own = {.compiler = v->compiler, .depth = v->depth, .steps = v->steps};
    variable->bytes = compile_allocate(v->compiler, variable->type->size + 8);
    if (!evaluate_to_object(&own, variable->initialiser, (Constant){.variable = variable}, type_bare(variable->type)))
        variable->bytes = NULL;
    v->steps = own.steps;
}

static bool variable_address(Evaluator *v, const Expression *e, Constant *address)
{
    Variable *variable = e->variable, *object = object_of(v, variable);
    if (object && type_is_any_reference(variable->type)) {
        *address = object->constant;
        return true;
    }
    if (type_is_any_reference(variable->type)) {
        if (variable->initialiser && !variable->is_parameter && variable->is_initialised)
            return evaluate_lvalue(v, variable->initialiser, address);
        return evaluate_fail(v, e, "a reference is not known when the program is compiled");
    }
    if (!object)
        fill_constant(v, variable);
    *address = (Constant){.variable = object ? object : variable};
    return true;
}

bool evaluate_lvalue(Evaluator *v, Expression *e, Constant *address)
{
    if (!evaluate_step(v, e))
        return false;
    v->depth++;
    bool known = false;
    Constant value;
    switch (e->kind) {
    case EXPRESSION_VARIABLE: known = variable_address(v, e, address); break;
    case EXPRESSION_DEREFERENCE: known = evaluate_scalar(v, e->left, address); break;
    case EXPRESSION_MEMBER:
        known = evaluate_lvalue(v, e->left, address);
        address->integer += (int64_t)e->field->offset;
        if (known && type_is_any_reference(e->field->type)) {
            Type *pointer = type_pointer(v->compiler, e->type);
            known = evaluate_read(v, e, *address, pointer, &value);
            *address = value;
        }
        break;
    case EXPRESSION_BASE:
        known = evaluate_lvalue(v, e->left, address);
        address->integer += (int64_t)e->offset;
        break;
    case EXPRESSION_MATERIALISE: case EXPRESSION_CONSTRUCT: case EXPRESSION_LIST: case EXPRESSION_COPY: {
        Expression *source = e->kind == EXPRESSION_MATERIALISE ? e->left : e;
        *address = (Constant){.variable = evaluate_object(v, type_bare(e->type))};
        known = address->variable ? evaluate_to_object(v, source, *address, type_bare(e->type)) : evaluate_fail(v, e, "it is too large");
        break;
    }
    case EXPRESSION_STRING: {
        Variable *object = evaluate_object(v, e->type);
        if (object)
            memcpy(object->bytes, e->text, e->length);
        *address = (Constant){.variable = object};
        known = object != NULL;
        break;
    }
    case EXPRESSION_CONDITIONAL:
        known = evaluate_scalar(v, e->condition, &value) && evaluate_lvalue(v, value.integer || value.variable ? e->left : e->right, address);
        break;
    case EXPRESSION_ASSIGN: case EXPRESSION_COMPOUND: case EXPRESSION_INCREMENT:
        known = evaluate_assignment(v, e, address, &value);
        break;
    case EXPRESSION_COMMA: known = evaluate_scalar(v, e->left, &value) && evaluate_lvalue(v, e->right, address); break;
    case EXPRESSION_CALL: known = evaluate_call(v, e, address, NULL); break;
    default: known = evaluate_fail(v, e, "this has no constant value");
    }
    v->depth--;
    return known;
}

// ---- initialisation of objects

static bool initialise_from_list(Evaluator *v, Expression *e, Constant address, Type *type)
{
    if (e->argument_count == 1 && type->kind == TYPE_ARRAY && e->arguments[0] && e->arguments[0]->kind == EXPRESSION_STRING) {
        const uint64_t bytes = e->arguments[0]->length + 1 < type->size ? e->arguments[0]->length + 1 : type->size;
        if (!is_inside(&address, type))
            return evaluate_fail(v, e, "this has no constant value");
        memcpy(address.variable->bytes + address.integer, e->arguments[0]->text, bytes);
        return true;
    }
    for (uint32_t k = 0; k < e->argument_count; k++) {
        Constant part = address;
        Type *part_type = type->kind == TYPE_ARRAY ? type->target : type->kind == TYPE_RECORD ? type->record->fields[k].type : type;
        part.integer += type->kind == TYPE_ARRAY ? (int64_t)(k * part_type->size) : type->kind == TYPE_RECORD ? (int64_t)type->record->fields[k].offset : 0;
        if (e->arguments[k] && !evaluate_to_object(v, e->arguments[k], part, part_type))
            return false;
    }
    return true;
}

static bool copy_object(Evaluator *v, const Expression *e, Constant from, Constant to, Type *type)
{
    if (from.variable && !from.variable->bytes)
        fill_constant(v, from.variable);
    if (!is_inside(&from, type) || !is_inside(&to, type))
        return evaluate_fail(v, e, "it depends on values that are not known when the program is compiled");
    memmove(to.variable->bytes + to.integer, from.variable->bytes + from.integer, type->size);
    return true;
}

bool evaluate_to_object(Evaluator *v, Expression *e, Constant address, Type *type)
{
    Constant value;
    if (type_is_any_reference(type)) // stored as a pointer
        return evaluate_lvalue(v, e, &value) && evaluate_write(v, e, address, type_pointer(v->compiler, type->target), &value);
    type = type_bare(type);
    if (e->kind == EXPRESSION_LIST)
        return initialise_from_list(v, e, address, type);
    if (type->kind != TYPE_RECORD)
        return evaluate_scalar(v, e, &value) && evaluate_write(v, e, address, type, &value);
    if (e->kind == EXPRESSION_CALL && !e->is_lvalue)
        return evaluate_call(v, e, &value, &address);
    if (e->kind == EXPRESSION_CONSTRUCT)
        return !e->function || evaluate_call(v, e, &value, &address);
    if (e->kind == EXPRESSION_CONDITIONAL && !e->is_lvalue)
        return evaluate_scalar(v, e->condition, &value) && evaluate_to_object(v, value.integer ? e->left : e->right, address, type);
    Expression *source = e->kind == EXPRESSION_COPY ? e->left : e;
    return evaluate_lvalue(v, source, &value) && copy_object(v, e, value, address, type);
}

// ---- calls

static bool run_constructor(Evaluator *v, Function *f, Constant object)
{
    for (uint32_t k = 0; k < f->field_initialiser_count; k++) {
        const FieldInitialiser *initialiser = &f->field_initialisers[k];
        Constant part = object;
        if (initialiser->field)
            part.integer += (int64_t)initialiser->field->offset;
        if (!evaluate_to_object(v, initialiser->value, part, initialiser->field ? initialiser->field->type : f->record->type))
            return false;
    }
    return true;
}

static bool bind_parameter(Evaluator *v, Frame *inner, Variable *parameter, Expression *argument)
{
    Variable *object = evaluate_object(v, type_is_any_reference(parameter->type) ? type_pointer(v->compiler, parameter->type->target)
                                                                                : parameter->type);
    if (!object)
        return evaluate_fail(v, argument, "it is too large");
    if (type_is_any_reference(parameter->type) ? !evaluate_lvalue(v, argument, &object->constant)
                                               : !evaluate_to_object(v, argument, (Constant){.variable = object}, parameter->type))
        return false;
    Frame *outer = v->frame;
    v->frame = inner;
    bind(v, parameter, object);
    v->frame = outer;
    return true;
}

bool evaluate_call(Evaluator *v, Expression *call, Constant *value, Constant *object)
{
    Function *f = call->function;
    if (v->host && call->is_launch)
        return host_launch(v, call, value);
    if (v->host && f && (f->intrinsic || !f->body_token) && !f->is_defaulted)
        return host_call(v, call, value);
    if (!f || f->intrinsic)
        return evaluate_fail(v, call, "a call of this function is no constant");
    parse_delayed_body(v->compiler, f);
    if (!f->body && !f->is_defaulted)
        return evaluate_fail(v, call, "the function that it calls has no body yet");
    if (v->depth > MAX_CALL_DEPTH)
        return evaluate_fail(v, call, v->host ? "the host's calls are nested too deeply: does the recursion end?" : "its calls are nested too deeply");
    Frame frame = {.function = f, .call = call};
    const bool member = f->record && !f->is_static;
    uint32_t first = 0;
    Constant self = {0};
    if (f->is_constructor) {
        if (object)
            self = *object;
        else
            self.variable = evaluate_object(v, f->record->type);
    } else if (member) {
        if (!evaluate_scalar(v, call->arguments[0], &self))
            return false;
        first = 1;
    }
    for (uint32_t k = 0; k < f->parameter_count && first + k < call->argument_count; k++)
        if (!bind_parameter(v, &frame, f->parameters[k], call->arguments[first + k]))
            return false;
    if (object && !f->is_constructor)
        frame.result_object = object->variable, frame.result = *object;
    frame.outer = v->frame;
    v->frame = &frame;
    v->depth++;
    bool known = true;
    if (f->self) {
        Variable *pointer = evaluate_object(v, f->self->type);
        known = evaluate_write(v, call, (Constant){.variable = pointer}, type_bare(f->self->type), &self);
        bind(v, f->self, pointer);
    }
    known = known && (!f->is_constructor || run_constructor(v, f, self));
    known = known && (!f->body || evaluate_statement(v, f->body) != FLOW_FAILED);
    v->depth--;
    v->frame = frame.outer;
    *value = frame.result;
    return known || evaluate_fail(v, call, "this call has no constant value");
}

// ---- statements

static Flow run_return(Evaluator *v, Statement *s)
{
    Frame *f = v->frame;
    if (!s->expression)
        return FLOW_RETURN;
    Type *result = f->function->type->target;
    bool known;
    if (type_is_any_reference(result))
        known = evaluate_lvalue(v, s->expression, &f->result);
    else if (result->kind == TYPE_RECORD && f->result_object)
        known = evaluate_to_object(v, s->expression, f->result, result);
    else
        known = evaluate_scalar(v, s->expression, &f->result);
    return known ? FLOW_RETURN : FLOW_FAILED;
}

static bool condition(Evaluator *v, Expression *e, bool *value)
{
    Constant constant = {.integer = 1};
    if (e && !evaluate_scalar(v, e, &constant))
        return false;
    *value = constant.integer || constant.variable || constant.function;
    return true;
}

static Flow run_loop(Evaluator *v, Statement *s)
{
    if (s->first && evaluate_statement(v, s->first) == FLOW_FAILED)
        return FLOW_FAILED;
    Constant ignored;
    for (bool first = s->kind == STATEMENT_DO;; first = false) {
        bool continues = true;
        if (!first && !condition(v, s->expression, &continues))
            return FLOW_FAILED;
        if (!continues)
            return FLOW_NEXT;
        const Flow flow = s->body ? evaluate_statement(v, s->body) : FLOW_NEXT;
        if (flow == FLOW_BREAK)
            return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_FAILED)
            return flow;
        if (s->step && !evaluate_scalar(v, s->step, &ignored))
            return FLOW_FAILED;
    }
}

static Flow run_declaration(Evaluator *v, Statement *s)
{
    Variable *variable = s->variable;
    if (v->host && variable->space == SPACE_HOST)
        return host_fill_variable(v, variable) ? FLOW_NEXT : FLOW_FAILED;
    if (variable->space != SPACE_AUTOMATIC || variable->is_static)
        return FLOW_NEXT;
    Variable *object = object_of(v, variable); // the object of an earlier iteration
    const bool is_again = object != NULL;
    if (is_again)
        memset(object->bytes, 0, object->type->size);
    else
        object = evaluate_object(v, type_is_any_reference(variable->type) ? type_pointer(v->compiler, variable->type->target) : variable->type);
    if (!object)
        return FLOW_FAILED;
    if (variable->initialiser && type_is_any_reference(variable->type)) {
        if (!evaluate_lvalue(v, variable->initialiser, &object->constant))
            return FLOW_FAILED;
    } else if (variable->initialiser && !evaluate_to_object(v, variable->initialiser, (Constant){.variable = object}, variable->type)) {
        return FLOW_FAILED;
    }
    if (!is_again)
        bind(v, variable, object);
    return FLOW_NEXT;
}

static Flow run_block(Evaluator *v, Statement *s)
{
    for (; s; s = s->next) {
        const Flow flow = evaluate_statement(v, s);
        if (flow != FLOW_NEXT)
            return flow;
    }
    return FLOW_NEXT;
}

// Executes the statements from the matching case on; cases within a nested block are not supported.
static Flow run_switch(Evaluator *v, Statement *s)
{
    Constant value;
    if ((s->first && evaluate_statement(v, s->first) == FLOW_FAILED) || !evaluate_scalar(v, s->expression, &value))
        return FLOW_FAILED;
    const Statement *target = NULL;
    for (const Statement *label = s->cases; label && !(target && !target->is_default); label = label->next_case)
        if (label->is_default || (value.integer >= label->low && value.integer <= label->high))
            target = label;
    if (!target)
        return FLOW_NEXT;
    Statement *next = s->body->kind == STATEMENT_BLOCK ? s->body->first : s->body;
    while (next && next != target)
        next = next->next;
    if (!next)
        return evaluate_fail(v, s->expression, "a case within a nested block is not supported"), FLOW_FAILED;
    const Flow flow = run_block(v, next);
    return flow == FLOW_BREAK ? FLOW_NEXT : flow;
}

Flow evaluate_statement(Evaluator *v, Statement *s)
{
    bool value = true;
    Constant ignored;
    if (!v->frame || !evaluate_step(v, s->expression))
        return FLOW_FAILED;
    switch (s->kind) {
    case STATEMENT_EXPRESSION:
        if (s->expression->type->kind == TYPE_RECORD && !s->expression->is_lvalue)
            return evaluate_lvalue(v, expression_lvalue(v->compiler, s->expression), &ignored) ? FLOW_NEXT : FLOW_FAILED;
        return evaluate_scalar(v, s->expression, &ignored) ? FLOW_NEXT : FLOW_FAILED;
    case STATEMENT_DECLARE: return run_declaration(v, s);
    case STATEMENT_BLOCK: return run_block(v, s->first);
    case STATEMENT_IF:
        if ((s->first && evaluate_statement(v, s->first) == FLOW_FAILED) || !condition(v, s->expression, &value))
            return FLOW_FAILED;
        return value ? evaluate_statement(v, s->body) : s->else_body ? evaluate_statement(v, s->else_body) : FLOW_NEXT;
    case STATEMENT_LOOP: case STATEMENT_DO: return run_loop(v, s);
    case STATEMENT_SWITCH: return run_switch(v, s);
    case STATEMENT_CASE: return FLOW_NEXT;
    case STATEMENT_RETURN: return run_return(v, s);
    case STATEMENT_BREAK: return FLOW_BREAK;
    case STATEMENT_CONTINUE: return FLOW_CONTINUE;
    case STATEMENT_EMPTY: return FLOW_NEXT;
    default: return FLOW_FAILED;
    }
}
