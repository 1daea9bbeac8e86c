// ir_print.c: prints the intermediate representation, for tests and debugging, with one line for each instruction:
//
//     %7 b32 = add %3, 1 no_wrap          ; line 12
#include "compiler/intrinsics.h"
#include "compiler/rewrite.h"

#include <inttypes.h>

static const char *const TYPES[IR_TYPES] = {"void", "pred", "b8", "b16", "b32", "b64", "f16", "bf16", "f32", "f64"};
static const char *const SPACES[] = {"generic", "global", "shared", "local", "constant", "parameter"};
static const char *const COMPARES[] = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"};
static const char *const FLAGS[] = {"signed", "no_wrap", "volatile", "read_only", "exact", "approximate", "unordered"};
static const char *const OPS[IR_OPS] = {
    "integer", "real", "undefined", "argument", "special", "symbol", "alloca",
    "add", "sub", "mul", "mul_high", "div", "rem", "and", "or", "xor", "shl", "shr",
    "min", "max", "neg", "not", "abs", "fma", "mul_wide", "compare", "select", "convert", "bitcast", "phi",
    "offset", "to_generic", "from_generic",
    "load", "store", "load_vector", "store_vector", "element", "copy",
    "intrinsic", "call", "jump", "branch", "return", "unreachable"};

static void print_operand(FILE *out, const IrInstruction *value)
{
    if (!value)
        fprintf(out, "?");
    else if (value->op == IR_INTEGER)
        fprintf(out, "%" PRId64, value->integer);
    else if (value->op == IR_REAL)
        fprintf(out, "%.17g", value->real);
    else if (value->op == IR_UNDEFINED)
        fprintf(out, "undefined");
    else
        fprintf(out, "%%%u", value->id);
}

static void print_operands(FILE *out, const IrInstruction *i)
{
    for (uint32_t k = 0; k < i->operand_count; k++) {
        fprintf(out, k ? ", " : " ");
        print_operand(out, i->operands[k]);
        if (i->op == IR_PHI && i->block && k < i->block->predecessor_count)
            fprintf(out, " from b%u", i->block->predecessors[k]->id);
    }
}

static void print_memory(FILE *out, const IrInstruction *i)
{
    fprintf(out, " %s %s", SPACES[i->space], TYPES[i->memory]);
    if (i->count)
        fprintf(out, " x %u", i->count);
    if (i->integer)
        fprintf(out, " + %" PRId64, i->integer);
}

static void print_details(FILE *out, const IrInstruction *i)
{
    switch (i->op) {
    case IR_ARGUMENT:
    case IR_ELEMENT:
        fprintf(out, " #%u", i->index);
        break;
    case IR_SPECIAL:
        fprintf(out, " %s", i->special);
        break;
    case IR_SYMBOL:
        fprintf(out, " %s", i->symbol->name);
        break;
    case IR_ALLOCA:
        fprintf(out, " %u bytes aligned %u", i->memory_bytes, i->alignment);
        break;
    case IR_COMPARE:
        fprintf(out, " %s", COMPARES[i->compare]);
        break;
    case IR_OFFSET:
        fprintf(out, " %s, scale %u + %" PRId64, SPACES[i->space], i->scale, i->integer);
        break;
    case IR_TO_GENERIC:
    case IR_FROM_GENERIC:
        fprintf(out, " %s", SPACES[i->space]);
        break;
    case IR_LOAD:
    case IR_STORE:
    case IR_LOAD_VECTOR:
    case IR_STORE_VECTOR:
        print_memory(out, i);
        break;
    case IR_COPY:
        fprintf(out, " %u bytes", i->memory_bytes);
        break;
    case IR_INTRINSIC:
        fprintf(out, " [%s]", i->intrinsic->name);
        break;
    case IR_CALL:
        fprintf(out, " %s", i->callee->name);
        break;
    default:
        break;
    }
}

void ir_print_instruction(FILE *out, const IrInstruction *i)
{
    fprintf(out, "    ");
    if (i->type != IR_VOID)
        fprintf(out, "%%%u %s = ", i->id, TYPES[i->type]);
    fprintf(out, "%s", OPS[i->op]);
    print_operands(out, i);
    print_details(out, i);
    for (uint32_t k = 0; k < sizeof FLAGS / sizeof *FLAGS; k++)
        if (i->flags >> k & 1)
            fprintf(out, " %s", FLAGS[k]);
    for (uint32_t k = 0; k < (i->op == IR_JUMP ? 1u : i->op == IR_BRANCH ? 2u : 0u); k++)
        fprintf(out, " b%u", i->target[k]->id);
    if (i->line)
        fprintf(out, "  ; line %u", i->line);
    fprintf(out, "\n");
}

static void print_function(FILE *out, const IrFunction *function)
{
    fprintf(out, "%s %s %s(%u arguments)\n", function->kernel ? "kernel" : "function", TYPES[function->result], function->name,
            function->argument_count);
    for (const IrBlock *block = function->first; block; block = block->next) {
        fprintf(out, "b%u:", block->id);
        for (uint32_t k = 0; k < block->predecessor_count; k++)
            fprintf(out, "%s b%u", k ? "," : "  ; from", block->predecessors[k]->id);
        fprintf(out, "\n");
        for (const IrInstruction *i = block->first; i; i = i->next)
            ir_print_instruction(out, i);
    }
}

void ir_print(FILE *out, const IrModule *module)
{
    for (uint32_t k = 0; k < module->symbol_count; k++) {
        const IrSymbol *symbol = module->symbols[k];
        fprintf(out, "%s %s[%zu]\n", SPACES[symbol->space], symbol->name, symbol->bytes);
    }
    for (const IrFunction *function = module->functions; function; function = function->next)
        print_function(out, function);
}
