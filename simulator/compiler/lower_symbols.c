// lower_symbols.c: lowers variables: local ones, and those in shared, global and constant memory.
#include "compiler/lower.h"

#include <string.h>

#include "compiler/evaluate.h"
#include "compiler/mangle.h"

static IrSpace space_of(const Variable *v)
{
    return v->space == SPACE_SHARED ? IR_SHARED : v->space == SPACE_CONSTANT ? IR_CONSTANT : IR_GLOBAL;
}

static IrSymbol *find_symbol(const IrModule *module, const char *name)
{
    for (uint32_t k = 0; k < module->symbol_count; k++)
        if (!strcmp(module->symbols[k]->name, name))
            return module->symbols[k];
    return NULL;
}

static void initial_bytes(Lowering *l, Variable *v, IrSymbol *symbol)
{
    Compiler *c = l->compiler;
    if (!v->initialiser || v->space == SPACE_SHARED || v->is_extern)
        return;
    Evaluator e = {.compiler = c};
    Variable *object = evaluate_object(&e, v->type);
    c->silent++;
    const bool known = object && evaluate_to_object(&e, v->initialiser, (Constant){.variable = object}, v->type);
    c->silent--;
    if (!known)
        lower_error(l, v->position, 0, "copy it there from the host: cudaMemcpyToSymbol", "the initial value of '%s' must be known when the program is compiled",
                    v->name->text);
    else
        symbol->initial = object->bytes;
}

static IrSymbol *make_symbol(Lowering *l, Variable *v)
{
    const char *name = mangle_variable(l->compiler, v);
    const bool dynamic = v->space == SPACE_SHARED && v->is_extern;
    if (dynamic)
        name = v->name->text;
    IrSymbol *symbol = find_symbol(l->module, name);
    const uint32_t own = v->type->alignment ? v->type->alignment : 1;
    uint32_t alignment = v->alignment > own ? v->alignment : own;
    if (dynamic && alignment < 16)
        alignment = 16;
    if (symbol) { // another declaration of the same variable
        symbol->alignment = symbol->alignment > alignment ? symbol->alignment : alignment;
        return symbol;
    }
    symbol = compile_new(l->compiler, IrSymbol);
    *compile_push(l->compiler, l->module->symbols, l->module->symbol_count, l->symbol_capacity) = symbol;
    const Type *inner = type_innermost(v->type);
    *symbol = (IrSymbol){.name = name, .space = space_of(v), .bytes = dynamic ? 0 : v->type->size, .alignment = alignment, .dynamic = dynamic,
                         .element = inner->kind == TYPE_RECORD ? IR_B8 : lower_type(inner),
                         .external = v->space != SPACE_SHARED && !v->is_static && !v->function};
    initial_bytes(l, v, symbol);
    return symbol;
}

static IrInstruction *symbol_address(Lowering *l, const IrSymbol *symbol)
{
    IrInstruction *address = lower_emit(l, IR_SYMBOL, symbol->space == IR_SHARED ? IR_B32 : IR_B64, 0, NULL);
    address->symbol = symbol;
    address->space = (uint8_t)symbol->space;
    return address;
}

// A local copy of a host constant whose address is needed, for instance for a reference.
static IrInstruction *constant_object(Lowering *l, Variable *v, const Expression *use)
{
    Constant value;
    Compiler *c = l->compiler;
    const char *name = v->name ? v->name->text : "this";
    if (constant_of_variable(c, v, &value)) {
        IrInstruction *slot = lower_alloca(l, v->type->size, v->type->alignment);
        lower_store(l, (Address){slot, false, 0}, type_bare(v->type), lower_value(l, expression_of_constant(c, v->type, &value, use->start, use->end)));
        return slot;
    }
    if (v->is_constexpr && v->type->kind == TYPE_RECORD && v->is_initialised) {
        IrInstruction *slot = lower_alloca(l, v->type->size, v->type->alignment);
        lower_initialisation(l, (Address){slot, false, 0}, type_bare(v->type), v->initialiser);
        return slot;
    }
    const bool array = v->type->kind == TYPE_ARRAY;
    const bool constant = (type_innermost(v->type)->qualifiers & TYPE_CONST) != 0;
    const char *help = constant && array ? compile_format(c, "write __constant__ or __device__ before '%s'", name)
                       : constant        ? "its value is not known when the program is compiled: pass it as a parameter"
                                         : compile_format(c, "pass it as a parameter, or write __device__ before '%s'", name);
    lower_error(l, use->start, use->end, help, "'%s' is a host variable, which a kernel cannot access", name);
    source_note(c, v->position, v->name ? v->name->length : 0, "'%s' is declared here", name);
    return lower_alloca(l, 16, 16);
}

IrInstruction *lower_variable(Lowering *l, Variable *v, const Expression *use)
{
    if (v->space == SPACE_HOST)
        return constant_object(l, v, use);
    if (v->space != SPACE_AUTOMATIC) {
        if (!v->ir)
            v->ir = make_symbol(l, v);
        return symbol_address(l, v->ir);
    }
    if (!v->ir) { // its declaration was skipped, for instance after an error
        v->ir = lower_alloca(l, lower_size(v->type) ? lower_size(v->type) : 8, lower_alignment(v->type));
    }
    return (IrInstruction *)v->ir;
}

void lower_shared(Lowering *l, Variable *v)
{
    if (!v->ir && !v->is_extern && !type_is_unknown(v->type))
        v->ir = make_symbol(l, v);
}

IrInstruction *lower_string(Lowering *l, const char *text, uint64_t length)
{
    IrModule *m = l->module;
    uint32_t strings = 0;
    for (uint32_t k = 0; k < m->symbol_count; k++) {
        const IrSymbol *symbol = m->symbols[k];
        if (symbol->name[0] != '$')
            continue;
        strings++;
        if (symbol->bytes == length + 1 && !memcmp(symbol->initial, text, length))
            return symbol_address(l, symbol);
    }
    IrSymbol *symbol = compile_new(l->compiler, IrSymbol);
    unsigned char *bytes = compile_allocate(l->compiler, length + 1);
    memcpy(bytes, text, length);
    *symbol = (IrSymbol){.name = strings ? compile_format(l->compiler, "$str$%u", strings) : "$str", .space = IR_GLOBAL, .bytes = length + 1,
                         .alignment = 1, .element = IR_B8, .initial = bytes};
    *compile_push(l->compiler, m->symbols, m->symbol_count, l->symbol_capacity) = symbol;
    return symbol_address(l, symbol);
}

void lower_symbols_of_program(Lowering *l)
{
    const Parser *p = l->compiler->parser;
    for (uint32_t k = 0; k < p->variable_count; k++) {
        Variable *v = p->variables[k];
        const bool device = v->space == SPACE_DEVICE || v->space == SPACE_CONSTANT || v->space == SPACE_MANAGED;
        const SourceFile *file = source_file_at(l->compiler, v->position);
        if (device && !v->function && !v->ir && !type_is_unknown(v->type) && v->name && file && !file->built_in && !v->is_extern)
            v->ir = make_symbol(l, v);
    }
}
