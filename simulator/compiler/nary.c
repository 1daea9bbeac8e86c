// nary.c: reuse of sums. (a + b) + c becomes (a + c) + b if a + c has been computed already (NaryReassociate in LLVM). The indices of an
// unrolled loop, tile + (warp + 32) + lane and so on, then differ from the first one by a constant.
#include "compiler/passes.h"

enum { MAX_CANDIDATES = 64 };

static bool is_sum(const IrInstruction *i)
{
    return i->op == IR_ADD && (i->type == IR_B32 || i->type == IR_B64);
}

// A sum of a and b that dominates `i`; or NULL.
static IrInstruction *find_sum(const Dominators *d, const IrInstruction *i, const IrInstruction *a, const IrInstruction *b)
{
    const IrInstruction *value = ir_is_constant(a) ? b : a, *other = value == a ? b : a;
    uint32_t steps = 0;
    for (const IrUse *use = ir_is_constant(value) ? NULL : value->uses; use && steps++ < MAX_CANDIDATES; use = use->next) {
        IrInstruction *sum = use->user;
        if (sum != i && is_sum(sum) && sum->operands[!use->operand] == other && value_dominates(d, sum, i))
            return sum;
    }
    return NULL;
}

static bool reassociate(IrModule *module, const Dominators *d, IrInstruction *i)
{
    for (uint32_t k = 0; k < 2; k++) {
        const IrInstruction *inner = i->operands[k], *rest = i->operands[!k];
        if (!is_sum(inner) || !ir_has_one_use(inner))
            continue;
        for (uint32_t j = 2; j-- > 0;) { // the summand that stays
            IrInstruction *found = inner->operands[j] == rest ? NULL : find_sum(d, i, inner->operands[!j], rest);
            if (!found)
                continue;
            ir_replace(i, ir_binary(module, i, IR_ADD, found, inner->operands[j], 0));
            return true;
        }
    }
    return false;
}

bool reuse_sums(IrModule *module, IrFunction *function)
{
    const Dominators *d = dominators_of(module, function);
    bool changed = false;
    for (uint32_t k = 0; k < d->count; k++)
        for (IrInstruction *i = d->order[k]->first, *next; i; i = next) {
            next = i->next;
            if (is_sum(i))
                changed |= reassociate(module, d, i);
        }
    return changed;
}
