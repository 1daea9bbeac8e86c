// write_instruction.c: writes each operation of the intermediate representation as PTX instructions.
#include "compiler/intrinsics.h"
#include "compiler/write.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_ADDRESS = 1024 };

const char *space_suffix(IrSpace space)
{
    static const char *const suffixes[] = {
        [IR_GENERIC] = "", [IR_GLOBAL] = ".global", [IR_SHARED] = ".shared", [IR_LOCAL] = ".local", [IR_CONSTANT] = ".const", [IR_PARAMETER] = ".param"};
    return suffixes[space];
}

const char *bits_suffix(IrType type)
{
    static const char *const suffixes[IR_TYPES] = {"", "pred", "b16", "b16", "b32", "b64", "b16", "b16", "b32", "b64"};
    return suffixes[type];
}

const char *number_suffix(IrType type, bool is_signed)
{
    static const char *const unsigned_suffixes[IR_TYPES] = {"", "pred", "u16", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};
    static const char *const signed_suffixes[IR_TYPES] = {"", "pred", "s16", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"};
    return is_signed ? signed_suffixes[type] : unsigned_suffixes[type];
}

const char *memory_suffix(IrType type, bool is_signed)
{
    static const char *const unsigned_suffixes[IR_TYPES] = {"", "u8", "u8", "u16", "u32", "u64", "b16", "b16", "f32", "f64"};
    static const char *const signed_suffixes[IR_TYPES] = {"", "s8", "s8", "s16", "s32", "s64", "b16", "b16", "f32", "f64"};
    return is_signed ? signed_suffixes[type] : unsigned_suffixes[type];
}

// ---- Operands

static Name formatted(const char *format, ...) __attribute__((format(printf, 1, 2)));
static Name formatted(const char *format, ...)
{
    Name name;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name.text, sizeof name.text, format, arguments);
    va_end(arguments);
    return name;
}

Name register_name(RegisterClass class, uint32_t number)
{
    static const char *const prefixes[] = {"%p", "%rs", "%r", "%rd", "%f", "%fd"};
    return formatted("%s%u", prefixes[class], number);
}

uint32_t scratch_register(Writer *w, RegisterClass class)
{
    return ++w->scratch[class];
}

// The encoding of a 16-bit float with the given number of fraction bits, rounded to nearest even.
static uint32_t half_bits(uint32_t fraction_bits, double value)
{
    const int bias = fraction_bits == 10 ? 15 : 127, max_exponent = 2 * bias + 1;
    const uint32_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint32_t)max_exponent << fraction_bits;
    if (isnan(value))
        return sign | infinity | 1u << (fraction_bits - 1);
    int exponent;
    frexp(value, &exponent);
    const int min_exponent = 1 - bias - (int)fraction_bits, ulp_exponent = exponent - 1 - (int)fraction_bits;
    const int scale = ulp_exponent > min_exponent ? ulp_exponent : min_exponent; // exponent of the last bit
    const double count = nearbyint(ldexp(fabs(value), -scale));
    if (isinf(value) || count == 0)
        return sign | (count == 0 ? 0 : infinity);
    const uint32_t bits = (uint32_t)count + ((uint32_t)(scale - min_exponent) << fraction_bits);
    return sign | (bits < infinity ? bits : infinity);
}

static Name real_name(IrType type, double value)
{
    if (type == IR_F16 || type == IR_BF16)
        return formatted("0x%04X", half_bits(type == IR_F16 ? 10 : 7, value));
    if (type == IR_F32) {
        const float single = (float)value;
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        return formatted("0f%08X", bits);
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return formatted("0d%016" PRIX64, bits);
}

Name operand_name(Writer *w, const IrInstruction *value)
{
    if (value->op == IR_INTEGER)
        return formatted("%" PRId64, value->integer);
    if (value->op == IR_REAL)
        return real_name(value->type, value->real);
    if (value->op == IR_UNDEFINED)
        return ir_is_float_type(value->type) ? real_name(value->type, 0) : formatted("0");
    return register_name(register_class(value->type), w->registers->number[value->id]);
}

static const char *move_suffix(IrType type)
{
    return type == IR_F32 || type == IR_F64 ? number_suffix(type, true) : bits_suffix(type);
}

Name operand_in_register(Writer *w, const IrInstruction *value)
{
    if (!ir_is_constant(value))
        return operand_name(w, value);
    const RegisterClass class = register_class(value->type);
    const Name scratch = register_name(class, scratch_register(w, class));
    if (value->type == IR_PRED)
        fprintf(w->out, "\tsetp.%s.s32 \t%s, 0, 0;\n", value->op == IR_INTEGER && value->integer ? "eq" : "ne", scratch.text);
    else
        fprintf(w->out, "\tmov.%s \t%s, %s;\n", move_suffix(value->type), scratch.text, operand_name(w, value).text);
    return scratch;
}

Name result_name(Writer *w, const IrInstruction *i)
{
    const RegisterClass class = register_class(i->type);
    uint32_t number = w->registers->number[i->id];
    if (!number)
        number = scratch_register(w, class); // the result of an operation that is executed for its effects only
    return register_name(class, number);
}

void write_address(Writer *w, char *text, size_t capacity, const IrInstruction *pointer, int64_t bytes)
{
    if (pointer->op == IR_SYMBOL && !w->registers->number[pointer->id])
        snprintf(text, capacity, "[%s", pointer->symbol->name);
    else if (pointer->op == IR_ARGUMENT && !w->registers->number[pointer->id])
        snprintf(text, capacity, "[%s_param_%u", w->function->name, pointer->index);
    else
        snprintf(text, capacity, "[%s", operand_name(w, pointer).text);
    const size_t length = strlen(text);
    if (bytes)
        snprintf(text + length, capacity - length, "%+" PRId64 "]", bytes);
    else
        snprintf(text + length, capacity - length, "]");
}

// ---- Arithmetic

// PTX has no immediates for 16-bit floats and predicates.
static Name arithmetic_operand(Writer *w, const IrInstruction *value)
{
    return value->type == IR_F16 || value->type == IR_BF16 || value->type == IR_PRED ? operand_in_register(w, value) : operand_name(w, value);
}

static void write_binary(Writer *w, const IrInstruction *i, const char *operation, const char *suffix)
{
    const Name a = arithmetic_operand(w, i->operands[0]), b = arithmetic_operand(w, i->operands[1]);
    fprintf(w->out, "\t%s.%s \t%s, %s, %s;\n", operation, suffix, result_name(w, i).text, a.text, b.text);
}

static void write_unary(Writer *w, const IrInstruction *i, const char *operation, const char *suffix)
{
    const Name a = arithmetic_operand(w, i->operands[0]);
    fprintf(w->out, "\t%s.%s \t%s, %s;\n", operation, suffix, result_name(w, i).text, a.text);
}

static const char *rounded(const IrInstruction *i, const char *plain, const char *exact)
{
    return ir_is_float_type(i->type) && (i->flags & IR_EXACT) ? exact : plain;
}

static void write_division(Writer *w, const IrInstruction *i)
{
    const char *operation = "div";
    if (ir_is_reciprocal(i)) {
        const Name a = arithmetic_operand(w, i->operands[1]);
        fprintf(w->out, "\trcp.rn.%s \t%s, %s;\n", number_suffix(i->type, true), result_name(w, i).text, a.text);
        return;
    }
    if (i->type == IR_F32 && (i->flags & IR_APPROXIMATE))
        operation = "div.approx";
    else if (i->type == IR_F32 || i->type == IR_F64)
        operation = "div.rn";
    write_binary(w, i, operation, number_suffix(i->type, i->flags & IR_SIGNED));
}

static void write_arithmetic(Writer *w, const IrInstruction *i)
{
    const bool is_float = ir_is_float_type(i->type), is_signed = i->flags & IR_SIGNED;
    const char *plain = number_suffix(i->type, true), *by_sign = number_suffix(i->type, is_signed), *bits = bits_suffix(i->type);
    switch (i->op) {
    case IR_ADD: write_binary(w, i, rounded(i, "add", "add.rn"), plain); break;
    case IR_SUB: write_binary(w, i, rounded(i, "sub", "sub.rn"), plain); break;
    case IR_MUL: write_binary(w, i, is_float ? rounded(i, "mul", "mul.rn") : "mul.lo", plain); break;
    case IR_MUL_HIGH: write_binary(w, i, "mul.hi", by_sign); break;
    case IR_MUL_WIDE: write_binary(w, i, "mul.wide", is_signed ? "s32" : "u32"); break;
    case IR_DIV: write_division(w, i); break;
    case IR_REM: write_binary(w, i, "rem", by_sign); break;
    case IR_AND: write_binary(w, i, "and", bits); break;
    case IR_OR: write_binary(w, i, "or", bits); break;
    case IR_XOR: write_binary(w, i, "xor", bits); break;
    case IR_SHL: write_binary(w, i, "shl", bits); break;
    case IR_SHR: write_binary(w, i, "shr", by_sign); break;
    case IR_MIN: write_binary(w, i, "min", by_sign); break;
    case IR_MAX: write_binary(w, i, "max", by_sign); break;
    case IR_NEG: write_unary(w, i, "neg", plain); break;
    case IR_NOT: write_unary(w, i, "not", bits); break;
    case IR_ABS: write_unary(w, i, "abs", plain); break;
    default: break;
    }
}

static void write_fma(Writer *w, const IrInstruction *i)
{
    const Name a = arithmetic_operand(w, i->operands[0]), b = arithmetic_operand(w, i->operands[1]), c = arithmetic_operand(w, i->operands[2]);
    fprintf(w->out, "\t%s.%s \t%s, %s, %s, %s;\n", ir_is_float_type(i->type) ? "fma.rn" : "mad.lo", number_suffix(i->type, true),
            result_name(w, i).text, a.text, b.text, c.text);
}

// Predicates are compared by logical operations: PTX has no setp for them.
static void write_compare_predicates(Writer *w, const IrInstruction *i)
{
    const Name a = operand_in_register(w, i->operands[0]), b = operand_in_register(w, i->operands[1]), result = result_name(w, i);
    const Name scratch = register_name(PREDICATES, scratch_register(w, PREDICATES));
    switch ((IrCompare)i->compare) {
    case IR_EQUAL:
        fprintf(w->out, "\txor.pred \t%s, %s, %s;\n\tnot.pred \t%s, %s;\n", scratch.text, a.text, b.text, result.text, scratch.text);
        break;
    case IR_NOT_EQUAL:
        fprintf(w->out, "\txor.pred \t%s, %s, %s;\n", result.text, a.text, b.text);
        break;
    case IR_LESS: // predicates are ordered as unsigned 0 and 1
        fprintf(w->out, "\tnot.pred \t%s, %s;\n\tand.pred \t%s, %s, %s;\n", scratch.text, a.text, result.text, scratch.text, b.text);
        break;
    case IR_LESS_EQUAL:
        fprintf(w->out, "\tnot.pred \t%s, %s;\n\tor.pred \t%s, %s, %s;\n", scratch.text, a.text, result.text, scratch.text, b.text);
        break;
    case IR_GREATER:
        fprintf(w->out, "\tnot.pred \t%s, %s;\n\tand.pred \t%s, %s, %s;\n", scratch.text, b.text, result.text, scratch.text, a.text);
        break;
    case IR_GREATER_EQUAL:
        fprintf(w->out, "\tnot.pred \t%s, %s;\n\tor.pred \t%s, %s, %s;\n", scratch.text, b.text, result.text, scratch.text, a.text);
        break;
    }
}

static void write_compare(Writer *w, const IrInstruction *i)
{
    static const char *const integers[] = {"eq", "ne", "lt", "le", "gt", "ge"};
    static const char *const ordered[] = {"eq", "neu", "lt", "le", "gt", "ge"};
    static const char *const unordered[] = {"equ", "neu", "ltu", "leu", "gtu", "geu"};
    const IrType type = i->operands[0]->type;
    if (type == IR_PRED) {
        write_compare_predicates(w, i);
        return;
    }
    const bool is_equality = i->compare == IR_EQUAL || i->compare == IR_NOT_EQUAL;
    const char *const *names = !ir_is_float_type(type) ? integers : (i->flags & IR_UNORDERED) ? unordered : ordered;
    const Name a = arithmetic_operand(w, i->operands[0]), b = arithmetic_operand(w, i->operands[1]);
    fprintf(w->out, "\tsetp.%s.%s \t%s, %s, %s;\n", names[i->compare], number_suffix(type, is_equality || (i->flags & IR_SIGNED)),
            result_name(w, i).text, a.text, b.text);
}

static void write_select(Writer *w, const IrInstruction *i)
{
    const Name condition = operand_in_register(w, i->operands[0]), result = result_name(w, i);
    if (i->type != IR_PRED) {
        const Name a = operand_name(w, i->operands[1]), b = operand_name(w, i->operands[2]);
        const char *suffix = i->type == IR_F32 || i->type == IR_F64 ? number_suffix(i->type, true) : bits_suffix(i->type);
        fprintf(w->out, "\tselp.%s \t%s, %s, %s, %s;\n", suffix, result.text, a.text, b.text, condition.text);
        return;
    }
    const Name a = operand_in_register(w, i->operands[1]), b = operand_in_register(w, i->operands[2]);
    const Name inverse = register_name(PREDICATES, scratch_register(w, PREDICATES));
    const Name first = register_name(PREDICATES, scratch_register(w, PREDICATES));
    const Name second = register_name(PREDICATES, scratch_register(w, PREDICATES));
    fprintf(w->out, "\tnot.pred \t%s, %s;\n", inverse.text, condition.text);
    fprintf(w->out, "\tand.pred \t%s, %s, %s;\n", first.text, condition.text, a.text);
    fprintf(w->out, "\tand.pred \t%s, %s, %s;\n", second.text, inverse.text, b.text);
    fprintf(w->out, "\tor.pred \t%s, %s, %s;\n", result.text, first.text, second.text);
}

// ---- Conversions

static const char *convert_suffix(IrType type, bool is_signed)
{
    if (type == IR_B8)
        return is_signed ? "s8" : "u8";
    return number_suffix(type, is_signed);
}

static const char *rounding(IrType to, IrType from)
{
    if (ir_is_float_type(to))
        return !ir_is_float_type(from) || ir_bits(to) < ir_bits(from) || (ir_bits(to) == ir_bits(from) && to != from) ? ".rn" : "";
    return ir_is_float_type(from) ? ".rzi" : "";
}

static void write_convert(Writer *w, const IrInstruction *i)
{
    const IrInstruction *value = i->operands[0];
    const IrType from = value->type;
    const bool is_signed = i->flags & IR_SIGNED;
    const Name a = from == IR_PRED ? operand_in_register(w, value) : operand_name(w, value), result = result_name(w, i);
    if (from == IR_PRED && i->type == IR_PRED)
        fprintf(w->out, "\tmov.pred \t%s, %s;\n", result.text, a.text);
    else if (from == IR_PRED && ir_is_float_type(i->type))
        fprintf(w->out, "\tselp.%s \t%s, %s, %s, %s;\n", move_suffix(i->type), result.text, real_name(i->type, 1).text,
                real_name(i->type, 0).text, a.text);
    else if (from == IR_PRED)
        fprintf(w->out, "\tselp.%s \t%s, %s, 0, %s;\n", bits_suffix(i->type), result.text, is_signed ? "-1" : "1", a.text);
    else if (i->type == IR_PRED && ir_is_float_type(from))
        fprintf(w->out, "\tsetp.neu.%s \t%s, %s, %s;\n", number_suffix(from, true), result.text, a.text, real_name(from, 0).text);
    else if (i->type == IR_PRED)
        fprintf(w->out, "\tsetp.ne.%s \t%s, %s, 0;\n", number_suffix(from, true), result.text, a.text);
    else if (i->type == IR_B8 && from == IR_B16)
        fprintf(w->out, "\tmov.b16 \t%s, %s;\n", result.text, a.text);
    else // the sign does not matter to a truncation; nvcc writes u
        fprintf(w->out, "\tcvt%s.%s.%s \t%s, %s;\n", rounding(i->type, from),
                convert_suffix(i->type == IR_B8 ? IR_B16 : i->type, is_signed && ir_bits(i->type) > (ir_is_float_type(from) ? 0 : ir_bits(from))),
                convert_suffix(from, is_signed && (ir_is_float_type(i->type) || ir_bits(i->type) > ir_bits(from))), result.text, a.text);
}

static void write_bitcast(Writer *w, const IrInstruction *i)
{
    const Name a = operand_name(w, i->operands[0]);
    const char *suffix = i->type == i->operands[0]->type ? move_suffix(i->type) : bits_suffix(i->type);
    fprintf(w->out, "\tmov.%s \t%s, %s;\n", suffix, result_name(w, i).text, a.text);
}

// ---- Values and pointers

static void write_argument(Writer *w, const IrInstruction *i)
{
    const IrArgument *argument = &w->function->arguments[i->index];
    const Name result = result_name(w, i);
    if (argument->type == IR_VOID) {
        fprintf(w->out, "\tmov.b64 \t%s, %s_param_%u;\n", result.text, w->function->name, i->index);
        return;
    }
    if (i->type != IR_PRED) {
        fprintf(w->out, "\tld.param.%s \t%s, [%s_param_%u];\n", memory_suffix(argument->type, false), result.text, w->function->name, i->index);
        return;
    }
    const Name byte = register_name(REGISTERS_16, scratch_register(w, REGISTERS_16));
    fprintf(w->out, "\tld.param.u8 \t%s, [%s_param_%u];\n", byte.text, w->function->name, i->index);
    fprintf(w->out, "\tsetp.ne.s16 \t%s, %s, 0;\n", result.text, byte.text);
}

// The index in the width of the address: shared addresses have 32 bits, and an index has either width.
static Name index_name(Writer *w, const IrInstruction *i, bool *is_scaled)
{
    const IrInstruction *index = i->operands[1];
    *is_scaled = false;
    if (index->type == i->type || ir_is_constant(index))
        return operand_name(w, index);
    const RegisterClass class = register_class(i->type);
    const Name a = operand_name(w, index), scratch = register_name(class, scratch_register(w, class));
    if (i->type == IR_B64 && index->type == IR_B32) {
        fprintf(w->out, "\tmul.wide.%s \t%s, %s, %u;\n", (i->flags & IR_SIGNED) ? "s32" : "u32", scratch.text, a.text, i->scale);
        *is_scaled = true;
    } else {
        fprintf(w->out, "\tcvt.u32.u64 \t%s, %s;\n", scratch.text, a.text);
    }
    return scratch;
}

static void write_offset(Writer *w, const IrInstruction *i)
{
    const RegisterClass class = register_class(i->type);
    const char *suffix = number_suffix(i->type, true);
    Name sum = operand_in_register(w, i->operands[0]);
    const Name result = result_name(w, i);
    const bool has_index = i->operand_count == 2, has_bytes = i->integer != 0;
    if (has_index) {
        bool is_scaled;
        const Name index = index_name(w, i, &is_scaled);
        const Name to = has_bytes ? register_name(class, scratch_register(w, class)) : result;
        if (is_scaled || i->scale == 1)
            fprintf(w->out, "\tadd.%s \t%s, %s, %s;\n", suffix, to.text, sum.text, index.text);
        else
            fprintf(w->out, "\tmad.lo.%s \t%s, %s, %u, %s;\n", suffix, to.text, index.text, i->scale, sum.text);
        sum = to;
    }
    if (has_bytes || !has_index)
        fprintf(w->out, "\tadd.%s \t%s, %s, %" PRId64 ";\n", suffix, result.text, sum.text, i->integer);
}

static void write_space_conversion(Writer *w, const IrInstruction *i)
{
    const char *direction = i->op == IR_TO_GENERIC ? "" : ".to", *space = space_suffix(i->space);
    const Name a = operand_in_register(w, i->operands[0]), result = result_name(w, i);
    if (i->space != IR_SHARED) {
        fprintf(w->out, "\tcvta%s%s.u64 \t%s, %s;\n", direction, space, result.text, a.text);
        return;
    }
    const Name wide = register_name(REGISTERS_64, scratch_register(w, REGISTERS_64));
    if (i->op == IR_TO_GENERIC)
        fprintf(w->out, "\tcvt.u64.u32 \t%s, %s;\n\tcvta.shared.u64 \t%s, %s;\n", wide.text, a.text, result.text, wide.text);
    else
        fprintf(w->out, "\tcvta.to.shared.u64 \t%s, %s;\n\tcvt.u32.u64 \t%s, %s;\n", wide.text, a.text, result.text, wide.text);
}

// ---- Memory

static const char *access_kind(const IrInstruction *i)
{
    if (i->flags & IR_VOLATILE)
        return ".volatile";
    return "";
}

static void write_load(Writer *w, const IrInstruction *i)
{
    char address[MAX_ADDRESS];
    write_address(w, address, sizeof address, i->operands[0], i->integer);
    const char *cache = (i->flags & IR_READ_ONLY) && i->space == IR_GLOBAL ? ".nc" : "";
    if (i->type != IR_PRED) {
        fprintf(w->out, "\tld%s%s%s.%s \t%s, %s;\n", access_kind(i), space_suffix(i->space), cache, memory_suffix(i->memory, i->flags & IR_SIGNED),
                result_name(w, i).text, address);
        return;
    }
    const Name byte = register_name(REGISTERS_16, scratch_register(w, REGISTERS_16));
    fprintf(w->out, "\tld%s%s%s.u8 \t%s, %s;\n", access_kind(i), space_suffix(i->space), cache, byte.text, address);
    fprintf(w->out, "\tsetp.ne.s16 \t%s, %s, 0;\n", result_name(w, i).text, byte.text);
}

static void write_store(Writer *w, const IrInstruction *i)
{
    char address[MAX_ADDRESS];
    write_address(w, address, sizeof address, i->operands[0], i->integer);
    Name value = operand_in_register(w, i->operands[1]);
    if (i->operands[1]->type == IR_PRED) {
        const Name byte = register_name(REGISTERS_16, scratch_register(w, REGISTERS_16));
        fprintf(w->out, "\tselp.b16 \t%s, 1, 0, %s;\n", byte.text, value.text);
        value = byte;
    }
    fprintf(w->out, "\tst%s%s.%s \t%s, %s;\n", access_kind(i), space_suffix(i->space), memory_suffix(i->memory, false), address, value.text);
}

static const IrInstruction *element_of(const IrInstruction *vector, uint32_t index)
{
    for (const IrUse *use = vector->uses; use; use = use->next)
        if (use->user->op == IR_ELEMENT && use->user->index == index)
            return use->user;
    return NULL;
}

static void write_load_vector(Writer *w, const IrInstruction *i)
{
    char address[MAX_ADDRESS];
    write_address(w, address, sizeof address, i->operands[0], i->integer);
    const char *cache = (i->flags & IR_READ_ONLY) && i->space == IR_GLOBAL ? ".nc" : "";
    fprintf(w->out, "\tld%s%s%s.v%u.%s \t{", access_kind(i), space_suffix(i->space), cache, i->count, memory_suffix(i->memory, i->flags & IR_SIGNED));
    for (uint32_t k = 0; k < i->count; k++) {
        const IrInstruction *element = element_of(i, k);
        const RegisterClass class = register_class(element ? element->type : i->memory);
        const uint32_t number = element ? w->registers->number[element->id] : 0;
        fprintf(w->out, "%s%s", k ? ", " : "", register_name(class, number ? number : scratch_register(w, class)).text);
    }
    fprintf(w->out, "}, %s;\n", address);
}

static void write_store_vector(Writer *w, const IrInstruction *i)
{
    char address[MAX_ADDRESS];
    write_address(w, address, sizeof address, i->operands[0], i->integer);
    Name values[8];
    for (uint32_t k = 0; k < i->count && k < 8; k++)
        values[k] = operand_in_register(w, i->operands[k + 1]);
    fprintf(w->out, "\tst%s%s.v%u.%s \t%s, {", access_kind(i), space_suffix(i->space), i->count, memory_suffix(i->memory, false), address);
    for (uint32_t k = 0; k < i->count && k < 8; k++)
        fprintf(w->out, "%s%s", k ? ", " : "", values[k].text);
    fprintf(w->out, "};\n");
}

// Copies in the largest pieces that both addresses are aligned to. Each pointer has its own space.
static void write_copy(Writer *w, const IrInstruction *i)
{
    const uint32_t alignment = i->alignment ? i->alignment : 1;
    uint32_t done = 0;
    while (done < i->memory_bytes) {
        uint32_t piece = 8;
        while (piece > 1 && (piece > alignment || done + piece > i->memory_bytes))
            piece /= 2;
        const IrType type = piece == 8 ? IR_B64 : piece == 4 ? IR_B32 : piece == 2 ? IR_B16 : IR_B8;
        const Name value = register_name(register_class(type), scratch_register(w, register_class(type)));
        char from[MAX_ADDRESS], to[MAX_ADDRESS];
        write_address(w, from, sizeof from, i->operands[1], done);
        write_address(w, to, sizeof to, i->operands[0], done);
        fprintf(w->out, "\tld%s.%s \t%s, %s;\n", space_suffix(ir_pointer_space(i->operands[1])), memory_suffix(type, false), value.text, from);
        fprintf(w->out, "\tst%s.%s \t%s, %s;\n", space_suffix(ir_pointer_space(i->operands[0])), memory_suffix(type, false), to, value.text);
        done += piece;
    }
}

void write_instruction(Writer *w, const IrInstruction *i)
{
    switch (i->op) {
    case IR_ARGUMENT: write_argument(w, i); break;
    case IR_SPECIAL: fprintf(w->out, "\tmov.%s \t%s, %s;\n", number_suffix(i->type, false), result_name(w, i).text, i->special); break;
    case IR_SYMBOL: fprintf(w->out, "\tmov.%s \t%s, %s;\n", number_suffix(i->type, false), result_name(w, i).text, i->symbol->name); break;
    case IR_ALLOCA: fprintf(w->out, "\tadd.u64 \t%s, %%SPL, %u;\n", result_name(w, i).text, w->local_offset[i->id]); break;
    case IR_FMA: write_fma(w, i); break;
    case IR_COMPARE: write_compare(w, i); break;
    case IR_SELECT: write_select(w, i); break;
    case IR_CONVERT: write_convert(w, i); break;
    case IR_BITCAST: write_bitcast(w, i); break;
    case IR_OFFSET: write_offset(w, i); break;
    case IR_TO_GENERIC:
    case IR_FROM_GENERIC: write_space_conversion(w, i); break;
    case IR_LOAD: write_load(w, i); break;
    case IR_STORE: write_store(w, i); break;
    case IR_LOAD_VECTOR: write_load_vector(w, i); break;
    case IR_STORE_VECTOR: write_store_vector(w, i); break;
    case IR_COPY: write_copy(w, i); break;
    case IR_INTRINSIC: write_intrinsic(w, i); break;
    default: write_arithmetic(w, i); break;
    }
}
