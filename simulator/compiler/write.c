// write.c: writes a module as PTX: its variables and kernels, with their blocks, branches and source lines.
#include "compiler/intrinsics.h"
#include "compiler/write.h"

#include <stdlib.h>
#include <string.h>

// ---- Variables

static const char *element_suffix(IrType type)
{
    return type == IR_F32 || type == IR_F64 ? number_suffix(type, true) : type == IR_B8 || type == IR_PRED ? "u8" : number_suffix(type, false);
}

static void write_initial_bytes(FILE *out, const IrSymbol *symbol)
{
    size_t count = symbol->bytes;
    while (count && !symbol->initial[count - 1])
        count--;
    if (!count)
        return;
    fprintf(out, " = {");
    for (size_t k = 0; k < count; k++)
        fprintf(out, "%s%u", k ? ", " : "", symbol->initial[k]);
    fprintf(out, "}");
}

static void write_global(FILE *out, const IrSymbol *symbol)
{
    fprintf(out, "%s%s .align %zu .b8 %s[%zu]", symbol->external ? ".visible " : "", space_suffix(symbol->space), symbol->alignment,
            symbol->name, symbol->bytes ? symbol->bytes : 1);
    if (symbol->initial)
        write_initial_bytes(out, symbol);
    fprintf(out, ";\n");
}

static void write_variables(FILE *out, const IrModule *module)
{
    for (uint32_t k = 0; k < module->symbol_count; k++) {
        const IrSymbol *symbol = module->symbols[k];
        if (symbol->space == IR_SHARED && symbol->dynamic)
            fprintf(out, ".extern .shared .align %zu .b8 %s[];\n", symbol->alignment, symbol->name);
        else if (symbol->space != IR_SHARED)
            write_global(out, symbol);
    }
}

// Writes the static shared variables that a kernel uses, in declaration order: an access past the end of one reaches the next.
static void write_shared_variables(FILE *out, IrModule *module, const IrFunction *function)
{
    const IrSymbol **used = ir_scratch(module, (module->symbol_count + 1) * sizeof *used);
    uint32_t count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next) {
            bool is_new = i->op == IR_SYMBOL && i->symbol->space == IR_SHARED && !i->symbol->dynamic && i->uses && count < module->symbol_count;
            for (uint32_t k = 0; is_new && k < count; k++)
                is_new = used[k] != i->symbol;
            if (is_new)
                used[count++] = i->symbol;
        }
    for (uint32_t s = 0; s < module->symbol_count && count; s++)
        for (uint32_t k = 0; k < count; k++)
            if (used[k] == module->symbols[s])
                fprintf(out, "\t.shared .align %zu .b8 %s[%zu];\n", used[k]->alignment, used[k]->name, used[k]->bytes);
}

// ---- Kernels

static void write_parameters(FILE *out, const IrFunction *function)
{
    fprintf(out, "\n.visible .entry %s(", function->name);
    for (uint32_t k = 0; k < function->argument_count; k++) {
        const IrArgument *argument = &function->arguments[k];
        fprintf(out, "%s\n\t.param ", k ? "," : "");
        if (argument->type == IR_VOID)
            fprintf(out, ".align %zu .b8 %s_param_%u[%zu]", argument->alignment, function->name, k, argument->bytes);
        else
            fprintf(out, ".%s %s_param_%u", element_suffix(argument->type), function->name, k);
    }
    fprintf(out, "\n)\n");
}

static void write_launch_bounds(FILE *out, const IrFunction *function)
{
    if (function->max_threads)
        fprintf(out, ".maxntid %d, 1, 1\n", function->max_threads);
    if (function->min_blocks)
        fprintf(out, ".minnctapersm %d\n", function->min_blocks);
    if (function->max_blocks_per_cluster)
        fprintf(out, ".maxclusterrank %d\n", function->max_blocks_per_cluster);
    if (function->cluster[0])
        fprintf(out, ".explicitcluster\n.reqnctapercluster %d, %d, %d\n", function->cluster[0], function->cluster[1], function->cluster[2]);
}

static void write_registers(Writer *w, FILE *out)
{
    static const char *const declarations[] = {".pred \t%p", ".b16 \t%rs", ".b32 \t%r", ".b64 \t%rd", ".f32 \t%f", ".f64 \t%fd"};
    if (w->local_bytes)
        fprintf(out, "\t.local .align 16 .b8 \t__local_depot%u[%u];\n\t.reg .b64 \t%%SPL;\n", w->function_number, w->local_bytes);
    for (int class = 0; class < REGISTER_CLASSES; class++)
        if (w->scratch[class])
            fprintf(out, "\t.reg %s<%u>;\n", declarations[class], w->scratch[class] + 1);
}

// Assigns each local variable its offset in the function's local memory.
static void place_locals(Writer *w)
{
    w->local_offset = ir_scratch(w->module, (w->function->next_instruction + 1) * sizeof *w->local_offset);
    w->local_bytes = 0;
    for (const IrBlock *block = w->function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next) {
            if (i->op != IR_ALLOCA || !i->uses)
                continue;
            const uint32_t alignment = i->alignment ? i->alignment : 1;
            w->local_bytes = (uint32_t)sim_align_up(w->local_bytes, alignment);
            w->local_offset[i->id] = w->local_bytes;
            w->local_bytes += i->memory_bytes ? i->memory_bytes : 1;
        }
}

// ---- Blocks

static void write_line(Writer *w, const IrInstruction *i)
{
    if (!i->line || (i->line == w->line && i->file == w->file))
        return;
    w->line = i->line;
    w->file = i->file;
    fprintf(w->out, "\t.loc\t%u %u 0\n", i->file + 1, i->line);
}

static void write_moves(Writer *w, const RegisterMove *moves)
{
    static const char *const suffixes[] = {"pred", "b16", "b32", "b64", "f32", "f64"};
    for (const RegisterMove *move = moves; move; move = move->next) {
        const Name to = register_name(move->class, move->to);
        const Name from = move->from ? register_name(move->class, move->from) : operand_name(w, move->constant);
        if (move->class == PREDICATES && !move->from)
            fprintf(w->out, "\tsetp.%s.s32 \t%s, 0, 0;\n", move->constant->op == IR_INTEGER && move->constant->integer ? "eq" : "ne", to.text);
        else
            fprintf(w->out, "\tmov.%s \t%s, %s;\n", suffixes[move->class], to.text, from.text);
    }
}

// Whether control falls through from one block to the other.
static bool falls_through(const Writer *w, const IrBlock *from, const IrBlock *to)
{
    const IrBlock *next = from->next;
    while (next && next != to && next->first == next->last && next->last->op == IR_JUMP && next->last->target[0] == to &&
           !w->registers->at_start[next->id] && !w->registers->at_end[next->id])
        next = next->next;
    return next == to;
}

static void write_jump(Writer *w, const IrBlock *from, const IrBlock *to)
{
    if (!falls_through(w, from, to))
        fprintf(w->out, "\tbra.uni \t$L__BB%u_%u;\n", w->function_number, to->id);
}

static void write_branch(Writer *w, const IrInstruction *branch)
{
    const IrBlock *block = branch->block, *if_true = branch->target[0], *if_false = branch->target[1];
    if (if_true == if_false) {
        write_jump(w, block, if_true);
        return;
    }
    const Name condition = operand_in_register(w, branch->operands[0]);
    fprintf(w->out, "\t@%s bra \t$L__BB%u_%u;\n", condition.text, w->function_number, if_true->id);
    write_jump(w, block, if_false);
}

static void write_terminator(Writer *w, const IrInstruction *end)
{
    write_moves(w, w->registers->at_end[end->block->id]);
    if (end->op != IR_JUMP)
        write_line(w, end);
    if (end->op == IR_JUMP)
        write_jump(w, end->block, end->target[0]);
    else if (end->op == IR_BRANCH)
        write_branch(w, end);
    else if (end->op == IR_RETURN)
        fprintf(w->out, "\tret;\n");
    else
        fprintf(w->out, "\ttrap;\n");
}

// Whether the instruction is written by itself: a phi is written as moves, an element as a result of its vector's instruction.
static bool is_written(const IrInstruction *i)
{
    if (i->op == IR_PHI || i->op == IR_ELEMENT || ir_is_constant(i))
        return false;
    const bool has_elements = i->type == IR_VOID && i->uses;
    return needs_register(i) || !ir_is_removable(i) || i->op == IR_LOAD_VECTOR || has_elements;
}

static void write_block(Writer *w, const IrBlock *block)
{
    if (block->predecessor_count)
        fprintf(w->out, "\n$L__BB%u_%u:\n", w->function_number, block->id);
    if (block->unroll == 1)
        fprintf(w->out, "\t.pragma \"nounroll\";\n");
    write_moves(w, w->registers->at_start[block->id]);
    for (const IrInstruction *i = block->first; i != block->last; i = i->next)
        if (is_written(i)) {
            write_line(w, i);
            write_instruction(w, i);
        }
    write_terminator(w, block->last);
}

static void write_kernel(Writer *w, FILE *out)
{
    char *text;
    size_t length;
    w->registers = assign_registers(w->module, (IrFunction *)w->function);
    w->line = w->file = 0;
    memcpy(w->scratch, w->registers->count, sizeof w->scratch);
    place_locals(w);
    w->out = open_memstream(&text, &length);
    if (!w->out)
        sim_die("out of memory for PTX");
    for (const IrBlock *block = w->function->first; block; block = block->next)
        write_block(w, block);
    fclose(w->out);
    write_parameters(out, w->function);
    write_launch_bounds(out, w->function);
    fprintf(out, "{\n");
    write_registers(w, out);
    write_shared_variables(out, w->module, w->function);
    if (w->local_bytes)
        fprintf(out, "\tmov.u64 \t%%SPL, __local_depot%u;\n", w->function_number);
    fprintf(out, "\n%s\n}\n", text);
    free(text);
}

// ---- Modules

// Declares the device functions that the PTX of intrinsics calls.
static void write_externals(FILE *out, const IrModule *module)
{
    static const struct { const char *name, *declaration; } externals[] = {
        {"vprintf", ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);"},
        {"malloc", ".extern .func (.param .b64 func_retval0) malloc(.param .b64 malloc_param_0);"},
        {"free", ".extern .func free(.param .b64 free_param_0);"},
        {"__assertfail", ".extern .func __assertfail(.param .b64 __assertfail_param_0, .param .b64 __assertfail_param_1, "
                         ".param .b32 __assertfail_param_2, .param .b64 __assertfail_param_3, .param .b64 __assertfail_param_4);"}};
    bool is_called[sizeof externals / sizeof *externals] = {false};
    for (const IrFunction *function = module->functions; function; function = function->next)
        for (const IrBlock *block = function->first; block; block = block->next)
            for (const IrInstruction *i = block->first; i; i = i->next)
                for (size_t k = 0; i->op == IR_INTRINSIC && i->intrinsic->ptx && k < sizeof externals / sizeof *externals; k++)
                    is_called[k] |= strstr(i->intrinsic->ptx, "call") && strstr(i->intrinsic->ptx, externals[k].name);
    for (size_t k = 0; k < sizeof externals / sizeof *externals; k++)
        if (is_called[k])
            fprintf(out, "%s\n", externals[k].declaration);
}

static void write_header(FILE *out, const IrModule *module, const CompileOptions *options)
{
    fprintf(out, "//\n// Generated by drywarp\n//\n\n.version 9.0\n.target sm_%d\n.address_size 64\n\n", options->architecture ? options->architecture : 90);
    for (uint32_t k = 0; k < module->file_count; k++)
        fprintf(out, ".file\t%u \"%s\"\n", k + 1, module->files[k]);
}

void ir_write_ptx(FILE *out, const IrModule *module, const CompileOptions *options)
{
    Writer w = {.module = (IrModule *)module};
    write_header(out, module, options);
    write_externals(out, module);
    write_variables(out, module);
    for (const IrFunction *function = module->functions; function; function = function->next) {
        if (!function->kernel || !function->first)
            continue;
        w.function = function;
        write_kernel(&w, out);
        w.function_number++;
        sim_free_arena(&w.module->scratch);
    }
}
