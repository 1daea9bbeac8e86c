// reconverge.c: the reconvergence point of each divergent branch, its immediate post-dominator. (Cooper, Harvey and Kennedy,
// "A Simple, Fast Dominance Algorithm", on the reversed graph.)
//
// Lanes that exit the kernel do not reconverge, so edges on which they do so are pruned first. For edges out of a loop the
// right choice is not known statically. First those that exit at once are pruned (PRUNE_SHORT). If lanes could then iterate
// and exit without reaching the point found, it is computed again with the other exits pruned (PRUNE_LONG).
#include "front/flow.h"

#include <string.h>

enum { MAX_BLOCKS = 256 }; // of a path that counts as an exit

typedef struct Walk { // work list of a graph search
    uint32_t *found, count;
    bool *reached;
} Walk;

typedef enum LoopExits { PRUNE_SHORT, PRUNE_LONG } LoopExits; // which exits from a loop are pruned: immediate ones, or others

typedef struct PostDominatorTree {
    uint32_t *order, *rank; // blocks in postorder from the exit; a block's index in it
    uint32_t order_count;
    uint32_t *dominator;
} PostDominatorTree;

// ---- Pruning edges on which lanes exit

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

static void clear_walk(Walk *walk)
{
    while (walk->count > 0)
        walk->reached[walk->found[--walk->count]] = false;
}

// Whether the instruction ends the lanes that execute it.
static bool may_end_lanes(const Function *function, const Instr *i)
{
    return i->control == EXIT || (i->control == RETURN && function->entry);
}

// The graph without edges to blocks that inevitably fail: assertions and traps.
static FlowGraph prune_failures(Arena *arena, const Program *p, const FlowGraph *f)
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

// Whether all lanes that reach the block exit at once.
static bool is_exit(const Function *function, const Program *p, const FlowGraph *f, uint32_t block)
{
    const Instr *first = &p->code[f->first[block]];
    for (uint32_t k = 0; k < f->count && first->control == BRANCH && first->guard == NOWHERE; k++)
        first = &p->code[first->target];
    return may_end_lanes(function, first) && first->guard == NOWHERE;
}

// Whether lanes that take the edge run code that only they run, and then exit.
static bool is_exit_edge(const Function *function, const Program *p, const FlowGraph *f, uint32_t from, uint32_t to, Walk *walk)
{
    if (to == f->count - 1 && may_end_lanes(function, sim_terminator(p, f, from)))
        return true;
    clear_walk(walk);
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
    for (uint32_t k = 0; k < walk->count; k++) { // is the code reachable from elsewhere?
        const uint32_t b = walk->found[k];
        for (uint32_t n = 0; n < f->predecessor_count[b] && !is_exit(function, p, f, b); n++) {
            const uint32_t before = f->predecessors[b][n];
            if (!walk->reached[before] && (before != from || b != to))
                return false;
        }
    }
    return true;
}

// Whether lanes that take the edge may return to `from`.
static bool can_return(const FlowGraph *f, uint32_t from, uint32_t to, Walk *walk)
{
    clear_walk(walk);
    reach(walk, to);
    for (uint32_t k = 0; k < walk->count && !walk->reached[from]; k++)
        for (uint32_t n = 0; n < f->successor_count[walk->found[k]]; n++)
            reach(walk, f->successors[walk->found[k]][n]);
    return walk->reached[from];
}

// Whether the block's last branch is in a loop.
static bool is_in_loop(const FlowGraph *f, uint32_t block, Walk *walk)
{
    bool in_loop = false;
    for (uint32_t n = 0; n < f->successor_count[block]; n++)
        in_loop |= can_return(f, block, f->successors[block][n], walk);
    return in_loop;
}

// The graph without edges on which some lanes of a branch exit while others continue; in loops only those that `exits` selects.
static FlowGraph prune_exits(Arena *arena, const Function *function, const Program *p, const FlowGraph *f, LoopExits exits)
{
    FlowGraph kept = *f;
    Walk walk = new_walk(arena, f->count);
    kept.successors = sim_allocate(arena, f->count * sizeof *kept.successors);
    kept.successor_count = sim_allocate(arena, f->count * sizeof *kept.successor_count);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        const uint32_t n = f->successor_count[b];
        uint32_t *to = kept.successors[b] = sim_allocate(arena, ((size_t)n + 1) * sizeof *to), kept_count = 0;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t next = f->successors[b][k];
            const bool chosen = is_exit(function, p, f, next) == (exits == PRUNE_SHORT);
            const bool pruned = is_exit_edge(function, p, f, b, next, &walk) && (chosen || !is_in_loop(f, b, &walk));
            if (n == 1 || !pruned)
                to[kept_count++] = next;
        }
        for (uint32_t k = 0; k < n && kept_count == 0; k++) // all edges exit: prune only immediate ones
            if (!is_exit(function, p, f, f->successors[b][k]))
                to[kept_count++] = f->successors[b][k];
        if (kept_count == 0)
            memcpy(to, f->successors[b], (kept_count = n) * sizeof *to);
        kept.successor_count[b] = kept_count;
    }
    sim_find_predecessors(arena, &kept);
    return kept;
}

// ---- Post-dominators

// Postorder of a depth-first search from the exit along predecessors.
static void postorder(Arena *arena, const FlowGraph *f, PostDominatorTree *t)
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

// Restores the edges of blocks from which the exit is unreachable, as in a loop that is only left by exiting.
static void restore_last_exits(Arena *arena, const FlowGraph *all, FlowGraph *f, PostDominatorTree *t)
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
        postorder(arena, f, t);
    }
}

static uint32_t intersect(const PostDominatorTree *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (t->rank[a] < t->rank[b])
            a = t->dominator[a];
        while (t->rank[b] < t->rank[a])
            b = t->dominator[b];
    }
    return a;
}

static void find_dominators(Arena *arena, const FlowGraph *f, PostDominatorTree *t)
{
    t->dominator = sim_allocate(arena, f->count * sizeof *t->dominator);
    memset(t->dominator, 0xff, f->count * sizeof *t->dominator);
    const uint32_t end = f->count - 1;
    t->dominator[end] = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = t->order_count - 1; k-- > 0;) { // reverse postorder, without the exit
            const uint32_t b = t->order[k];
            uint32_t found = NOWHERE;
            for (uint32_t n = 0; n < f->successor_count[b]; n++) {
                const uint32_t to = f->successors[b][n];
                if (t->dominator[to] != NOWHERE)
                    found = found == NOWHERE ? to : intersect(t, found, to);
            }
            changed |= t->dominator[b] != found;
            t->dominator[b] = found;
        }
    }
}

// Whether lanes from block b may iterate without reaching the reconvergence point, until they exit on a pruned edge.
static bool may_be_missed(const FlowGraph *all, const FlowGraph *kept, uint32_t b, uint32_t reconvergence_pc, Walk *walk)
{
    bool out = false;
    clear_walk(walk);
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

// Post-dominators of the pruned graph `kept`.
static PostDominatorTree find_post_dominators(Arena *arena, const Function *function, const Program *p, const FlowGraph *flow, const FlowGraph *all,
                      FlowGraph *kept, LoopExits exits)
{
    PostDominatorTree tree;
    *kept = prune_exits(arena, function, p, all, exits);
    postorder(arena, kept, &tree);
    restore_last_exits(arena, all, kept, &tree);
    restore_last_exits(arena, flow, kept, &tree);
    find_dominators(arena, kept, &tree);
    return tree;
}

void sim_find_reconvergence(Arena *arena, const Function *function, Program *p, const FlowGraph *flow)
{
    const FlowGraph all = prune_failures(arena, p, flow);
    FlowGraph kept, long_kept;
    const PostDominatorTree tree = find_post_dominators(arena, function, p, flow, &all, &kept, PRUNE_SHORT);
    PostDominatorTree long_tree = {.dominator = NULL};
    Walk walk = new_walk(arena, flow->count);
    for (uint32_t b = 0; b + 1 < flow->count; b++) {
        uint32_t reconvergence_pc = tree.dominator[b];
        const FlowGraph *ways = &kept;
        if (flow->successor_count[b] > 1 && reconvergence_pc != NOWHERE && may_be_missed(&all, &kept, b, reconvergence_pc, &walk)) {
            if (!long_tree.dominator)
                long_tree = find_post_dominators(arena, function, p, flow, &all, &long_kept, PRUNE_LONG);
            reconvergence_pc = long_tree.dominator[b];
            ways = &long_kept;
        }
        // No point if the branch's other lanes exit, or if the point is only an exit.
        const bool alone = ways->successor_count[b] == 1 && flow->successor_count[b] > 1;
        const bool no_reconvergence = alone || reconvergence_pc == NOWHERE || is_exit(function, p, flow, reconvergence_pc);
        sim_terminator(p, flow, b)->reconvergence_pc = no_reconvergence ? NOWHERE : flow->first[reconvergence_pc];
    }
}
