// inline.c: replaces calls of device functions by their bodies, callees first, so that each call is expanded once in each caller.
// Recursion is not supported, and is returned as a problem.
#include "compiler/passes.h"

enum { MAX_CALL_DEPTH = 200 };

enum { NOT_VISITED, IN_PROGRESS, DONE }; // IrFunction.mark

typedef struct Inlining {
    IrModule *module;
    uint64_t instructions, max_instructions;
    IrProblem problem;
} Inlining;

typedef struct Expansion { // the expansion of one call: maps the callee's blocks and values to the caller's
    IrModule *module;
    IrFunction *caller;
    IrBlock **blocks;         // indexed by the callee's block ids
    IrInstruction **values;   // indexed by the callee's instruction ids
    IrBlock *after;           // the block to which the callee returns
    IrInstruction *result;    // a phi in `after`, or NULL
    uint32_t line, file;      // source line of the call
} Expansion;

static uint64_t count_in(const IrFunction *function)
{
    uint64_t count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            count++;
    return count;
}

uint64_t count_instructions(const IrModule *module)
{
    uint64_t count = 0;
    for (const IrFunction *function = module->functions; function; function = function->next)
        count += count_in(function);
    return count;
}

static IrInstruction *caller_value(const Expansion *e, IrInstruction *value)
{
    if (value->op == IR_INTEGER)
        return ir_integer(e->module, e->caller, value->type, value->integer);
    if (value->op == IR_REAL)
        return ir_real(e->module, e->caller, value->type, value->real);
    if (value->op == IR_UNDEFINED)
        return ir_undefined(e->module, e->caller, value->type);
    return e->values[value->id];
}

// Instructions of library functions have no line, and get that of the call.
static void set_line(const Expansion *e, IrInstruction *copy, const IrInstruction *i)
{
    copy->line = i->line ? i->line : e->line;
    copy->file = i->line ? i->file : e->file;
}

static void copy_return(const Expansion *e, IrBlock *block, const IrInstruction *end)
{
    if (e->result)
        ir_add_operand(e->module, e->result,
                       end->operand_count ? caller_value(e, end->operands[0]) : ir_undefined(e->module, e->caller, e->result->type));
    ir_jump(e->module, block, e->after);
    set_line(e, block->last, end);
}

static void copy_terminator(const Expansion *e, IrBlock *block, const IrInstruction *end)
{
    IrModule *module = e->module;
    if (end->op == IR_RETURN) {
        copy_return(e, block, end);
        return;
    }
    IrInstruction *copy = ir_new_instruction(module, e->caller, end->op, IR_VOID, 0, NULL);
    if (end->operand_count)
        ir_add_operand(module, copy, caller_value(e, end->operands[0]));
    set_line(e, copy, end);
    for (uint32_t k = 0; k < ir_target_count(end->block); k++)
        copy->target[k] = e->blocks[end->target[k]->id];
    ir_link_last(block, copy);
}

// A copy without operands, which are added after all values have been copied.
static IrInstruction *copy_bare(const Expansion *e, const IrInstruction *i)
{
    IrInstruction *copy = ir_new_instruction(e->module, e->caller, i->op, i->type, 0, NULL);
    const uint32_t id = copy->id;
    *copy = *i;
    copy->id = id;
    set_line(e, copy, i);
    copy->operands = NULL;
    copy->operand_uses = NULL;
    copy->operand_count = 0;
    copy->uses = NULL;
    copy->block = NULL;
    copy->previous = copy->next = NULL;
    return copy;
}

static void copy_instructions(Expansion *e, const IrBlock *from, IrBlock *to)
{
    for (IrInstruction *i = from->first; i != from->last; i = i->next) {
        if (i->op == IR_ARGUMENT)
            continue;
        IrInstruction *copy = e->values[i->id] = copy_bare(e, i);
        if (i->op == IR_ALLOCA || i->op == IR_SYMBOL)
            ir_link_before(ir_first_not_phi(e->caller->first), copy);
        else
            ir_link_last(to, copy);
    }
}

// Keeps the callee's order of predecessors, which is that of the phis' operands.
static void copy_predecessors(const Expansion *e, const IrBlock *from, IrBlock *to)
{
    to->predecessors = ir_allocate(e->module, (2 * from->predecessor_count + 1) * sizeof *to->predecessors);
    to->predecessor_count = from->predecessor_count;
    for (uint32_t k = 0; k < from->predecessor_count; k++)
        to->predecessors[k] = e->blocks[from->predecessors[k]->id];
}

static void copy_body(Expansion *e, const IrFunction *callee)
{
    for (const IrBlock *block = callee->first; block; block = block->next) {
        e->blocks[block->id] = ir_new_block_before(e->module, e->after);
        e->blocks[block->id]->unroll = block->unroll;
    }
    for (const IrBlock *block = callee->first; block; block = block->next) {
        copy_predecessors(e, block, e->blocks[block->id]);
        copy_instructions(e, block, e->blocks[block->id]);
    }
    for (const IrBlock *block = callee->first; block; block = block->next) {
        for (IrInstruction *i = block->first; i != block->last; i = i->next)
            for (uint32_t k = 0; i->op != IR_ARGUMENT && k < i->operand_count; k++)
                ir_add_operand(e->module, e->values[i->id], caller_value(e, i->operands[k]));
        copy_terminator(e, e->blocks[block->id], block->last);
    }
}

static void expand_call(IrModule *module, IrInstruction *call)
{
    IrFunction *callee = call->callee, *caller = call->block->function;
    Expansion e = {.module = module, .caller = caller, .line = call->line, .file = call->file};
    e.blocks = ir_scratch(module, callee->next_block * sizeof *e.blocks);
    e.values = ir_scratch(module, callee->next_instruction * sizeof *e.values);
    IrBlock *before = call->block;
    e.after = ir_split_block(module, call);
    e.after->predecessor_count = 0; // the edge made by ir_split_block is replaced below
    if (call->type != IR_VOID)
        e.result = ir_phi(module, e.after, call->type);
    for (IrBlock *block = callee->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (i->op == IR_ARGUMENT)
                e.values[i->id] = call->operands[i->index];
    copy_body(&e, callee);
    before->last->target[0] = e.blocks[callee->first->id];
    e.blocks[callee->first->id]->predecessors[0] = before;
    e.blocks[callee->first->id]->predecessor_count = 1;
    if (e.result)
        ir_replace_uses(call, e.after->predecessor_count ? e.result : ir_undefined(module, caller, call->type));
    ir_remove(call);
    if (e.result && !e.after->predecessor_count)
        ir_remove(e.result);
}

static void report(Inlining *in, const char *message, const IrInstruction *call)
{
    if (!in->problem.message)
        in->problem = (IrProblem){.message = message, .line = call->line, .file = call->file};
}

static bool visit(Inlining *in, IrFunction *function, uint32_t depth);

static void expand(Inlining *in, IrInstruction *call, uint32_t depth)
{
    if (!call->callee->first)
        report(in, "the function is declared but not defined", call);
    else if (call->callee->mark == IN_PROGRESS)
        report(in, "a device function that calls itself is not supported", call);
    else if (depth > MAX_CALL_DEPTH)
        report(in, "device functions call each other too deeply", call);
    else if (visit(in, call->callee, depth + 1)) {
        in->instructions += count_in(call->callee);
        if (in->instructions > in->max_instructions)
            report(in, "the kernel has too many instructions once its functions are inlined", call);
        else
            expand_call(in->module, call);
    }
}

static bool visit(Inlining *in, IrFunction *function, uint32_t depth)
{
    if (function->mark == DONE)
        return !in->problem.message;
    function->mark = IN_PROGRESS;
    uint32_t count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            count += i->op == IR_CALL;
    IrInstruction **calls = ir_scratch(in->module, (count + 1) * sizeof *calls);
    count = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (i->op == IR_CALL)
                calls[count++] = i;
    for (uint32_t k = 0; k < count && !in->problem.message; k++)
        expand(in, calls[k], depth);
    if (count)
        ir_remove_unreachable(in->module, function);
    function->mark = DONE;
    return !in->problem.message;
}

static void keep_kernels(IrModule *module)
{
    for (IrFunction **at = &module->functions; *at;)
        if ((*at)->kernel)
            at = &(*at)->next;
        else
            *at = (*at)->next;
}

IrProblem inline_functions(IrModule *module, uint64_t max_instructions)
{
    Inlining in = {.module = module, .max_instructions = max_instructions, .instructions = count_instructions(module)};
    for (IrFunction *function = module->functions; function; function = function->next)
        function->mark = NOT_VISITED;
    for (IrFunction *function = module->functions; function && !in.problem.message; function = function->next)
        if (function->kernel && function->first)
            visit(&in, function, 0);
    if (!in.problem.message)
        keep_kernels(module);
    sim_free_arena(&module->scratch);
    return in.problem;
}
