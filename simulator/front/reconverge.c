// reconverge.c: finds the reconvergence point of each divergent branch: its immediate post-dominator. (Cooper, Harvey and
// Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph.)
//
// Lanes that exit the kernel do not reconverge, so the edges on which they exit are pruned first. Which edges out of a loop to
// prune is not known statically. The first attempt prunes those that exit immediately (PRUNE_IMMEDIATE_EXITS). If lanes could
// then iterate and exit without reaching the reconvergence point, the second attempt prunes the other exits of the loop instead
// (PRUNE_DELAYED_EXITS). In this file "block" means basic block.
#include "front/flow.h"

#include <string.h>

enum { MAX_EXIT_BLOCKS = 256 }; // that lanes execute on a path that counts as an exit

typedef struct Worklist { // of a graph search
    uint32_t *blocks, count; // in the order of the visit
    bool *visited;           // indexed by block
} Worklist;

typedef enum LoopExits { PRUNE_IMMEDIATE_EXITS, PRUNE_DELAYED_EXITS } LoopExits;

typedef struct PostDominatorTree {
    uint32_t *postorder;       // blocks from which the exit is reachable, in postorder of the reversed graph
    uint32_t *postorder_index; // each block's index in `postorder`, or NO_INDEX
    uint32_t reachable_count;  // number of blocks in `postorder`
    uint32_t *ipdom;           // each block's immediate post-dominator, or NO_INDEX
} PostDominatorTree;

// ---- Pruning edges on which lanes exit

static Worklist new_worklist(Arena *arena, uint32_t blocks)
{
    return (Worklist){sim_allocate(arena, blocks * sizeof(uint32_t)), 0, sim_allocate(arena, blocks)};
}

static void push_block(Worklist *worklist, uint32_t block)
{
    if (!worklist->visited[block])
        worklist->blocks[worklist->count++] = block;
    worklist->visited[block] = true;
}

static void clear_worklist(Worklist *worklist)
{
    while (worklist->count > 0)
        worklist->visited[worklist->blocks[--worklist->count]] = false;
}

// True if lanes that execute the instruction exit the kernel.
static bool is_exit(const Function *function, const Instr *i)
{
    return i->control == EXIT || (i->control == RETURN && function->is_kernel);
}

// The graph without edges to blocks in which all lanes end in a failed assertion or a trap.
static FlowGraph prune_failures(Arena *arena, const Program *p, const FlowGraph *f)
{
    FlowGraph pruned = *f;
    bool *fails = sim_allocate(arena, f->count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = f->count - 1; b-- > 0;) {
            const Instr *last = sim_terminator(p, f, b);
            bool all_fail = f->successor_count[b] > 0;
            for (uint32_t n = 0; n < f->successor_count[b]; n++)
                all_fail &= fails[f->successors[b][n]];
            const bool is_failing = all_fail || (last->effects & FAILS && last->guard == NO_OFFSET);
            changed |= is_failing != fails[b];
            fails[b] = is_failing;
        }
    }
    pruned.successors = sim_allocate(arena, f->count * sizeof *pruned.successors);
    pruned.successor_count = sim_allocate(arena, f->count * sizeof *pruned.successor_count);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        pruned.successors[b] = sim_allocate(arena, ((size_t)f->successor_count[b] + 1) * sizeof **pruned.successors);
        for (uint32_t n = 0; n < f->successor_count[b]; n++)
            if (fails[b] || !fails[f->successors[b][n]])
                pruned.successors[b][pruned.successor_count[b]++] = f->successors[b][n];
    }
    sim_find_predecessors(arena, &pruned);
    return pruned;
}

// True if all lanes that reach the block exit immediately.
static bool exits_immediately(const Function *function, const Program *p, const FlowGraph *f, uint32_t block)
{
    const Instr *first = &p->code[f->first[block]];
    for (uint32_t k = 0; k < f->count && first->control == BRANCH && first->guard == NO_OFFSET; k++)
        first = &p->code[first->target];
    return is_exit(function, first) && first->guard == NO_OFFSET;
}

// True if lanes that take the edge execute only code that no other edge reaches, and then exit.
static bool is_exit_edge(const Function *function, const Program *p, const FlowGraph *f, uint32_t from, uint32_t to, Worklist *worklist)
{
    if (to == f->count - 1 && is_exit(function, sim_terminator(p, f, from)))
        return true;
    clear_worklist(worklist);
    push_block(worklist, to);
    for (uint32_t k = 0; k < worklist->count; k++) {
        const uint32_t b = worklist->blocks[k];
        if (exits_immediately(function, p, f, b))
            continue;
        if (k == MAX_EXIT_BLOCKS || b == from || b == f->count - 1 ||
            (sim_terminator(p, f, b)->control == RETURN && !function->is_kernel))
            return false;
        for (uint32_t n = 0; n < f->successor_count[b]; n++)
            if (f->successors[b][n] != f->count - 1 || !is_exit(function, sim_terminator(p, f, b)))
                push_block(worklist, f->successors[b][n]);
    }
    for (uint32_t k = 0; k < worklist->count; k++) { // another edge may reach a block
        const uint32_t b = worklist->blocks[k];
        for (uint32_t n = 0; n < f->predecessor_count[b] && !exits_immediately(function, p, f, b); n++) {
            const uint32_t predecessor = f->predecessors[b][n];
            if (!worklist->visited[predecessor] && (predecessor != from || b != to))
                return false;
        }
    }
    return true;
}

// True if lanes that take the edge may return to `from`.
static bool can_return(const FlowGraph *f, uint32_t from, uint32_t to, Worklist *worklist)
{
    clear_worklist(worklist);
    push_block(worklist, to);
    for (uint32_t k = 0; k < worklist->count && !worklist->visited[from]; k++)
        for (uint32_t n = 0; n < f->successor_count[worklist->blocks[k]]; n++)
            push_block(worklist, f->successors[worklist->blocks[k]][n]);
    return worklist->visited[from];
}

// True if the block's last branch is in a loop.
static bool is_in_loop(const FlowGraph *f, uint32_t block, Worklist *worklist)
{
    bool in_loop = false;
    for (uint32_t n = 0; n < f->successor_count[block]; n++)
        in_loop |= can_return(f, block, f->successors[block][n], worklist);
    return in_loop;
}

// The graph without edges on which some lanes of a branch exit while others continue. In loops, `exits` selects the edges.
static FlowGraph prune_exits(Arena *arena, const Function *function, const Program *p, const FlowGraph *f, LoopExits exits)
{
    FlowGraph pruned = *f;
    Worklist worklist = new_worklist(arena, f->count);
    pruned.successors = sim_allocate(arena, f->count * sizeof *pruned.successors);
    pruned.successor_count = sim_allocate(arena, f->count * sizeof *pruned.successor_count);
    for (uint32_t b = 0; b + 1 < f->count; b++) {
        const uint32_t n = f->successor_count[b];
        uint32_t *to = pruned.successors[b] = sim_allocate(arena, ((size_t)n + 1) * sizeof *to), kept_count = 0;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t next = f->successors[b][k];
            const bool selected = exits_immediately(function, p, f, next) == (exits == PRUNE_IMMEDIATE_EXITS);
            const bool is_pruned = is_exit_edge(function, p, f, b, next, &worklist) && (selected || !is_in_loop(f, b, &worklist));
            if (n == 1 || !is_pruned)
                to[kept_count++] = next;
        }
        for (uint32_t k = 0; k < n && kept_count == 0; k++) // all edges lead to exits: prune only immediate ones
            if (!exits_immediately(function, p, f, f->successors[b][k]))
                to[kept_count++] = f->successors[b][k];
        if (kept_count == 0)
            memcpy(to, f->successors[b], (kept_count = n) * sizeof *to);
        pruned.successor_count[b] = kept_count;
    }
    sim_find_predecessors(arena, &pruned);
    return pruned;
}

// ---- Post-dominators

// Computes the postorder of a depth-first search from the exit along predecessors.
static void compute_postorder(Arena *arena, const FlowGraph *f, PostDominatorTree *t)
{
    uint32_t *stack = sim_allocate(arena, f->count * sizeof *stack),
             *next = sim_allocate(arena, f->count * sizeof *next);
    uint32_t depth = 0;
    t->postorder = sim_allocate(arena, f->count * sizeof *t->postorder);
    t->postorder_index = sim_allocate(arena, f->count * sizeof *t->postorder_index);
    memset(t->postorder_index, 0xff, f->count * sizeof *t->postorder_index);
    t->reachable_count = 0;
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
            t->postorder_index[b] = t->reachable_count;
            t->postorder[t->reachable_count++] = b;
            depth--;
        }
    }
}

// Restores the edges of blocks from which pruning has made the exit unreachable, as in a loop that only an exit leaves.
static void restore_unreachable_edges(Arena *arena, const FlowGraph *all, FlowGraph *f, PostDominatorTree *t)
{
    bool changed = false;
    for (uint32_t b = 0; b + 1 < f->count; b++)
        if (t->postorder_index[b] == NO_INDEX && f->successor_count[b] < all->successor_count[b]) {
            f->successors[b] = all->successors[b];
            f->successor_count[b] = all->successor_count[b];
            changed = true;
        }
    if (changed) {
        sim_find_predecessors(arena, f);
        compute_postorder(arena, f, t);
    }
}

static uint32_t intersect(const PostDominatorTree *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (t->postorder_index[a] < t->postorder_index[b])
            a = t->ipdom[a];
        while (t->postorder_index[b] < t->postorder_index[a])
            b = t->ipdom[b];
    }
    return a;
}

static void find_immediate_post_dominators(Arena *arena, const FlowGraph *f, PostDominatorTree *t)
{
    t->ipdom = sim_allocate(arena, f->count * sizeof *t->ipdom);
    memset(t->ipdom, 0xff, f->count * sizeof *t->ipdom);
    const uint32_t end = f->count - 1;
    t->ipdom[end] = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = t->reachable_count - 1; k-- > 0;) { // reverse postorder, without the exit
            const uint32_t b = t->postorder[k];
            uint32_t common = NO_INDEX;
            for (uint32_t n = 0; n < f->successor_count[b]; n++) {
                const uint32_t to = f->successors[b][n];
                if (t->ipdom[to] != NO_INDEX)
                    common = common == NO_INDEX ? to : intersect(t, common, to);
            }
            changed |= t->ipdom[b] != common;
            t->ipdom[b] = common;
        }
    }
}

// True if lanes from block b may iterate without reaching its post-dominator until they exit on a pruned edge.
static bool may_exit_before(const FlowGraph *all, const FlowGraph *pruned, uint32_t b, uint32_t ipdom, Worklist *worklist)
{
    bool can_exit = false;
    clear_worklist(worklist);
    for (uint32_t n = 0; n < pruned->successor_count[b]; n++)
        if (pruned->successors[b][n] != ipdom)
            push_block(worklist, pruned->successors[b][n]);
    for (uint32_t k = 0; k < worklist->count; k++) {
        const uint32_t at = worklist->blocks[k];
        can_exit |= pruned->successor_count[at] < all->successor_count[at];
        for (uint32_t n = 0; n < pruned->successor_count[at]; n++)
            if (pruned->successors[at][n] != ipdom)
                push_block(worklist, pruned->successors[at][n]);
    }
    return can_exit && worklist->visited[b];
}

// Stores the pruned graph in `pruned` and returns its post-dominators.
static PostDominatorTree build_post_dominator_tree(Arena *arena, const Function *function, const Program *p,
                                                   const FlowGraph *flow, const FlowGraph *all, FlowGraph *pruned,
                                                   LoopExits exits)
{
    PostDominatorTree tree;
    *pruned = prune_exits(arena, function, p, all, exits);
    compute_postorder(arena, pruned, &tree);
    restore_unreachable_edges(arena, all, pruned, &tree);
    restore_unreachable_edges(arena, flow, pruned, &tree);
    find_immediate_post_dominators(arena, pruned, &tree);
    return tree;
}

void sim_find_reconvergence(Arena *arena, const Function *function, Program *p, const FlowGraph *flow)
{
    const FlowGraph all = prune_failures(arena, p, flow);
    FlowGraph pruned, delayed_pruned;
    const PostDominatorTree tree = build_post_dominator_tree(arena, function, p, flow, &all, &pruned, PRUNE_IMMEDIATE_EXITS);
    PostDominatorTree delayed_tree = {.ipdom = NULL};
    Worklist worklist = new_worklist(arena, flow->count);
    for (uint32_t b = 0; b + 1 < flow->count; b++) {
        uint32_t ipdom = tree.ipdom[b];
        const FlowGraph *graph = &pruned;
        if (flow->successor_count[b] > 1 && ipdom != NO_INDEX && may_exit_before(&all, &pruned, b, ipdom, &worklist)) {
            if (!delayed_tree.ipdom)
                delayed_tree = build_post_dominator_tree(arena, function, p, flow, &all, &delayed_pruned, PRUNE_DELAYED_EXITS);
            ipdom = delayed_tree.ipdom[b];
            graph = &delayed_pruned;
        }
        // There is no reconvergence if the other lanes of the branch exit, or if all lanes exit there.
        const bool others_exit = graph->successor_count[b] == 1 && flow->successor_count[b] > 1;
        const bool no_reconvergence = others_exit || ipdom == NO_INDEX || exits_immediately(function, p, flow, ipdom);
        sim_terminator(p, flow, b)->reconvergence_pc = no_reconvergence ? NO_INDEX : flow->first[ipdom];
    }
}
