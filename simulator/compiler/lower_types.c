// lower_types.c: IR types, sizes and alignments of types.
#include "compiler/lower.h"

IrType lower_type(const Type *type)
{
    if (type->kind == TYPE_ENUM)
        type = type->target;
    switch (type->kind) {
    case TYPE_VOID: return IR_VOID;
    case TYPE_BOOL: return IR_PRED;
    case TYPE_FLOAT: return IR_F32;
    case TYPE_DOUBLE: return IR_F64;
    case TYPE_CHAR: case TYPE_SIGNED_CHAR: case TYPE_UNSIGNED_CHAR: return IR_B8;
    case TYPE_SHORT: case TYPE_UNSIGNED_SHORT: return IR_B16;
    case TYPE_INT: case TYPE_UNSIGNED: return IR_B32;
    default: return IR_B64;
    }
}

uint64_t lower_size(const Type *type)
{
    return type_is_any_reference(type) ? 8 : type->size;
}

uint32_t lower_alignment(const Type *type)
{
    return type_is_any_reference(type) ? 8 : type->alignment ? type->alignment : 1;
}
