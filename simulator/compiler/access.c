// access.c: semantics of pointer, element and member access.
#include "compiler/build.h"

#include <string.h>

Expression *build_dereference(Compiler *c, Expression *e, Position start)
{
    if (e->type->kind == TYPE_RECORD) {
        Expression *called = build_operator_call(c, "operator*", e, NULL, start, e->end);
        if (called)
            return called;
    }
    if (e->kind == EXPRESSION_FUNCTION)
        return e;
    const Position end = e->end;
    e = expression_value(c, e);
    if (expression_is_unknown(e))
        return e;
    if (e->type->kind != TYPE_POINTER) {
        const Name *name = expression_name(e);
        source_error(c, start, end - start, name && type_is_arithmetic(e->type) ? compile_format(c, "write just %s", name->text) : NULL,
                     "'*' needs a pointer, and this is '%s'", type_text(c, e->type));
        return expression_unknown(c, start, end);
    }
    Type *target = e->type->target;
    if (target->kind == TYPE_VOID || (target->kind == TYPE_RECORD && !type_is_complete(target))) {
        source_error(c, start, end - start, target->kind == TYPE_VOID ? "cast it to a pointer to what it points to" : NULL,
                     "what a '%s' points to is not known", type_text(c, e->type));
        return expression_unknown(c, start, end);
    }
    Expression *result = expression_unary(c, EXPRESSION_DEREFERENCE, target, e);
    result->is_lvalue = true;
    result->start = start;
    return result;
}

Expression *build_address(Compiler *c, Expression *e, Position start)
{
    if (e->type->kind == TYPE_RECORD) {
        Expression *called = build_operator_call(c, "operator&", e, NULL, start, e->end);
        if (called)
            return called;
    }
    if (e->kind == EXPRESSION_FUNCTION || expression_is_unknown(e))
        return e;
    if (!e->is_lvalue || e->is_xvalue) {
        source_error(c, start, e->end - start, "store it in a variable first", "'&' needs a variable, and this is only a value");
        return expression_unknown(c, start, e->end);
    }
    Expression *result;
    if (e->kind == EXPRESSION_DEREFERENCE && type_pointer(c, e->type) == e->left->type)
        result = e->left;
    else
        result = expression_unary(c, EXPRESSION_ADDRESS, type_pointer(c, e->type), e);
    if (result == e->left) {
        Expression *copy = compile_new(c, Expression);
        *copy = *result;
        result = copy;
    }
    result->start = start;
    result->end = e->end;
    return result;
}

static void check_bounds(Compiler *c, const Expression *array, const Expression *index)
{
    const Type *type = array->kind == EXPRESSION_DECAY ? array->left->type : NULL;
    if (!type || type->kind != TYPE_ARRAY || type->count == NO_SIZE || index->kind != EXPRESSION_CONSTANT || c->instantiation)
        return;
    const int64_t value = index->constant.integer;
    if (value < 0 || (uint64_t)value > type->count || ((uint64_t)value == type->count && array->left->kind == EXPRESSION_VARIABLE)) {
        const Name *name = expression_name(array);
        source_warning(c, index->start, expression_length(index), NULL, "index %lld is out of bounds: '%s' has %llu elements", (long long)value,
                       name ? name->text : "it", (unsigned long long)type->count);
    }
}

Expression *build_index(Compiler *c, Expression *e, Expression *index, Position end)
{
    if (e->type->kind == TYPE_RECORD) {
        Expression *called = build_operator_call(c, "operator[]", e, index, e->start, end);
        if (called)
            return called;
    }
    if (index->type->kind == TYPE_RECORD && convert_to_arithmetic(c, index))
        index = convert_to_arithmetic(c, index);
    Expression *pointer = expression_value(c, e), *number = expression_value(c, index);
    if (expression_is_unknown(pointer) || expression_is_unknown(number))
        return expression_unknown(c, e->start, end);
    if (pointer->type->kind != TYPE_POINTER && number->type->kind == TYPE_POINTER) {
        Expression *swapped = pointer;
        pointer = number, number = swapped;
    }
    if (pointer->type->kind != TYPE_POINTER) {
        const Name *name = expression_name(e);
        source_error(c, e->start, end - e->start, NULL, "'%s' is '%s', which has no elements", name ? name->text : "this",
                     type_text(c, e->type));
        if (e->kind == EXPRESSION_VARIABLE && e->variable->position)
            source_note(c, e->variable->position, name ? name->length : 0, "'%s' is declared here", name ? name->text : "it");
        return expression_unknown(c, e->start, end);
    }
    const bool integer = type_is_integer(number->type) || (number->type->kind == TYPE_ENUM && !number->type->enumeration->scoped);
    if (!integer) {
        expression_error(c, index, type_is_real(number->type) ? "convert it: (int)" : NULL, "an index must be an integer, and this is '%s'",
                         type_text(c, index->type));
        return expression_unknown(c, e->start, end);
    }
    if (pointer->type->target->kind == TYPE_VOID || !type_is_complete(pointer->type->target))
        return build_dereference(c, pointer, e->start);
    check_bounds(c, pointer, number);
    Expression *moved = expression_binary(c, EXPRESSION_OFFSET, pointer->type, pointer,
                                          convert_scalar(c, number, type_promoted(c, number->type)));
    Expression *result = expression_unary(c, EXPRESSION_DEREFERENCE, pointer->type->target, moved);
    result->is_lvalue = true;
    result->is_xvalue = e->is_xvalue;
    result->start = moved->start = e->start;
    result->end = moved->end = end;
    return result;
}

// ---- members

bool record_is_usable(Compiler *c, const Type *type, Position at, uint32_t length)
{
    while (type->kind == TYPE_ARRAY)
        type = type->target;
    if (type->kind != TYPE_RECORD || !type->record->unsupported)
        return true;
    Record *record = type->record;
    if (!record->is_reported && !c->silent) {
        source_error(c, at, length, strstr(record->unsupported, "bit-fields") ? "use shifts and masks of an unsigned" : "pass a structure of numbers and pointers to kernels",
                     "a kernel cannot use '%s': %s", record_readable(c, record), record->unsupported);
        source_note(c, record->position, 0, "'%s' is declared here", record_readable(c, record));
        record->is_reported = true;
    }
    c->silent_errors++;
    return false;
}

Expression *build_field(Compiler *c, Expression *object, Field *field, Position end)
{
    if (!parse_is_lenient(c) && !record_is_usable(c, object->type, object->start, end - object->start))
        return expression_unknown(c, object->start, end);
    if (!object->is_lvalue && (object->kind == EXPRESSION_BUILTIN)) {
        Expression *e = expression_new(c, EXPRESSION_BUILTIN, type_bare(field->type), object->start, end);
        e->text = compile_format(c, "%s.%s", object->text, field->name->text);
        return e;
    }
    if (type_is_unknown(field->type))
        return expression_unknown(c, object->start, end);
    uint8_t qualifiers = object->type->qualifiers & (TYPE_CONST | TYPE_VOLATILE);
    if (field->is_mutable)
        qualifiers &= (uint8_t)~TYPE_CONST;
    Expression *e = expression_unary(c, EXPRESSION_MEMBER, type_qualified(c, type_without_reference(field->type), qualifiers),
                                     expression_lvalue(c, object));
    if (type_is_any_reference(field->type))
        e->type = field->type->target;
    e->field = field;
    e->is_lvalue = true;
    e->is_xvalue = (!object->is_lvalue || object->is_xvalue) && !type_is_any_reference(field->type);
    e->end = end;
    return e;
}

// The subobject, reached through base classes and anonymous members, that declares a member.
static Expression *object_as(Compiler *c, Expression *object, Record *record, int depth)
{
    Record *own = object->type->kind == TYPE_RECORD ? object->type->record : NULL;
    uint64_t offset;
    if (!own || own == record || depth > MAX_NESTING)
        return object;
    if (record_derives(own, record, &offset)) {
        Expression *base = expression_unary(c, EXPRESSION_BASE, type_qualified(c, record->type, object->type->qualifiers & 3),
                                            expression_lvalue(c, object));
        base->is_lvalue = true;
        base->is_xvalue = object->is_xvalue || !object->is_lvalue;
        base->offset = offset;
        return base;
    }
    for (uint32_t k = 0; k < own->field_count; k++) {
        Field *field = &own->fields[k];
        if ((field->is_anonymous || field->is_base) && field->type->kind == TYPE_RECORD) {
            Expression *inner = object_as(c, build_field(c, object, field, object->end), record, depth + 1);
            if (inner->type->kind == TYPE_RECORD && inner->type->record == record)
                return inner;
        }
    }
    return object;
}

static const char *fields_text(Compiler *c, const Record *r)
{
    const char *text = NULL;
    for (uint32_t k = 0; k < r->field_count && k < 8; k++)
        if (r->fields[k].name)
            text = text ? compile_format(c, "%s, %s", text, r->fields[k].name->text) : r->fields[k].name->text;
    return text && r->field_count <= 8 ? compile_format(c, "there are: %s", text) : NULL;
}

static void report_no_member(Compiler *c, const Expression *object, const ParsedName *name, bool arrow)
{
    const char *type = type_text(c, type_bare(object->type));
    const uint32_t length = name->end - name->start;
    if (object->type->kind == TYPE_POINTER && !arrow) {
        source_error(c, name->start, length, compile_format(c, "write -> instead of ."), "'%s' is a member of what the pointer points to", name->name->text);
        return;
    }
    if (object->type->kind != TYPE_RECORD) {
        const Name *object_name = expression_name(object);
        source_error(c, name->start, length, NULL, "'%s' is '%s', which has no members", object_name ? object_name->text : "this", type);
        return;
    }
    const char *suggestion = name->name->length == 1 && !object->type->record->position
                           ? NULL : scope_member_suggestion(c, object->type->record->scope, name->name);
    const char *help = suggestion ? compile_format(c, "did you mean '%s'?", suggestion) : fields_text(c, object->type->record);
    source_error(c, name->start, length, help, "'%s' has no member '%s'",
                 object->kind == EXPRESSION_BUILTIN && expression_name(object) ? expression_name(object)->text : type, name->name->text);
}

static Expression *member_functions(Compiler *c, Expression *object, Symbol *symbol, const ParsedName *name)
{
    Expression *e = expression_new(c, EXPRESSION_FUNCTION, type_basic(c, TYPE_UNKNOWN), object->start, name->end);
    e->symbol = symbol;
    e->left = object;
    e->template_arguments = name->arguments;
    e->template_argument_count = name->argument_count;
    return e;
}

Expression *build_member(Compiler *c, Expression *object, const ParsedName *name, bool arrow, Position at)
{
    if (arrow && object->type->kind == TYPE_RECORD) {
        Expression *called = build_operator_call(c, "operator->", object, NULL, object->start, at);
        if (!called) {
            source_error(c, at, 2, "write . instead of ->", "'->' needs a pointer, and this is '%s'", type_text(c, type_bare(object->type)));
            arrow = false;
        } else {
            object = called;
        }
    }
    if (arrow)
        object = expression_value(c, object);
    if (expression_is_unknown(object) || !name->name)
        return expression_unknown(c, object->start, name->end);
    if (arrow && object->type->kind != TYPE_POINTER) {
        source_error(c, at, 2, NULL, "'->' needs a pointer, and this is '%s'", type_text(c, object->type));
        return expression_unknown(c, object->start, name->end);
    }
    if (arrow)
        object = build_dereference(c, object, object->start);
    if (expression_is_unknown(object))
        return object;
    if (name->is_destructor) {
        Expression *destructor = expression_new(c, EXPRESSION_CONVERT, type_basic(c, TYPE_VOID), object->start, name->end);
        destructor->left = expression_lvalue(c, object);
        destructor->kind = EXPRESSION_FUNCTION;
        destructor->type = type_basic(c, TYPE_UNKNOWN);
        return destructor;
    }
    Record *record = object->type->kind == TYPE_RECORD ? object->type->record : NULL;
    if (record && !record->is_complete) {
        source_error(c, object->start, object->end - object->start, NULL, "'%s' is declared, but not defined", type_text(c, record->type));
        return expression_unknown(c, object->start, name->end);
    }
    Scope *scope = record ? (name->scope && name->scope->kind == SCOPE_RECORD ? name->scope : record->scope) : NULL;
    Symbol *symbol = scope ? scope_find_member(c, scope, name->name) : NULL;
    if (!symbol) {
        report_no_member(c, object, name, arrow);
        return expression_unknown(c, object->start, name->end);
    }
    switch (symbol->kind) {
    case SYMBOL_FIELD: return build_field(c, object_as(c, object, symbol->field->record, 0), symbol->field, name->end);
    case SYMBOL_VARIABLE: return expression_variable(c, symbol->variable, object->start, name->end);
    case SYMBOL_CONSTANT: return expression_of_constant(c, symbol->type, &symbol->constant, object->start, name->end);
    case SYMBOL_FUNCTION: return member_functions(c, object_as(c, object, symbol->scope->record ? symbol->scope->record : record, 0), symbol, name);
    case SYMBOL_TEMPLATE:
        if (symbol->template->kind == TEMPLATE_FUNCTION)
            return member_functions(c, object_as(c, object, symbol->scope->record ? symbol->scope->record : record, 0), symbol, name);
        break;
    default: break;
    }
    source_error(c, name->start, name->end - name->start, NULL, "'%s' is a type, not a member of an object", name->name->text);
    return expression_unknown(c, object->start, name->end);
}

// ---- this

Expression *build_self(Compiler *c, Position start, Position end)
{
    const ParserState *state = &c->parser->state;
    Function *function = state->function;
    if (state->lambda) { // the enclosing function's `this`, captured
        Lambda *outermost = state->lambda;
        while (outermost->outer)
            outermost = outermost->outer;
        function = outermost->function;
        if (!function || !function->self)
            return NULL;
        Expression *captured = lambda_captured(c, function->self, start, end);
        return captured ? build_dereference(c, captured, start) : NULL;
    }
    if (!function || !function->self) {
        Record *record = state->unevaluated ? scope_record(state->scope) : NULL;
        if (!record)
            return NULL;
        Variable *object = variable_new(c, NULL, record->type, start); // in decltype or sizeof
        return expression_variable(c, object, start, end);
    }
    Expression *pointer = expression_variable(c, function->self, start, end);
    return expression_is_unknown(pointer) ? pointer : build_dereference(c, pointer, start);
}

Expression *build_this(Compiler *c, Position start, Position end)
{
    Expression *self = build_self(c, start, end);
    if (!self) {
        source_error(c, start, end - start, NULL, "'this' is only allowed in a member function");
        return expression_unknown(c, start, end);
    }
    return build_address(c, self, start);
}
