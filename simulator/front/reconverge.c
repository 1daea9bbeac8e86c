// reconverge.c: where the lanes of a divergent branch meet again: at the first instruction that every way from
// the branch to the function's end comes through, its immediate post-dominator. (Cooper, Harvey and Kennedy, "A
// Simple, Fast Dominance Algorithm", run on the reversed graph.) Lanes that leave the kernel meet nobody, so ways
// on which they do so are left out: they must not decide where the others meet. Which ways out of a loop its lanes
// take, one cannot see. First those that end at once are left out; where lanes could then go round and round, and end,
// without ever coming to the point so found, it is looked for with the others left out.
#include "front/flow.h"

#include <string.h>

enum { MAX_BLOCKS = 256 }; // that a way may have to count as one that leaves

typedef struct Walk { // blocks that a walk has reached
    uint32_t *found, count;
    bool *reached;
} Walk;

typedef enum LoopExits { LEAVE_OUT_SHORT, LEAVE_OUT_LONG } LoopExits; // which ways out of a loop: that end at once, or not

typedef struct Tree { // of post-dominators
    uint32_t *order, *rank; // blocks as a walk from the end leaves them; place in that order
    uint32_t order_count;
    uint32_t *dominator;
} Tree;

// ---- Ways that leave

static Walk new_walk(Arena *arena, uint32_t blocks)
{
    return (Walk){sim_allocate(arena, blocks * sizeof(uint32_t)), 0, sim_allocate(arena, blocks)};
}

static void reach(Walk *walk, uint32_t block)
{
    if (!walk->reached[block])
        walk->found[walk->count++] = block;
    walk->reached[block] = true;
}

static void forget(Walk *walk)
{
    while (walk->count > 0)
        walk->reached[walk->found[--walk->count]] = false;
}

// Whether lanes that run the instruction end with it.
static bool may_end_lanes(const Function *function, const Instr *i)
{
    return i->control == EXIT || (i->control == RETURN && function->entry);
}

// The same ways, without those on which nothing comes but a failed assertion or a trap.
static FlowGraph without_failures(Arena *arena, const Program *p, const FlowGraph *f)
{
    FlowGraph kept = *f;
    bool *fails = sim_allocate(arena, f->count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->count - 1; b-- > 0;) {
            const Instr *last = sim_terminator(p, f, b);
            bool all = f->successor_count[b] > 0;
            for (uint32_t n = 0; n < f->successor_count[b]; n++)
                all &= fails[f->successors[b][n]];
            const bool now = all || (last->effects & FAILS && last->guard == NOWHERE);
            changed |= now != fails[b];
            fails[b] = now;
        }
    }
    kept.successors = sim_allocate(arena, f->count * sizeof *kept.successors);
    kept.successor_count = sim_allocate(arena, f->count * sizeof *kept.successor_count);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        kept.successors[b] = sim_allocate(arena, ((size_t)f->successor_count[b] + 1) * sizeof **kept.successors);
        for (uint32_t n = 0; n < f->successor_count[b]; n++)
            if (fails[b] || !fails[f->successors[b][n]])
                kept.successors[b][kept.successor_count[b]++] = f->successors[b][n];
    }
    sim_find_predecessors(arena, &kept);
    return kept;
}

// Whether lanes that come to the block all end there at once.
static bool is_exit(const Function *function, const Program *p, const FlowGraph *f, uint32_t block)
{
    const Instr *first = &p->code[f->first[block]];
    for (uint32_t k = 0; k < f->count && first->control == BRANCH && first->guard == NOWHERE; k++)
        first = &p->code[first->target];
    return may_end_lanes(function, first) && first->guard == NOWHERE;
}

// Whether lanes that go from block `from` to block `to` do something only they do, and end.
static bool leaves(const Function *function, const Program *p, const FlowGraph *f, uint32_t from, uint32_t to, Walk *walk)
{
    if (to == f->count - 1 && may_end_lanes(function, sim_terminator(p, f, from)))
        return true;
    forget(walk);
    reach(walk, to);
    for (uint32_t k = 0; k < walk->count; k++) {
        const uint32_t b = walk->found[k];
        if (is_exit(function, p, f, b))
            continue;
        if (k == MAX_BLOCKS || b == from || b == f->count - 1 ||
            (sim_terminator(p, f, b)->control == RETURN && !function->entry))
            return false;
        for (uint32_t n = 0; n < f->successor_count[b]; n++)
            if (f->successors[b][n] != f->count - 1 || !may_end_lanes(function, sim_terminator(p, f, b)))
                reach(walk, f->successors[b][n]);
    }
    for (uint32_t k = 0; k < walk->count; k++) { // does anybody else come there?
        const uint32_t b = walk->found[k];
        for (uint32_t n = 0; n < f->predecessor_count[b] && !is_exit(function, p, f, b); n++) {
            const uint32_t before = f->predecessors[b][n];
            if (!walk->reached[before] && (before != from || b != to))
                return false;
        }
    }
    return true;
}

// Whether lanes that go from block `from` to block `to` may come back to it.
static bool returns(const FlowGraph *f, uint32_t from, uint32_t to, Walk *walk)
{
    forget(walk);
    reach(walk, to);
    for (uint32_t k = 0; k < walk->count && !walk->reached[from]; k++)
        for (uint32_t n = 0; n < f->successor_count[walk->found[k]]; n++)
            reach(walk, f->successors[walk->found[k]][n]);
    return walk->reached[from];
}

// Whether the block's last branch turns a loop or leaves one.
static bool is_in_loop(const FlowGraph *f, uint32_t block, Walk *walk)
{
    bool in_loop = false;
    for (uint32_t n = 0; n < f->successor_count[block]; n++)
        in_loop |= returns(f, block, f->successors[block][n], walk);
    return in_loop;
}

// The same ways, without those on which lanes leave a branch whose other lanes stay; out of a loop some of them.
static FlowGraph without_exits(Arena *arena, const Function *function, const Program *p, const FlowGraph *f, LoopExits exits)
{
    FlowGraph kept = *f;
    Walk walk = new_walk(arena, f->count);
    kept.successors = sim_allocate(arena, f->count * sizeof *kept.successors);
    kept.successor_count = sim_allocate(arena, f->count * sizeof *kept.successor_count);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        const uint32_t n = f->successor_count[b];
        uint32_t *to = kept.successors[b] = sim_allocate(arena, ((size_t)n + 1) * sizeof *to), stay = 0;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t next = f->successors[b][k];
            const bool chosen = is_exit(function, p, f, next) == (exits == LEAVE_OUT_SHORT);
            const bool gone = leaves(function, p, f, b, next, &walk) && (chosen || !is_in_loop(f, b, &walk));
            if (n == 1 || !gone)
                to[stay++] = next;
        }
        for (uint32_t k = 0; k < n && stay == 0; k++) // all leave: no way is left out, but for short ones
            if (!is_exit(function, p, f, f->successors[b][k]))
                to[stay++] = f->successors[b][k];
        if (stay == 0)
            memcpy(to, f->successors[b], (stay = n) * sizeof *to);
        kept.successor_count[b] = stay;
    }
    sim_find_predecessors(arena, &kept);
    return kept;
}

// ---- Post-dominators

// Walks backwards from the end, and lists each block after all that it was reached before.
static void find_order(Arena *arena, const FlowGraph *f, Tree *t)
{
    uint32_t *stack = sim_allocate(arena, f->count * sizeof *stack),
             *next = sim_allocate(arena, f->count * sizeof *next);
    uint32_t depth = 0;
    t->order = sim_allocate(arena, f->count * sizeof *t->order);
    t->rank = sim_allocate(arena, f->count * sizeof *t->rank);
    memset(t->rank, 0xff, f->count * sizeof *t->rank);
    t->order_count = 0;
    bool *seen = sim_allocate(arena, f->count);
    stack[depth++] = f->count - 1;
    seen[f->count - 1] = true;
    while (depth > 0) {
        const uint32_t b = stack[depth - 1];
        if (next[b] < f->predecessor_count[b]) {
            const uint32_t from = f->predecessors[b][next[b]++];
            if (!seen[from]) {
                seen[from] = true;
                stack[depth++] = from;
            }
        } else {
            t->rank[b] = t->order_count;
            t->order[t->order_count++] = b;
            depth--;
        }
    }
}

// Where no way is left from a block to the end, as from a loop that lanes only leave to end, puts its ways back.
static void keep_last_exits(Arena *arena, const FlowGraph *all, FlowGraph *f, Tree *t)
{
    bool changed = false;
    for (uint32_t b = 0; b + 1 < f->count; b++)
        if (t->rank[b] == NOWHERE && f->successor_count[b] < all->successor_count[b]) {
            f->successors[b] = all->successors[b];
            f->successor_count[b] = all->successor_count[b];
            changed = true;
        }
    if (changed) {
        sim_find_predecessors(arena, f);
        find_order(arena, f, t);
    }
}

static uint32_t common(const Tree *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (t->rank[a] < t->rank[b])
            a = t->dominator[a];
        while (t->rank[b] < t->rank[a])
            b = t->dominator[b];
    }
    return a;
}

static void find_dominators(Arena *arena, const FlowGraph *f, Tree *t)
{
    t->dominator = sim_allocate(arena, f->count * sizeof *t->dominator);
    memset(t->dominator, 0xff, f->count * sizeof *t->dominator);
    const uint32_t end = f->count - 1;
    t->dominator[end] = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = t->order_count - 1; k-- > 0;) { // from the end backwards, without it
            const uint32_t b = t->order[k];
            uint32_t found = NOWHERE;
            for (uint32_t n = 0; n < f->successor_count[b]; n++) {
                const uint32_t to = f->successors[b][n];
                if (t->dominator[to] != NOWHERE)
                    found = found == NOWHERE ? to : common(t, found, to);
            }
            changed |= t->dominator[b] != found;
            t->dominator[b] = found;
        }
    }
}

// Whether lanes may go from block b round and round without coming to the join, until they end on a way left out.
static bool may_be_missed(const FlowGraph *all, const FlowGraph *kept, uint32_t b, uint32_t reconvergence_pc, Walk *walk)
{
    bool out = false;
    forget(walk);
    for (uint32_t n = 0; n < kept->successor_count[b]; n++)
        if (kept->successors[b][n] != reconvergence_pc)
            reach(walk, kept->successors[b][n]);
    for (uint32_t k = 0; k < walk->count; k++) {
        const uint32_t at = walk->found[k];
        out |= kept->successor_count[at] < all->successor_count[at];
        for (uint32_t n = 0; n < kept->successor_count[at]; n++)
            if (kept->successors[at][n] != reconvergence_pc)
                reach(walk, kept->successors[at][n]);
    }
    return out && walk->reached[b];
}

// The ways that are left, and who post-dominates whom on them.
static Tree find_tree(Arena *arena, const Function *function, const Program *p, const FlowGraph *flow, const FlowGraph *all,
                      FlowGraph *kept, LoopExits exits)
{
    Tree tree;
    *kept = without_exits(arena, function, p, all, exits);
    find_order(arena, kept, &tree);
    keep_last_exits(arena, all, kept, &tree);
    keep_last_exits(arena, flow, kept, &tree);
    find_dominators(arena, kept, &tree);
    return tree;
}

void sim_find_reconvergence(Arena *arena, const Function *function, Program *p, const FlowGraph *flow)
{
    const FlowGraph all = without_failures(arena, p, flow);
    FlowGraph kept, others_kept;
    const Tree tree = find_tree(arena, function, p, flow, &all, &kept, LEAVE_OUT_SHORT);
    Tree others = {.dominator = NULL};
    Walk walk = new_walk(arena, flow->count);
    for (uint32_t b = 0; b + 1 < flow->count; b++) {
        uint32_t reconvergence_pc = tree.dominator[b];
        const FlowGraph *ways = &kept;
        if (flow->successor_count[b] > 1 && reconvergence_pc != NOWHERE && may_be_missed(&all, &kept, b, reconvergence_pc, &walk)) {
            if (!others.dominator)
                others = find_tree(arena, function, p, flow, &all, &others_kept, LEAVE_OUT_LONG);
            reconvergence_pc = others.dominator[b];
            ways = &others_kept;
        }
        // Lanes that go on alone, as the others leave, wait for nobody; nor do those that only meet to end, or never.
        const bool alone = ways->successor_count[b] == 1 && flow->successor_count[b] > 1;
        const bool nobody = alone || reconvergence_pc == NOWHERE || is_exit(function, p, flow, reconvergence_pc);
        sim_terminator(p, flow, b)->reconvergence_pc = nobody ? NOWHERE : flow->first[reconvergence_pc];
    }
}
