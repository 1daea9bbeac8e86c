// reassociate.c: sums of integers within a block. Equal summands become one multiplication, and all constants one summand: with unrolled
// loops, x + (x + 1) + (x + 2) becomes 3 * x + 3.
#include "compiler/rewrite.h"
#include "compiler/passes.h"

enum { MAX_SUMMANDS = 512 };

typedef struct Sum {
    const IrInstruction *root;
    IrInstruction *values[MAX_SUMMANDS]; // distinct; IrInstruction.mark is the index + 1
    uint64_t factors[MAX_SUMMANDS];
    uint64_t constant;
    uint32_t count, summands; // summands: with repetitions, and constants
    uint32_t constants;
} Sum;

static bool is_inner(const Sum *sum, const IrInstruction *value)
{
    return value == sum->root || (value->op == IR_ADD && value->type == sum->root->type && value->block == sum->root->block && ir_has_one_use(value));
}

static void add_value(Sum *sum, IrInstruction *value, uint64_t factor)
{
    if (!value->mark) {
        sum->values[sum->count] = value;
        sum->factors[sum->count] = 0;
        value->mark = ++sum->count;
    }
    sum->factors[value->mark - 1] += factor;
}

static void add_summand(Sum *sum, IrInstruction *value)
{
    sum->summands++;
    if (value->op == IR_INTEGER) {
        sum->constant += (uint64_t)value->integer;
        sum->constants++;
        return;
    }
    const bool has_constant = value->operand_count == 2 && value->operands[1]->op == IR_INTEGER && value->type == sum->root->type;
    if (value->op == IR_ADD && has_constant) { // used elsewhere, too
        sum->constant += (uint64_t)value->operands[1]->integer;
        add_value(sum, value->operands[0], 1);
    } else if (value->op == IR_MUL && has_constant && ir_has_one_use(value)) {
        add_value(sum, value->operands[0], (uint64_t)value->operands[1]->integer);
    } else {
        add_value(sum, value, 1);
    }
}

// Lists the summands in the order of the source; false if there are too many.
static bool list_summands(Sum *sum, IrInstruction *root)
{
    IrInstruction *todo[MAX_SUMMANDS] = {root};
    uint32_t count = 1;
    while (count) {
        IrInstruction *value = todo[--count];
        if (!is_inner(sum, value)) {
            add_summand(sum, value);
            continue;
        }
        if (count + sum->summands + 2 > MAX_SUMMANDS)
            return false;
        todo[count++] = value->operands[1];
        todo[count++] = value->operands[0];
    }
    return true;
}

static IrInstruction *product_of(IrModule *module, IrInstruction *root, IrInstruction *value, uint64_t factor)
{
    return factor == 1 ? value : ir_binary(module, root, IR_MUL, value, ir_integer(module, root->block->function, root->type, (int64_t)factor), 0);
}

static void rebuild(IrModule *module, const Sum *sum, IrInstruction *root)
{
    IrInstruction *total = NULL;
    for (uint32_t k = 0; k < sum->count; k++) {
        IrInstruction *product = product_of(module, root, sum->values[k], sum->factors[k]);
        total = total ? ir_binary(module, root, IR_ADD, total, product, 0) : product;
    }
    ir_replace(root, ir_binary(module, root, IR_ADD, total, ir_integer(module, root->block->function, root->type, (int64_t)sum->constant), 0));
}

static bool reassociate(IrModule *module, Sum *sum, IrInstruction *root)
{
    *sum = (Sum){.root = root};
    const bool listed = list_summands(sum, root), is_shorter = listed && sum->count && sum->count + (sum->constants > 0) < sum->summands;
    for (uint32_t k = 0; k < sum->count; k++)
        sum->values[k]->mark = 0;
    if (is_shorter)
        rebuild(module, sum, root);
    return is_shorter;
}

bool reassociate_sums(IrModule *module, IrFunction *function)
{
    Sum *sum = ir_scratch(module, sizeof *sum);
    bool changed = false;
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->last, *previous; i; i = previous) {
            previous = i->previous;
            const bool is_root = i->op == IR_ADD && (i->type == IR_B32 || i->type == IR_B64) && i->uses;
            if (is_root && !(ir_has_one_use(i) && i->uses->user->op == IR_ADD && i->uses->user->block == block))
                changed |= reassociate(module, sum, i);
        }
    return changed;
}
