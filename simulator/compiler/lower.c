// lower.c: lowers functions; helpers of all parts of the lowering.
#include "compiler/lower.h"

#include <stdarg.h>
#include <string.h>

#include "compiler/mangle.h"

// ---- instructions

void lower_error(Lowering *l, Position at, Position end, const char *help, const char *format, ...)
{
    char text[500];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    source_error(l->compiler, at, end > at ? end - at : 0, help, "%s", text);
}

static uint32_t file_index(Lowering *l, const SourceFile *file)
{
    IrModule *m = l->module;
    for (uint32_t k = 0; k < m->file_count; k++)
        if (!strcmp(m->files[k], file->name))
            return k;
    *compile_push(l->compiler, m->files, m->file_count, l->file_capacity) = file->name;
    return m->file_count - 1;
}

void lower_enter(Lowering *l, Position at)
{
    if (++l->depth > 4 * MAX_NESTING)
        source_abandon(l->compiler, at, "this is nested too deeply");
}

void lower_leave(Lowering *l)
{
    l->depth--;
}

void lower_set_line(Lowering *l, Position position)
{
    const SourceFile *file = source_file_at(l->compiler, position);
    if (!file || file->built_in)
        return; // keeps the line of the call
    l->module->line = source_line(l->compiler, position);
    l->module->file = file_index(l, file);
}

IrInstruction *lower_emit(Lowering *l, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands)
{
    if (ir_is_terminated(l->block))
        l->block = ir_new_block(l->module, l->function);
    return ir_append(l->module, l->block, op, type, count, operands);
}

IrInstruction *lower_emit1(Lowering *l, IrOp op, IrType type, IrInstruction *a)
{
    return lower_emit(l, op, type, 1, &a);
}

IrInstruction *lower_emit2(Lowering *l, IrOp op, IrType type, IrInstruction *a, IrInstruction *b)
{
    IrInstruction *operands[] = {a, b};
    return lower_emit(l, op, type, 2, operands);
}

IrInstruction *lower_integer(Lowering *l, IrType type, int64_t value)
{
    const int64_t extended = type == IR_PRED ? (value != 0) : type == IR_B8 ? (int8_t)value : type == IR_B16 ? (int16_t)value
                             : type == IR_B32 ? (int32_t)value : value;
    return ir_integer(l->module, l->function, type, extended);
}

// Appends to the entry block, which gets its terminator when the function is complete.
IrInstruction *lower_alloca(Lowering *l, uint64_t bytes, uint32_t alignment)
{
    IrInstruction *slot = ir_append(l->module, l->function->first, IR_ALLOCA, IR_B64, 0, NULL);
    slot->space = IR_LOCAL;
    slot->memory_bytes = bytes ? (uint32_t)bytes : 1;
    slot->alignment = alignment ? alignment : 1;
    return slot;
}

IrBlock *lower_block(Lowering *l)
{
    return ir_new_block(l->module, l->function);
}

void lower_jump(Lowering *l, IrBlock *to)
{
    if (!ir_is_terminated(l->block))
        ir_jump(l->module, l->block, to);
}

void lower_branch(Lowering *l, IrInstruction *condition, IrBlock *if_true, IrBlock *if_false)
{
    if (ir_is_terminated(l->block))
        l->block = lower_block(l);
    ir_branch(l->module, l->block, condition, if_true, if_false);
}

// ---- signatures

static int attribute_value(Lowering *l, Expression *e)
{
    Constant value;
    if (!e || expression_is_unknown(e))
        return 0;
    if (!constant_evaluate(l->compiler, e, &value) || value.integer < 1 || value.integer > 1 << 20) {
        lower_error(l, e->start, e->end, NULL, "an attribute of a kernel must be a positive number that is known when the program is compiled");
        return 0;
    }
    return (int)value.integer;
}

static void set_argument(IrArgument *a, const Type *type, bool is_kernel)
{
    if (type->kind == TYPE_RECORD && is_kernel) {
        *a = (IrArgument){.type = IR_VOID, .bytes = type->size, .alignment = type->alignment};
        return;
    }
    const bool pointer = type->kind == TYPE_POINTER || type_is_any_reference(type) || type->kind == TYPE_RECORD;
    *a = (IrArgument){.type = pointer ? IR_B64 : lower_type(type), .bytes = pointer ? 8 : type->size, .alignment = pointer ? 8 : type->alignment};
    a->is_pointer = pointer;
    a->restrict_pointer = (type->qualifiers & TYPE_RESTRICT) != 0;
}

static void set_arguments(Lowering *l, IrFunction *lowered, const Function *f)
{
    const bool record = f->type->target->kind == TYPE_RECORD;
    lowered->arguments = compile_allocate(l->compiler, (f->parameter_count + 2) * sizeof *lowered->arguments);
    if (record)
        lowered->arguments[lowered->argument_count++] = (IrArgument){.type = IR_B64, .bytes = 8, .alignment = 8, .is_pointer = true};
    if (f->self)
        lowered->arguments[lowered->argument_count++] = (IrArgument){.type = IR_B64, .bytes = 8, .alignment = 8, .is_pointer = true};
    for (uint32_t k = 0; k < f->parameter_count; k++)
        set_argument(&lowered->arguments[lowered->argument_count++], f->parameters[k]->type, f->is_kernel);
}

IrFunction *lower_function_for(Lowering *l, Function *f)
{
    if (f->ir)
        return f->ir;
    if (!f->body && !(f->is_constructor && f->is_defaulted)) {
        const bool own = source_file_at(l->compiler, f->position) && !source_file_at(l->compiler, f->position)->built_in;
        lower_error(l, f->position, 0, own ? "write its body" : NULL, "the function '%s' is declared, but not defined", f->name ? f->name->text : "");
        return NULL;
    }
    Type *result = f->type->target;
    const IrType type = type_is_any_reference(result) ? IR_B64 : result->kind == TYPE_RECORD ? IR_VOID : lower_type(result);
    const uint32_t line = l->module->line, file = l->module->file;
    IrFunction *lowered = ir_new_function(l->module, mangle_function(l->compiler, f), type);
    lowered->readable = function_readable(l->compiler, f);
    lowered->kernel = f->is_kernel;
    lowered->no_inline = f->no_inline;
    lowered->line = source_line(l->compiler, f->position);
    lowered->file = 0;
    if (lowered->line)
        lowered->file = file_index(l, source_file_at(l->compiler, f->position));
    lowered->max_threads = attribute_value(l, f->max_threads);
    lowered->min_blocks = attribute_value(l, f->min_blocks);
    lowered->max_blocks_per_cluster = attribute_value(l, f->max_blocks_per_cluster);
    for (int k = 0; k < 3; k++)
        lowered->cluster[k] = f->cluster[0] ? (f->cluster[k] ? attribute_value(l, f->cluster[k]) : 1) : 0;
    set_arguments(l, lowered, f);
    l->module->line = line;
    l->module->file = file;
    f->ir = lowered;
    *compile_push(l->compiler, l->queue, l->queue_count, l->queue_capacity) = f;
    return lowered;
}

// ---- bodies

static IrInstruction *argument(Lowering *l, uint32_t index)
{
    const IrArgument *a = &l->function->arguments[index];
    IrInstruction *i = lower_emit(l, IR_ARGUMENT, a->type == IR_VOID ? IR_B64 : a->type, 0, NULL);
    i->index = index;
    i->space = a->type == IR_VOID ? IR_PARAMETER : IR_GENERIC;
    return i;
}

static void bind_parameter(Lowering *l, Variable *v, uint32_t index)
{
    IrInstruction *value = argument(l, index);
    Type *type = v->type;
    if (type->kind == TYPE_RECORD && !l->source->is_kernel) {
        v->ir = lower_alloca(l, 8, 8); // passed by reference to the caller's copy
        lower_store(l, (Address){(IrInstruction *)v->ir, false, 0}, type_pointer(l->compiler, type), value);
        v->ir = value;
        return;
    }
    IrInstruction *slot = lower_alloca(l, lower_size(type), lower_alignment(type));
    v->ir = slot;
    if (type->kind == TYPE_RECORD)
        lower_copy(l, (Address){slot, false, 0}, (Address){value, false, 0}, type);
    else
        lower_store(l, (Address){slot, false, 0}, type_is_any_reference(type) ? type_pointer(l->compiler, type->target) : type_bare(type), value);
}

static void bind_parameters(Lowering *l, Function *f)
{
    uint32_t index = 0;
    l->result = f->type->target->kind == TYPE_RECORD ? argument(l, index++) : NULL;
    if (f->self)
        bind_parameter(l, f->self, index++);
    for (uint32_t k = 0; k < f->parameter_count; k++)
        bind_parameter(l, f->parameters[k], index++);
}

static void lower_field_initialisers(Lowering *l, Function *f)
{
    if (!f->is_constructor)
        return;
    Expression *self = expression_variable(l->compiler, f->self, f->position, f->position);
    IrInstruction *object = lower_value(l, expression_value(l->compiler, self));
    for (uint32_t k = 0; k < f->field_initialiser_count; k++) {
        const FieldInitialiser *initialiser = &f->field_initialisers[k];
        const Address part = {lower_offset(l, object, initialiser->field ? (int64_t)initialiser->field->offset : 0), false, 0};
        lower_initialisation(l, part, initialiser->field ? initialiser->field->type : f->record->type, initialiser->value);
    }
}

static void reset_labels(Function *f)
{
    for (Label *label = f->labels; label; label = label->next)
        label->block = NULL;
}

static void lower_body(Lowering *l, Function *f)
{
    l->function = f->ir;
    l->source = f;
    l->break_to = l->continue_to = NULL;
    l->depth = 0;
    IrModule *m = l->module;
    m->line = source_line(l->compiler, f->position);
    m->file = l->function->file;
    reset_labels(f);
    IrBlock *entry = ir_new_block(m, l->function);
    IrBlock *begin = l->block = ir_new_block(m, l->function);
    bind_parameters(l, f);
    lower_field_initialisers(l, f);
    if (f->body)
        lower_statement(l, f->body);
    if (!ir_is_terminated(l->block)) {
        lower_set_line(l, f->body_end);
        const IrType result = l->function->result;
        ir_return(m, l->block, result == IR_VOID ? NULL : ir_undefined(m, l->function, result));
    }
    ir_jump(m, entry, begin);
}

// Terminates blocks without a terminator, such as those after a return.
static void end_blocks(IrModule *m, IrFunction *f)
{
    for (IrBlock *block = f->first; block; block = block->next)
        if (!ir_is_terminated(block))
            ir_unreachable(m, block);
}

static int compare_positions(const Function *a, const Function *b)
{
    return a->position < b->position ? -1 : a->position > b->position;
}

bool lower_program(Compiler *c, IrModule *module)
{
    Lowering l = {.compiler = c, .module = module};
    Parser *p = c->parser;
    const uint32_t errors = (uint32_t)c->result->error_count;
    file_index(&l, c->files[0]);
    lower_symbols_of_program(&l);
    Function **kernels = NULL;
    uint32_t count = 0, capacity = 0;
    for (uint32_t k = 0; k < p->function_count; k++)
        if (p->functions[k]->is_kernel && p->functions[k]->body && !p->functions[k]->is_pattern)
            *compile_push(c, kernels, count, capacity) = p->functions[k];
    for (uint32_t k = 0; k < p->template_count; k++)
        for (TemplateInstance *i = p->templates[k]->instances; i && !p->templates[k]->redeclared_by; i = i->next) {
            Function *f = i->symbol && i->symbol->kind == SYMBOL_FUNCTION ? i->symbol->function : NULL;
            if (f && f->is_kernel && f->body && f->is_needed)
                *compile_push(c, kernels, count, capacity) = f;
        }
    for (uint32_t k = 1; k < count; k++) // in the order of the source
        for (uint32_t j = k; j > 0 && compare_positions(kernels[j], kernels[j - 1]) < 0; j--) {
            Function *swapped = kernels[j];
            kernels[j] = kernels[j - 1];
            kernels[j - 1] = swapped;
        }
    for (uint32_t k = 0; k < count; k++)
        lower_function_for(&l, kernels[k]);
    for (uint32_t k = 0; k < l.queue_count; k++) {
        c->instantiation = l.queue[k]->instantiation;
        lower_body(&l, l.queue[k]);
        end_blocks(module, l.queue[k]->ir);
    }
    c->instantiation = NULL;
    return errors == (uint32_t)c->result->error_count;
}
