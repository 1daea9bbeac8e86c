// calls.c: semantics of calls of functions, operators and constructors.
#include "compiler/build.h"

#include <string.h>

#include "compiler/host.h"
#include "compiler/intrinsics.h"

// ---- the arguments of one function

static Expression *default_argument(Compiler *c, Function *f, uint32_t index)
{
    Parser *p = c->parser;
    const ParserState saved = parse_save(c);
    parse_enter(c);
    p->state = (ParserState){.at = f->defaults[index], .scope = f->scope, .function = saved.function, .in_check = saved.in_check};
    p->state.no_greater = true; // a > may end the template argument list
    Expression *e = parse_at(c, '{') ? parse_braced(c) : parse_assignment(c);
    parse_leave(c);
    parse_restore(c, &saved);
    return e;
}

static Expression *promoted_argument(Compiler *c, Expression *e) // default argument promotion, for `...`
{
    e = expression_value(c, e);
    if (expression_is_unknown(e) || e->type->kind == TYPE_RECORD)
        return e;
    if (e->type->kind == TYPE_FLOAT)
        return convert_scalar(c, e, type_basic(c, TYPE_DOUBLE));
    return convert_scalar(c, e, type_promoted(c, e->type));
}

static bool is_device_code(const Compiler *c)
{
    const ParserState *state = &c->parser->state;
    return state->function && !state->function->is_lenient && !state->unevaluated &&
           (state->function->is_kernel || state->function->is_device);
}

static bool check_callable(Compiler *c, Function *f, bool is_launch, Position start, Position end)
{
    const char *name = f->name ? f->name->text : "this";
    if (f->is_deleted) {
        source_error(c, start, end - start, NULL, "'%s' is deleted", name);
        return false;
    }
    if (f->is_kernel && !is_launch) {
        const char *help = is_device_code(c) ? "launch it from the host: %s<<<blocks, threads>>>(...); a kernel calls __device__ functions"
                                             : "launch it: %s<<<blocks, threads>>>(...)";
        source_host_error(c, start, end - start, compile_format(c, help, name), "'%s' is a kernel, which is launched, not called", name);
        return false;
    }
    if (is_launch && !f->is_kernel) {
        source_host_error(c, start, end - start, compile_format(c, "write __global__ before 'void %s'", name), "'%s' is no kernel", name);
        return false;
    }
    if (is_launch && is_device_code(c)) {
        source_error(c, start, end - start, "launch it from the host", "a kernel that launches kernels is not supported");
        return false;
    }
    if (is_device_code(c) && !f->is_device && !f->is_constexpr && !f->intrinsic && !is_launch) {
        const bool own = source_file_at(c, f->position) && !source_file_at(c, f->position)->built_in;
        source_error(c, start, end - start, own ? compile_format(c, "write __device__ before the function '%s'", name) : NULL,
                     "'%s' is a host function, which a kernel cannot call", name);
        source_note(c, f->position, f->name ? f->name->length : 0, "'%s' is declared here", name);
        return false;
    }
    return true;
}

static Expression *result_of(Compiler *c, Function *f, Expression *call)
{
    Type *result = f->type->target;
    if (result->kind == TYPE_AUTO || f->has_deduced_result) {
        parse_delayed_body(c, f);
        result = f->type->target;
    }
    if (type_is_unknown(result) || result->kind == TYPE_AUTO)
        return expression_unknown(c, call->start, call->end);
    call->type = type_without_reference(result);
    if (!type_is_any_reference(result) && call->type->kind != TYPE_RECORD)
        call->type = type_bare(call->type);
    call->is_lvalue = type_is_any_reference(result);
    call->is_xvalue = result->kind == TYPE_RVALUE_REFERENCE;
    return call;
}

Expression *build_call_of(Compiler *c, Function *f, Expression *object, Expression **arguments, uint32_t count, Position start, Position end)
{
    if (!f || !check_callable(c, f, false, start, end))
        return expression_unknown(c, start, end);
    const bool member = f->record && !f->is_static && !f->is_constructor;
    const uint32_t all = (count > f->parameter_count ? count : f->parameter_count) + member;
    Expression *call = expression_new(c, f->is_constructor ? EXPRESSION_CONSTRUCT : EXPRESSION_CALL, type_basic(c, TYPE_UNKNOWN), start, end);
    call->function = f;
    call->arguments = compile_allocate(c, all * sizeof *call->arguments);
    bool unknown = false;
    if (member) {
        Expression *address = expression_unary(c, EXPRESSION_ADDRESS, type_pointer(c, object->type), expression_lvalue(c, object));
        call->arguments[call->argument_count++] = address;
        unknown |= expression_is_unknown(object);
    }
    for (uint32_t k = 0; k < count || k < f->parameter_count; k++) {
        Expression *e = k < count ? arguments[k] : default_argument(c, f, k);
        if (k >= count)
            e->start = start, e->end = end;
        e = k < f->parameter_count
                ? convert(c, e, f->type->parameters[k], compile_format(c, "argument %u of '%s'", k + 1, f->name ? f->name->text : "the function"))
                : promoted_argument(c, e);
        unknown |= expression_is_unknown(e) && e->kind != EXPRESSION_FUNCTION;
        call->arguments[call->argument_count++] = e;
    }
    if (!c->parser->state.unevaluated) {
        parse_mark_needed(c, f);
        host_mark_called(c, f);
    }
    unknown &= !parse_is_lenient(c);
    if (f->is_constructor) {
        call->type = f->record->type;
        return unknown ? expression_unknown(c, start, end) : call;
    }
    Expression *result = result_of(c, f, call); // parses a delayed body and finds its errors
    return unknown ? expression_unknown(c, start, end) : result;
}

// ---- call expressions

static Function *choose(Compiler *c, Candidates *list, Expression *object, Expression **arguments, uint32_t count, const char *what,
                        Position start, Position end)
{
    bool ambiguous;
    Function *f = overload_best(c, list, object, arguments, count, true, &ambiguous);
    if (!f)
        overload_report(c, list, what, arguments, count, ambiguous, start, end);
    return f;
}

static bool has_member(const Candidates *list)
{
    for (uint32_t k = 0; k < list->count; k++)
        if (list->functions[k]->record && !list->functions[k]->is_static)
            return true;
    return false;
}

static Expression *launch_of(Compiler *c, Expression *callee, Function *f, Expression **arguments, uint32_t count, Position end)
{
    if (!check_callable(c, f, true, callee->start, end))
        return expression_unknown(c, callee->start, end);
    parse_mark_needed(c, f);
    Expression *e = expression_new(c, EXPRESSION_CALL, type_basic(c, TYPE_VOID), callee->start, end);
    e->function = f;
    e->is_launch = true;
    e->arguments = compile_allocate(c, (f->parameter_count + 1) * sizeof *e->arguments);
    for (uint32_t k = 0; k < f->parameter_count && k < count; k++)
        e->arguments[e->argument_count++] = convert(c, arguments[k], f->type->parameters[k], "a kernel's argument");
    e->left = callee->condition;
    return host_is_parsed(c) ? host_configure_launch(c, e) : e;
}

// Checks the number of a launch's arguments; in host code their types may be unknown.
static bool check_launch_arguments(Compiler *c, const Candidates *list, uint32_t count, Position start, Position end)
{
    const Function *f = list->count == 1 ? list->functions[0] : NULL;
    if (!f || !f->is_kernel || f->template || c->parser->has_packs || (count >= f->required && count <= f->parameter_count))
        return true;
    source_host_error(c, start, end - start, NULL, "'%s' needs %u argument%s, and this launch has %u", f->name->text, f->parameter_count,
                      f->parameter_count == 1 ? "" : "s", count);
    const int silent = c->silent;
    c->silent = 0;
    source_note(c, f->position, f->name->length, "'%s' is declared here", function_readable(c, f));
    c->silent = silent;
    return false;
}

static bool has_launch(Compiler *c, const Function *f)
{
    const Token *tokens = c->parser->list.tokens;
    for (uint32_t k = f->body_token; f->body_token && tokens[k].kind != TOKEN_END && tokens[k].position < f->body_end; k++)
        if (token_is(&tokens[k], ID_LAUNCH))
            return true;
    return false;
}

// Rejects a launch in host code, and a call of what launches kernels, if the type of an argument, which decides the instance of a template, is
// not known: kernels would be missing.
static void report_unknown_instance(Compiler *c, const Expression *callee, const Candidates *list, Expression **arguments, uint32_t count)
{
    uint32_t k = 0;
    while (k < count && (!expression_is_unknown(arguments[k]) || arguments[k]->kind == EXPRESSION_FUNCTION))
        k++;
    const Template *template = list->failed;
    while (template && template->redeclared_by)
        template = template->redeclared_by;
    if (k == count || !template || !template->pattern || c->parser->state.in_check || !(callee->is_launch || has_launch(c, template->pattern)))
        return;
    const char *name = template->name->text;
    source_host_error(c, arguments[k]->start, expression_length(arguments[k]),
                      compile_format(c, "give the template's arguments: %s<...>%s(...)", name, callee->is_launch ? "<<<blocks, threads>>>" : ""),
                      "the type of this argument, which decides the instance of '%s', is not known to this compiler", name);
}

// Rejects a function that is declared only after its use: kernels are parsed last, and would find it.
static bool check_declared_before(Compiler *c, const Expression *callee, const Function *f, Expression **arguments, uint32_t count)
{
    const SourceFile *file = source_file_at(c, callee->start);
    if (!callee->symbol || callee->left || c->instantiation || c->parser->state.in_check || !file || file->built_in || f->record)
        return true;
    for (uint32_t k = 0; k < count; k++) // argument-dependent lookup in a template also finds later declarations
        if (arguments[k]->type->kind == TYPE_RECORD || arguments[k]->type->kind == TYPE_ENUM)
            return true;
    for (const Symbol *symbol = callee->symbol; symbol; symbol = symbol->next_overload)
        if (symbol->position <= callee->start || source_file_at(c, symbol->position) != file)
            return true;
    const char *help = f->template ? "move it to before this function"
                                   : compile_format(c, "move it to before this function, or declare it there: __device__ %s %s;",
                                                    type_text(c, f->type->target), function_readable(c, f));
    source_error(c, callee->start, callee->end - callee->start, help, "'%s' is not declared yet", f->name->text);
    source_note(c, callee->symbol->position, f->name->length, "'%s' is declared here", f->name->text);
    return false;
}

static Expression *call_named(Compiler *c, Expression *callee, Expression **arguments, uint32_t count, Position end)
{
    Candidates list = {0};
    const char *what = callee->name ? callee->name->text : callee->symbol ? callee->symbol->name->text : "the function";
    overload_add(c, &list, callee->symbol, callee->template_arguments, callee->template_argument_count, arguments, count, callee->start);
    if (callee->is_unqualified && !callee->left && !has_member(&list))
        overload_add_associated(c, &list, callee->name ? callee->name : callee->symbol->name, arguments, count, callee->start);
    if (!callee->symbol && list.count == 0 && !list.failed) {
        ParsedName unknown = {.name = callee->name, .start = callee->start, .end = callee->end};
        parse_report_unknown(c, &unknown);
        return expression_unknown(c, callee->start, end);
    }
    Expression *object = callee->left;
    if (!object && has_member(&list)) {
        object = build_self(c, callee->start, callee->start);
        Record *record = list.functions[0]->record;
        uint64_t offset;
        if (object && object->type->kind == TYPE_RECORD && record && object->type->record != record &&
            record_derives(object->type->record, record, &offset)) {
            Expression *base = expression_unary(c, EXPRESSION_BASE, type_qualified(c, record->type, object->type->qualifiers & 3), object);
            base->is_lvalue = true;
            base->offset = offset;
            object = base;
        }
    }
    for (uint32_t k = 0; k < callee->template_argument_count && list.count == 0; k++) {
        const TemplateArgument *given = &callee->template_arguments[k];
        if (given->value.is_unknown || (given->type && type_is_unknown(given->type))) // an error has been reported, or it is dependent
            return expression_unknown(c, callee->start, end);
    }
    if (callee->is_launch && !check_launch_arguments(c, &list, count, callee->start, end))
        return expression_unknown(c, callee->start, end);
    Function *f = choose(c, &list, object, arguments, count, what, callee->start, end);
    if (!f && parse_is_lenient(c))
        report_unknown_instance(c, callee, &list, arguments, count);
    if (!f || !check_declared_before(c, callee, f, arguments, count))
        return expression_unknown(c, callee->start, end);
    if (callee->is_launch)
        return launch_of(c, callee, f, arguments, count, end);
    if (object && !(f->record && !f->is_static))
        object = NULL;
    return build_call_of(c, f, object, arguments, count, callee->start, end);
}

static Expression *call_pointer(Compiler *c, Expression *callee, Expression **arguments, uint32_t count, Position end)
{
    if (callee->is_launch) {
        expression_error(c, callee, "name the kernel", "a launch through a pointer is not supported");
        return expression_unknown(c, callee->start, end);
    }
    Expression *pointer = expression_value(c, callee);
    if (expression_is_unknown(pointer))
        return expression_unknown(c, callee->start, end);
    if (pointer->type->kind != TYPE_POINTER || pointer->type->target->kind != TYPE_FUNCTION) {
        const Name *name = expression_name(callee);
        source_error(c, callee->start, end - callee->start, NULL, "'%s' is '%s', which cannot be called", name ? name->text : "this",
                     type_text(c, callee->type));
        return expression_unknown(c, callee->start, end);
    }
    if (pointer->kind == EXPRESSION_CONSTANT && pointer->constant.function)
        return build_call_of(c, pointer->constant.function, NULL, arguments, count, callee->start, end);
    if (pointer->kind == EXPRESSION_ADDRESS && pointer->left->kind == EXPRESSION_FUNCTION)
        return build_call_of(c, pointer->left->function, NULL, arguments, count, callee->start, end);
    Type *type = pointer->type->target;
    if (count < type->parameter_count || (count > type->parameter_count && !type->variadic)) {
        source_error(c, callee->start, end - callee->start, NULL, "the function needs %u arguments, and this call has %u", type->parameter_count, count);
        return expression_unknown(c, callee->start, end);
    }
    Expression *e = expression_new(c, EXPRESSION_CALL, type_without_reference(type->target), callee->start, end);
    e->left = pointer;
    e->is_lvalue = type_is_any_reference(type->target);
    e->arguments = compile_allocate(c, count * sizeof *e->arguments);
    for (uint32_t k = 0; k < count; k++)
        e->arguments[e->argument_count++] = k < type->parameter_count ? convert(c, arguments[k], type->parameters[k], NULL)
                                                                      : promoted_argument(c, arguments[k]);
    return e;
}

Expression *build_call(Compiler *c, Expression *callee, Expression **arguments, uint32_t count, Position end)
{
    if (callee->kind == EXPRESSION_FUNCTION && (callee->symbol || callee->name))
        return call_named(c, callee, arguments, count, end);
    if (callee->kind == EXPRESSION_FUNCTION && callee->left) // a destructor
        return expression_unary(c, EXPRESSION_CONVERT, type_basic(c, TYPE_VOID), callee->left);
    if (expression_is_unknown(callee)) {
        for (uint32_t k = 0; k < count; k++) // the address of a kernel template instantiates the kernel
            if (arguments[k]->kind == EXPRESSION_FUNCTION)
                resolve_function(c, arguments[k], NULL);
        return expression_unknown(c, callee->start, end);
    }
    if (callee->type->kind == TYPE_RECORD) {
        Symbol *symbol = scope_find_member(c, callee->type->record->scope, name_intern(c, "operator()", 10));
        if (symbol) {
            Expression *member = expression_new(c, EXPRESSION_FUNCTION, type_basic(c, TYPE_UNKNOWN), callee->start, callee->end);
            member->symbol = symbol;
            member->left = callee;
            member->name = callee->kind == EXPRESSION_VARIABLE ? callee->variable->name : NULL;
            return call_named(c, member, arguments, count, end);
        }
    }
    return call_pointer(c, callee, arguments, count, end);
}

// ---- operators and functions of the library

Expression *build_operator_call(Compiler *c, const char *text, Expression *left, Expression *right, Position start, Position end)
{
    Expression *arguments[2] = {left, right};
    const uint32_t count = right ? 2 : 1;
    Candidates list = {.is_operator = true};
    Name *name = name_intern(c, text, strlen(text));
    if (left->type->kind == TYPE_RECORD && left->type->record->is_complete)
        overload_add(c, &list, scope_find_member(c, left->type->record->scope, name), NULL, 0, arguments, count, start);
    const char *punctuator = text + strlen("operator");
    const bool members_only = !strcmp(punctuator, "=") || !strcmp(punctuator, "[]") || !strcmp(punctuator, "->") || !strcmp(punctuator, "()");
    if (!members_only) {
        Symbol *symbol = scope_lookup(c, c->parser->state.scope, name);
        if (symbol && symbol->scope->kind != SCOPE_RECORD)
            overload_add(c, &list, symbol, NULL, 0, arguments, count, start);
        overload_add_associated(c, &list, name, arguments, count, start);
    }
    if (list.count == 0)
        return NULL;
    bool ambiguous;
    Function *f = overload_best(c, &list, left, arguments, count, true, &ambiguous);
    if (!f)
        return NULL;
    const bool member = f->record && !f->is_static;
    return build_call_of(c, f, member ? left : NULL, arguments + member, count - member, start, end);
}

Function *resolve_function(Compiler *c, Expression *e, Type *type)
{
    if (e->function && !e->template_arguments) {
        Type *target = type ? type_without_reference(type) : NULL;
        if (target && target->kind == TYPE_POINTER)
            target = target->target;
        const bool fits = !target || target == e->function->type || type_is_unknown(target) || target->kind == TYPE_AUTO ||
                          target->kind == TYPE_BOOL || target->kind == TYPE_VOID;
        if (fits && !c->parser->state.unevaluated)
            parse_mark_needed(c, e->function);
        return fits ? e->function : NULL;
    }
    Type *target = type ? type_without_reference(type) : NULL;
    if (target && target->kind == TYPE_POINTER)
        target = target->target;
    if (target && target->kind != TYPE_FUNCTION)
        target = NULL;
    for (Symbol *symbol = e->symbol; symbol; symbol = symbol->next_overload) {
        Function *f = NULL;
        if (symbol->kind == SYMBOL_FUNCTION && !e->template_arguments)
            f = !target || symbol->function->type == target ? symbol->function : NULL;
        else if (symbol->kind == SYMBOL_TEMPLATE && symbol->template->kind == TEMPLATE_FUNCTION)
            f = template_for_type(c, symbol->template, e->template_arguments, e->template_argument_count, target, e->start);
        if (f) {
            parse_mark_needed(c, f);
            return f;
        }
    }
    return NULL;
}
