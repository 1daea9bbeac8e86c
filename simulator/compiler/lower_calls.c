// lower_calls.c: calls of device functions and constructors.
#include "compiler/lower.h"

static IrInstruction *lower_argument(Lowering *l, Type *type, Expression *e)
{
    if (type_is_any_reference(type))
        return lower_generic(l, lower_lvalue(l, e).pointer);
    if (type->kind != TYPE_RECORD)
        return lower_value(l, e);
    const Address copy = {lower_alloca(l, type->size, type->alignment), false, 0};
    lower_passed(l, copy, type, e);
    return lower_generic(l, copy.pointer);
}

// A kernel may call a constexpr host function only if the result is constant.
static IrInstruction *lower_constant_call(Lowering *l, Expression *e)
{
    Constant value;
    Compiler *c = l->compiler;
    c->silent++;
    const bool known = type_is_arithmetic(e->type) && constant_evaluate(c, e, &value);
    c->silent--;
    if (!known) {
        lower_error(l, e->start, e->end, compile_format(c, "write __host__ __device__ before the function '%s'", e->function->name->text),
                    "'%s' is a host function, which a kernel cannot call", e->function->name->text);
        return ir_undefined(l->module, l->function, lower_type(e->type));
    }
    return lower_value(l, expression_of_constant(c, e->type, &value, e->start, e->end));
}

static IrInstruction *emit_call(Lowering *l, Expression *e, Function *f, IrInstruction *first, IrInstruction *self)
{
    const uint32_t extra = (first != NULL) + (self != NULL);
    const bool member = f->record && !f->is_static && !f->is_constructor;
    IrInstruction **operands = compile_allocate(l->compiler, (e->argument_count + extra + 1) * sizeof *operands);
    uint32_t count = 0;
    if (first)
        operands[count++] = first;
    if (self)
        operands[count++] = self;
    for (uint32_t k = 0; k < e->argument_count; k++) {
        if (member && k == 0)
            operands[count++] = lower_value(l, e->arguments[0]);
        else if (k - member < f->type->parameter_count)
            operands[count++] = lower_argument(l, f->type->parameters[k - member], e->arguments[k]);
    }
    lower_set_line(l, e->start);
    Type *result = f->type->target;
    const IrType type = type_is_any_reference(result) ? IR_B64 : result->kind == TYPE_RECORD ? IR_VOID : lower_type(result);
    IrFunction *callee = lower_function_for(l, f);
    if (!callee)
        return type == IR_VOID ? NULL : ir_undefined(l->module, l->function, type);
    IrInstruction *call = lower_emit(l, IR_CALL, type, count, operands);
    call->callee = callee;
    if (f->is_noreturn) {
        ir_unreachable(l->module, l->block);
        l->block = lower_block(l);
    }
    return call;
}

IrInstruction *lower_call(Lowering *l, Expression *e, const Address *result)
{
    Function *f = e->function;
    if (!f) {
        lower_error(l, e->start, e->end, "call the function itself, or pass a functor or a lambda as a template's argument",
                    "a call through a pointer to a function is not supported");
        return ir_undefined(l->module, l->function, e->type->kind == TYPE_VOID || e->type->kind == TYPE_RECORD ? IR_B32 : e->is_lvalue ? IR_B64 : lower_type(e->type));
    }
    if (e->is_launch) {
        lower_error(l, e->start, e->end, "launch it from the host", "a kernel that launches kernels is not supported");
        return NULL;
    }
    if (f->intrinsic)
        return lower_intrinsic(l, e);
    if (!f->is_device && !f->is_lambda && f->is_constexpr)
        return lower_constant_call(l, e);
    const bool record = f->type->target->kind == TYPE_RECORD;
    Address own = {NULL, false, 0};
    if (record && !result) {
        own.pointer = lower_alloca(l, f->type->target->size, f->type->target->alignment);
        result = &own;
    }
    IrInstruction *call = emit_call(l, e, f, record ? lower_generic(l, result->pointer) : NULL, NULL);
    return record ? NULL : call;
}

void lower_construct(Lowering *l, Expression *e, Address address)
{
    Function *f = e->function;
    Type *type = type_bare(e->type);
    if (!f) {
        lower_zero(l, address, type);
        return;
    }
    if (f->is_defaulted && !f->body) {
        if (e->argument_count == 1) // a copy
            lower_copy(l, address, lower_lvalue(l, e->arguments[0]), type);
        else if (e->zeroed)
            lower_zero(l, address, type);
        return;
    }
    emit_call(l, e, f, NULL, lower_generic(l, address.pointer));
}
