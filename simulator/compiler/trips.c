// trips.c: how often loops run. Of a loop that counts with constants the exit test is run until it fails; of others the bound and
// the step are found.
#include "compiler/clone.h"
#include "compiler/simplify.h"

enum { MAX_DEPTH = 16 };

typedef struct Evaluation { // of a loop's values in one iteration
    IrModule *module;
    const Loops *loops;
    const Loop *loop;
    IrInstruction **now; // of an instruction's id: the constants that header phis have
    Simplifier simplifier;
} Evaluation;

// The constant that a value of the loop has now, or NULL.
static IrInstruction *evaluate(Evaluation *e, IrInstruction *value, uint32_t depth)
{
    if (ir_is_constant(value))
        return value->op == IR_UNDEFINED ? NULL : value;
    if (depth > MAX_DEPTH || loop_invariant(e->loops, e->loop, value))
        return NULL;
    if (value->op == IR_PHI)
        return value->block == e->loop->header ? e->now[value->id] : NULL;
    if (value->op > IR_BITCAST || !value->operand_count || value->operand_count > 3)
        return NULL;
    IrInstruction copy = *value, *operands[3];
    for (uint32_t k = 0; k < value->operand_count; k++)
        if (!(operands[k] = evaluate(e, value->operands[k], depth + 1)))
            return NULL;
    copy.operands = operands;
    return fold_constants(&e->simplifier, &copy);
}

static void start(Evaluation *e, const IrBlock *preheader)
{
    const uint32_t from = ir_edge_index(preheader, 0);
    for (const IrInstruction *phi = e->loop->header->first; phi->op == IR_PHI; phi = phi->next)
        if (phi->operands[from]->op == IR_INTEGER)
            e->now[phi->id] = phi->operands[from];
}

static void advance(Evaluation *e, const IrBlock *latch, IrInstruction **next)
{
    uint32_t from = 0, count = 0;
    while (e->loop->header->predecessors[from] != latch)
        from++;
    for (const IrInstruction *phi = e->loop->header->first; phi->op == IR_PHI; phi = phi->next)
        next[count++] = e->now[phi->id] ? evaluate(e, phi->operands[from], 0) : NULL;
    count = 0;
    for (const IrInstruction *phi = e->loop->header->first; phi->op == IR_PHI; phi = phi->next)
        e->now[phi->id] = next[count++];
}

uint32_t constant_trips(IrModule *module, const Loops *loops, const Loop *loop, uint32_t most)
{
    IrBlock *latch = loop_latch(loops, loop);
    const IrBlock *preheader = loop_preheader(loops, loop);
    if (!latch || !preheader || latch->last->op != IR_BRANCH)
        return 0;
    const uint32_t back = latch->last->target[0] == loop->header ? 0 : 1;
    if (latch->last->target[back] != loop->header || latch->last->target[!back] == loop->header)
        return 0;
    IrFunction *function = loop->header->function;
    Evaluation e = {.module = module, .loops = loops, .loop = loop, .simplifier = {.module = module, .function = function}};
    uint32_t phis = 0;
    for (const IrInstruction *phi = loop->header->first; phi->op == IR_PHI; phi = phi->next)
        phis++;
    e.now = ir_scratch(module, function->next_instruction * sizeof *e.now);
    IrInstruction **next = ir_scratch(module, (phis + 1) * sizeof *next);
    start(&e, preheader);
    for (uint32_t trips = 1; trips <= most; trips++) {
        const IrInstruction *condition = evaluate(&e, latch->last->operands[0], 0);
        if (!condition)
            return 0;
        if ((condition->integer != 0) != (back == 0))
            return trips;
        advance(&e, latch, next);
    }
    return 0;
}

// The header phi that grows by an invariant step.
static bool find_induction(const Loops *loops, const Loop *loop, const IrBlock *latch, IrInstruction *value, Trips *trips)
{
    IrInstruction *phi = value->op == IR_PHI ? value : value->op == IR_ADD ? value->operands[0] : NULL;
    if (phi && phi->op != IR_PHI && value->op == IR_ADD)
        phi = value->operands[1];
    if (!phi || phi->op != IR_PHI || phi->block != loop->header || phi->operand_count != 2)
        return false;
    IrInstruction *next = phi->operands[loop->header->predecessors[0] == latch ? 0 : 1];
    if (next->op != IR_ADD || (value != phi && value != next))
        return false;
    IrInstruction *step = next->operands[0] == phi ? next->operands[1] : next->operands[1] == phi ? next->operands[0] : NULL;
    if (!step || !loop_invariant(loops, loop, step))
        return false;
    trips->phi = phi;
    trips->next = next;
    trips->step = step;
    trips->compares_next = value == next;
    return true;
}

bool find_trips(const Loops *loops, const Loop *loop, Trips *trips)
{
    IrBlock *latch = loop_latch(loops, loop);
    if (!latch || latch->last->op != IR_BRANCH)
        return false;
    IrInstruction *compare = latch->last->operands[0];
    if (compare->op != IR_COMPARE || ir_is_float_type(compare->operands[0]->type) || compare->operands[0]->type == IR_PRED)
        return false;
    IrInstruction *variable = compare->operands[0], *bound = compare->operands[1];
    trips->relation = compare->compare;
    if (loop_invariant(loops, loop, variable)) {
        IrInstruction *swapped = variable;
        variable = bound;
        bound = swapped;
        trips->relation = swapped_compare(trips->relation);
    }
    if (!loop_invariant(loops, loop, bound) || !find_induction(loops, loop, latch, variable, trips))
        return false;
    if (latch->last->target[0] != loop->header)
        trips->relation = inverse_compare(trips->relation);
    trips->compare = compare;
    trips->bound = bound;
    trips->is_signed = compare->flags & IR_SIGNED;
    return true;
}
