// lower_intrinsics.c: lowers intrinsics to IR_INTRINSIC, to other operations, or by special code.
#include "compiler/intrinsics.h"
#include "compiler/lower.h"

#include <math.h>
#include <string.h>

// Lowers a call to the row's PTX. The first pointer is an address operand in its known address space.
static IrInstruction *lower_row(Lowering *l, Expression *e)
{
    const Intrinsic *row = e->function->intrinsic;
    IrInstruction *operands[16];
    uint32_t count = 0, space = IR_GENERIC;
    const bool address = strchr(row->ptx, '@') != NULL;
    for (uint32_t k = 0; k < e->argument_count && k < 16; k++) {
        if (address && k == 0) {
            operands[count] = lower_pointer(l, e->arguments[k]);
            if (operands[count]->op == IR_SYMBOL || operands[count]->op == IR_OFFSET)
                space = operands[count]->space;
            else
                operands[count] = lower_generic(l, operands[count]);
            count++;
        } else {
            operands[count++] = lower_value(l, e->arguments[k]);
        }
    }
    if (row->since > l->compiler->options->architecture)
        lower_error(l, e->start, e->end, NULL, "'%s' needs sm_%u", row->name, row->since);
    lower_set_line(l, e->start);
    IrInstruction *i = lower_emit(l, IR_INTRINSIC, lower_type(e->type), count, operands);
    i->intrinsic = row;
    i->space = (uint8_t)space;
    return i;
}

// ---- other operations

static IrInstruction *operation(Lowering *l, Expression *e, IrOp op, uint16_t flags)
{
    IrInstruction *operands[3];
    for (uint32_t k = 0; k < e->argument_count && k < 3; k++)
        operands[k] = lower_value(l, e->arguments[k]);
    IrInstruction *i = lower_emit(l, op, lower_type(e->type), e->argument_count, operands);
    i->flags |= flags | (type_is_signed(e->type) ? IR_SIGNED : 0);
    return i;
}

typedef struct Operation {
    const char *name;
    uint8_t op;
    uint16_t flags;
} Operation;

static const Operation OPERATIONS[] = {
    {"__mulhi", IR_MUL_HIGH, 0}, {"__umulhi", IR_MUL_HIGH, 0}, {"__mul64hi", IR_MUL_HIGH, 0}, {"__umul64hi", IR_MUL_HIGH, 0},
    {"__i_min_of", IR_MIN, 0}, {"__i_max_of", IR_MAX, 0}, {"__i_abs", IR_ABS, 0},
    {"__float_as_int", IR_BITCAST, 0}, {"__int_as_float", IR_BITCAST, 0}, {"__float_as_uint", IR_BITCAST, 0}, {"__uint_as_float", IR_BITCAST, 0},
    {"__double_as_longlong", IR_BITCAST, 0}, {"__longlong_as_double", IR_BITCAST, 0},
    {"fabsf", IR_ABS, 0}, {"fminf", IR_MIN, 0}, {"fmaxf", IR_MAX, 0}, {"fmaf", IR_FMA, IR_EXACT}, {"__fmaf_rn", IR_FMA, IR_EXACT},
    {"fabs", IR_ABS, 0}, {"fmin", IR_MIN, 0}, {"fmax", IR_MAX, 0}, {"fma", IR_FMA, IR_EXACT}, {"__fma_rn", IR_FMA, IR_EXACT},
    {"__fadd_rn", IR_ADD, IR_EXACT}, {"__fsub_rn", IR_SUB, IR_EXACT}, {"__fmul_rn", IR_MUL, IR_EXACT}, {"__fdiv_rn", IR_DIV, IR_EXACT},
    {"__dadd_rn", IR_ADD, IR_EXACT}, {"__dsub_rn", IR_SUB, IR_EXACT}, {"__dmul_rn", IR_MUL, IR_EXACT}, {"__ddiv_rn", IR_DIV, IR_EXACT},
};

// ---- addresses

static IrInstruction *to_space(Lowering *l, Expression *e, IrSpace space)
{
    IrInstruction *pointer = lower_value(l, e->arguments[0]);
    IrInstruction *specific = lower_emit1(l, IR_FROM_GENERIC, space == IR_SHARED ? IR_B32 : IR_B64, pointer);
    specific->space = (uint8_t)space;
    return space == IR_SHARED ? lower_emit1(l, IR_CONVERT, IR_B64, specific) : specific;
}

static IrInstruction *from_shared(Lowering *l, Expression *e)
{
    IrInstruction *address = lower_emit1(l, IR_CONVERT, IR_B32, lower_value(l, e->arguments[0]));
    IrInstruction *generic = lower_emit1(l, IR_TO_GENERIC, IR_B64, address);
    generic->space = IR_SHARED;
    return generic;
}

// __i_special("%laneid")
static IrInstruction *special(Lowering *l, Expression *e)
{
    const Expression *text = e->arguments[0];
    while (text->left && text->kind != EXPRESSION_STRING)
        text = text->left;
    if (text->kind != EXPRESSION_STRING)
        return lower_integer(l, IR_B32, 0);
    IrInstruction *value = lower_emit(l, IR_SPECIAL, IR_B32, 0, NULL);
    value->special = text->text;
    return value;
}

// ---- memcpy and memset

static uint32_t pointee_alignment(const Expression *e)
{
    while (e->kind == EXPRESSION_BITCAST && e->left->type->kind == TYPE_POINTER)
        e = e->left;
    const Type *target = e->type->kind == TYPE_POINTER ? e->type->target : NULL;
    return target && target->alignment ? target->alignment : 1;
}

static bool constant_size(Lowering *l, Expression *e, Expression *size, uint64_t *bytes)
{
    const IrInstruction *value = lower_value(l, size);
    if (value->op == IR_INTEGER && (uint64_t)value->integer <= 1 << 16) {
        *bytes = (uint64_t)value->integer;
        return true;
    }
    lower_error(l, e->start, e->end, "write a loop", "'%s' of a size that is not known when the program is compiled is not supported",
                e->function->name->text);
    return false;
}

static IrInstruction *copy_bytes(Lowering *l, Expression *e)
{
    IrInstruction *to = lower_pointer(l, e->arguments[0]), *from = lower_pointer(l, e->arguments[1]);
    uint64_t bytes;
    if (constant_size(l, e, e->arguments[2], &bytes) && bytes) {
        const uint32_t a = pointee_alignment(e->arguments[0]), b = pointee_alignment(e->arguments[1]);
        lower_set_line(l, e->start);
        IrInstruction *copy = lower_emit2(l, IR_COPY, IR_VOID, to, from);
        copy->memory_bytes = (uint32_t)bytes;
        copy->alignment = a < b ? a : b;
    }
    return lower_generic(l, to);
}

static IrInstruction *set_bytes(Lowering *l, Expression *e)
{
    IrInstruction *to = lower_pointer(l, e->arguments[0]), *value = lower_value(l, e->arguments[1]);
    uint64_t bytes;
    if (!constant_size(l, e, e->arguments[2], &bytes))
        return lower_generic(l, to);
    if (value->op != IR_INTEGER) {
        lower_error(l, e->start, e->end, "write a loop", "'memset' to a value that is not known when the program is compiled is not supported");
        return lower_generic(l, to);
    }
    const uint32_t alignment = pointee_alignment(e->arguments[0]);
    static const IrType types[] = {IR_B64, IR_B32, IR_B16, IR_B8};
    const uint64_t pattern = (uint64_t)(uint8_t)value->integer * 0x0101010101010101u;
    lower_set_line(l, e->start);
    uint64_t at = 0;
    for (int k = 0; k < 4; k++)
        for (const uint64_t size = 8u >> k; size <= alignment && at + size <= bytes; at += size) {
            const int64_t part = size == 8 ? (int64_t)pattern : (int64_t)(pattern & (((uint64_t)1 << 8 * size) - 1));
            IrInstruction *store = lower_emit2(l, IR_STORE, IR_VOID, lower_offset(l, to, (int64_t)at), lower_integer(l, types[k], part));
            store->memory = (uint8_t)types[k];
            store->space = to->op == IR_SYMBOL || to->op == IR_OFFSET || to->op == IR_ALLOCA ? to->space : IR_GENERIC;
        }
    return lower_generic(l, to);
}

// ---- printf and assert

static IrInstruction *call_row(Lowering *l, const char *name, IrType type, uint32_t count, IrInstruction **operands)
{
    IrInstruction *i = lower_emit(l, IR_INTRINSIC, type, count, operands);
    i->intrinsic = intrinsic_named(name, strlen(name));
    return i;
}

static IrInstruction *print(Lowering *l, Expression *e)
{
    IrInstruction *values[64], *format = lower_value(l, e->arguments[0]);
    uint64_t bytes = 0;
    const uint32_t count = e->argument_count < 33 ? e->argument_count : 33;
    if (e->argument_count > 33)
        lower_error(l, e->start, e->end, NULL, "printf with more than 32 values is not supported");
    for (uint32_t k = 1; k < count; k++) {
        values[k] = lower_value(l, e->arguments[k]);
        if (!values[k])
            return lower_integer(l, IR_B32, 0);
        const uint64_t size = values[k]->type == IR_B64 || values[k]->type == IR_F64 ? 8 : 4;
        bytes = sim_align_up(bytes, size) + size;
    }
    IrInstruction *buffer = bytes ? lower_alloca(l, bytes, 8) : NULL;
    bytes = 0;
    for (uint32_t k = 1; k < count; k++) {
        const uint64_t size = values[k]->type == IR_B64 || values[k]->type == IR_F64 ? 8 : 4;
        bytes = sim_align_up(bytes, size);
        IrInstruction *store = lower_emit2(l, IR_STORE, IR_VOID, lower_offset(l, buffer, (int64_t)bytes), values[k]);
        store->memory = values[k]->type;
        store->space = IR_LOCAL;
        bytes += size;
    }
    IrInstruction *operands[] = {format, buffer ? lower_generic(l, buffer) : lower_integer(l, IR_B64, 0)};
    lower_set_line(l, e->start);
    return call_row(l, "__i_vprintf", IR_B32, 2, operands);
}

static IrInstruction *assertion(Lowering *l, Expression *e)
{
    IrInstruction *operands[5];
    for (uint32_t k = 0; k < 4; k++)
        operands[k] = lower_value(l, e->arguments[k]);
    operands[4] = lower_integer(l, IR_B64, 1); // bytes of a character
    lower_set_line(l, e->start);
    call_row(l, "__i_assertfail", IR_VOID, 5, operands);
    return NULL;
}

IrInstruction *lower_intrinsic(Lowering *l, Expression *e)
{
    const Intrinsic *row = e->function->intrinsic;
    const char *name = row->name;
    if (row->ptx)
        return lower_row(l, e);
    for (size_t k = 0; k < sizeof OPERATIONS / sizeof *OPERATIONS; k++)
        if (!strcmp(OPERATIONS[k].name, name))
            return operation(l, e, OPERATIONS[k].op, OPERATIONS[k].flags);
    if (!strcmp(name, "__cvta_generic_to_shared"))
        return to_space(l, e, IR_SHARED);
    if (!strcmp(name, "__cvta_generic_to_global"))
        return to_space(l, e, IR_GLOBAL);
    if (!strcmp(name, "__cvta_shared_to_generic"))
        return from_shared(l, e);
    if (!strcmp(name, "__i_special"))
        return special(l, e);
    if (!strcmp(name, "memcpy"))
        return copy_bytes(l, e);
    if (!strcmp(name, "memset"))
        return set_bytes(l, e);
    if (!strcmp(name, "printf"))
        return print(l, e);
    if (!strcmp(name, "__assertion"))
        return assertion(l, e);
    if (!strcmp(name, "__builtin_huge_valf") || !strcmp(name, "__builtin_huge_val"))
        return ir_real(l->module, l->function, lower_type(e->type), INFINITY);
    if (!strcmp(name, "__builtin_nanf"))
        return ir_real(l->module, l->function, IR_F32, NAN);
    if (row->effects & INTRINSIC_NO_RETURN) {
        ir_unreachable(l->module, l->block);
        l->block = lower_block(l);
        return NULL;
    }
    lower_error(l, e->start, e->end, NULL, "'%s' is not supported", name);
    return ir_undefined(l->module, l->function, e->type->kind == TYPE_VOID ? IR_B32 : lower_type(e->type));
}
