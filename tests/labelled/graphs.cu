// Irregular programs on a small graph: whether two threads meet depends on the edges.
#include "cases.h"

enum { NODES = 8, EDGES = 20, FAR = 1000 };

// Each node's neighbours are to[from[node]] up to before to[from[node + 1]]; every edge stands in both directions.
//   0 - 1, 0 - 2, 1 - 3, 2 - 3, 3 - 4, 4 - 5, 4 - 6, 5 - 7, 6 - 7, 1 - 2
static const int FROM[] = {0, 2, 5, 8, 11, 14, 16, 18, 20};
static const int TO[] = {1, 2, 0, 3, 2, 3, 0, 1, 1, 2, 4, 3, 5, 6, 4, 7, 4, 7, 5, 6};
static const int WEIGHT[] = {4, 1, 4, 1, 2, 5, 1, 2, 1, 5, 3, 3, 1, 6, 1, 1, 6, 2, 1, 2};
// Pairs of nodes that have no other neighbour: no two threads share an element.
static const int PAIR_FROM[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
static const int PAIR_TO[] = {1, 0, 3, 2, 5, 4, 7, 6};

struct Graph {
    int *from, *to, *weight;
};

static Graph make_graph()
{
    return {copied(FROM), copied(TO), copied(WEIGHT)};
}

// One value a node: far everywhere, but 0 at the first.
static int *distances()
{
    int values[NODES];
    for (int node = 0; node < NODES; node++)
        values[node] = node == 0 ? 0 : FAR;
    return copied(values);
}

// ---- Breadth first, a level a launch; a thread a node, and so few threads a block that nodes meet across blocks.

enum Visit { PULL, PUSH_SAME_VALUE, PUSH_SWAP, PUSH_TEST_THEN_STORE };

template <Visit visit> __global__ void bfs_level(Graph g, const int *old_level, int *level, int depth, int *parent)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (visit == PULL) {
        int found = old_level[node];
        for (int e = g.from[node]; e < g.from[node + 1]; e++)
            if (old_level[g.to[e]] == depth - 1)
                found = min(found, depth);
        level[node] = found;
    } else if (level[node] == depth - 1) {
        for (int e = g.from[node]; e < g.from[node + 1]; e++) {
            const int other = g.to[e];
            if (visit == PUSH_SAME_VALUE) {
                if (level[other] > depth)
                    level[other] = depth; // all who come here write the same
            } else if (visit == PUSH_SWAP) {
                if (atomicCAS(&level[other], FAR, depth) == FAR)
                    parent[other] = node;
            } else if (level[other] == FAR) {
                level[other] = depth;
                parent[other] = node; // several may come here, each with its own number
            }
        }
    }
}

template <Visit visit> static void run_bfs()
{
    const Graph g = make_graph();
    int *level = distances(), *next = distances(), *parent = zeros<int>(NODES);
    for (int depth = 1; depth <= 4; depth++) {
        bfs_level<visit><<<4, NODES / 4>>>(g, level, visit == PULL ? next : level, depth, parent);
        if (visit == PULL)
            CUDA(cudaMemcpy(level, next, NODES * sizeof(int), cudaMemcpyDeviceToDevice));
    }
    finish_and_free(g.from, g.to, g.weight, level, next, parent);
}

// The swap as above reads level[node] by a plain load while others swap there; here the level is read atomically.
__global__ void bfs_atomic(Graph g, int *level, int depth, int *parent)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicAdd(&level[node], 0) == depth - 1)
        for (int e = g.from[node]; e < g.from[node + 1]; e++)
            if (atomicCAS(&level[g.to[e]], FAR, depth) == FAR)
                parent[g.to[e]] = node;
}

static void run_bfs_atomic()
{
    const Graph g = make_graph();
    int *level = distances(), *parent = zeros<int>(NODES);
    for (int depth = 1; depth <= 4; depth++)
        bfs_atomic<<<4, NODES / 4>>>(g, level, depth, parent);
    finish_and_free(g.from, g.to, g.weight, level, parent);
}

// A list of nodes to visit, and one of those that come next.
template <bool atomic> __global__ void bfs_lists(Graph g, const int *list, const int *count, int *next, int *next_count, int *seen)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *count)
        return;
    const int node = list[i];
    for (int e = g.from[node]; e < g.from[node + 1]; e++)
        if (atomicExch(&seen[g.to[e]], 1) == 0) {
            int place;
            if (atomic)
                place = atomicAdd(next_count, 1);
            else
                place = (*next_count)++;
            next[place] = g.to[e];
        }
}

template <bool atomic> static void run_bfs_lists()
{
    const Graph g = make_graph();
    int *lists[2] = {zeros<int>(NODES), zeros<int>(NODES)}, *counts = zeros<int>(6), *seen = zeros<int>(NODES);
    const int first[] = {1, 2}, two = 2, one = 1;
    CUDA(cudaMemcpy(lists[0], first, sizeof first, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(counts, &two, sizeof two, cudaMemcpyHostToDevice));
    for (int node = 0; node < 3; node++)
        CUDA(cudaMemcpy(seen + node, &one, sizeof one, cudaMemcpyHostToDevice));
    CUDA(cudaMemset(seen, 0, sizeof(int))); // both find node 0, and node 3
    for (int round = 0; round < 4; round++)
        bfs_lists<atomic><<<4, 2>>>(g, lists[round % 2], counts + round, lists[1 - round % 2], counts + round + 1, seen);
    finish_and_free(g.from, g.to, g.weight, lists[0], lists[1], counts, seen);
}

// ---- Shortest ways.

enum Relax { ATOMIC_MIN_ALL, ATOMIC_MIN_PLAIN_READ, PLAIN_MIN, OLD_AND_NEW };

template <Relax relax> __global__ void shortest(Graph g, const int *old_distance, int *distance, int *changed)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (relax == OLD_AND_NEW) {
        int best = old_distance[node];
        for (int e = g.from[node]; e < g.from[node + 1]; e++)
            best = min(best, old_distance[g.to[e]] + g.weight[e]);
        distance[node] = best;
        if (best != old_distance[node])
            atomicOr(changed, 1);
        return;
    }
    const int own = relax == ATOMIC_MIN_ALL ? atomicAdd(&distance[node], 0) : distance[node];
    for (int e = g.from[node]; e < g.from[node + 1]; e++) {
        const int through = own + g.weight[e];
        if (relax == PLAIN_MIN) {
            if (through < distance[g.to[e]])
                distance[g.to[e]] = through;
        } else if (atomicMin(&distance[g.to[e]], through) > through) {
            atomicOr(changed, 1);
        }
    }
}

template <Relax relax> static void run_shortest()
{
    const Graph g = make_graph();
    int *old_distance = distances(), *distance = distances(), *changed = zeros<int>(1);
    for (int round = 0; round < 5; round++) {
        shortest<relax><<<4, NODES / 4>>>(g, old_distance, distance, changed);
        CUDA(cudaMemcpy(old_distance, distance, NODES * sizeof(int), cudaMemcpyDeviceToDevice));
    }
    finish_and_free(g.from, g.to, g.weight, old_distance, distance, changed);
}

// ---- Connected parts: the least number of a node that can be reached.

enum Label { LABEL_ATOMIC, LABEL_PLAIN, LABEL_FLAG_PLAIN };

template <Label kind> __global__ void parts(const int *from, const int *to, const int *old_label, int *label, int *changed)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    const int own = old_label[node];
    for (int e = from[node]; e < from[node + 1]; e++) {
        const int other = to[e];
        if (kind == LABEL_PLAIN) {
            if (own < label[other]) {
                label[other] = own;
                atomicOr(changed, 1);
            }
        } else if (atomicMin(&label[other], own) > own) {
            if (kind == LABEL_FLAG_PLAIN)
                *changed = 1; // the same value from all
            else
                atomicOr(changed, 1);
        }
    }
}

template <Label kind> static void run_parts()
{
    int *from = copied(FROM), *to = copied(TO), *old_label = numbers(NODES), *label = numbers(NODES), *changed = zeros<int>(1);
    for (int round = 0; round < 4; round++) {
        parts<kind><<<4, NODES / 4>>>(from, to, old_label, label, changed);
        CUDA(cudaMemcpy(old_label, label, NODES * sizeof(int), cudaMemcpyDeviceToDevice));
    }
    finish_and_free(from, to, old_label, label, changed);
}

// Trees of parents that are hooked and shortened.
template <bool atomic> __global__ void hook(const int *from, const int *to, int *parent)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    for (int e = from[node]; e < from[node + 1]; e++) {
        int mine = node, other = to[e];
        if (atomic) {
            for (;;) {
                for (int up; (up = atomicAdd(&parent[mine], 0)) != mine;)
                    mine = up;
                for (int up; (up = atomicAdd(&parent[other], 0)) != other;)
                    other = up;
                if (mine == other || atomicCAS(&parent[max(mine, other)], max(mine, other), min(mine, other)) == max(mine, other))
                    break;
            }
        } else {
            for (int k = 0; k < NODES && parent[mine] != mine; k++)
                mine = parent[mine];
            for (int k = 0; k < NODES && parent[other] != other; k++)
                other = parent[other];
            parent[max(mine, other)] = min(mine, other);
        }
    }
}

template <bool atomic> static void run_hook()
{
    int *from = copied(FROM), *to = copied(TO), *parent = numbers(NODES);
    hook<atomic><<<4, NODES / 4>>>(from, to, parent);
    finish_and_free(from, to, parent);
}

// ---- Ranks that flow along the edges.

enum Flow { RANK_PULL, RANK_PUSH_ATOMIC, RANK_PUSH_PLAIN, RANK_PULL_IN_PLACE };

template <Flow flow> __global__ void ranks(const int *from, const int *to, float *old_rank, float *rank)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int e = from[node]; e < from[node + 1]; e++) {
        const int other = to[e];
        if (flow == RANK_PUSH_ATOMIC)
            atomicAdd(&rank[other], old_rank[node]);
        else if (flow == RANK_PUSH_PLAIN)
            rank[other] += old_rank[node];
        else
            sum += old_rank[other];
    }
    if (flow == RANK_PULL)
        rank[node] = sum;
    if (flow == RANK_PULL_IN_PLACE)
        old_rank[node] = sum;
}

template <Flow flow, bool pairs> static void run_ranks()
{
    int *from = pairs ? copied(PAIR_FROM) : copied(FROM), *to = pairs ? copied(PAIR_TO) : copied(TO);
    float *old_rank = zeros<float>(NODES), *rank = zeros<float>(NODES);
    ranks<flow><<<4, NODES / 4>>>(from, to, old_rank, rank);
    finish_and_free(from, to, old_rank, rank);
}

// ---- A set of nodes without neighbours in it: each decides by what its neighbours have decided.

template <bool atomic> __global__ void independent(const int *from, const int *to, int *state)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x; // the state: 0 open, 1 in, 2 out
    bool in = true;
    for (int e = from[node]; e < from[node + 1]; e++)
        in = in && (to[e] > node || (atomic ? atomicAdd(&state[to[e]], 0) : state[to[e]]) == 2);
    if (!in)
        return;
    for (int e = from[node]; e < from[node + 1]; e++)
        if (atomic)
            atomicExch(&state[to[e]], 2);
        else
            state[to[e]] = 2;
    if (atomic)
        atomicExch(&state[node], 1);
    else
        state[node] = 1;
}

template <bool atomic> static void run_independent()
{
    int *from = copied(FROM), *to = copied(TO), *state = zeros<int>(NODES);
    for (int round = 0; round < 3; round++)
        independent<atomic><<<4, NODES / 4>>>(from, to, state);
    finish_and_free(from, to, state);
}

// ---- An update where an index from memory says.

static const int ALL_DIFFERENT[] = {3, 5, 0, 7, 2, 6, 1, 4}, TWO_ALIKE[] = {3, 5, 0, 7, 2, 5, 1, 4};

__global__ void scatter(const int *index, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[index[i]] += i;
}

template <bool different> static void run_scatter()
{
    int *index = different ? copied(ALL_DIFFERENT) : copied(TWO_ALIKE), *out = zeros<int>(8);
    scatter<<<2, 4>>>(index, out);
    finish_and_free(index, out);
}

// Triangles are counted: everything is only read, but the count.
template <bool atomic> __global__ void triangles(const int *from, const int *to, int *count)
{
    const int node = blockIdx.x * blockDim.x + threadIdx.x;
    int own = 0;
    for (int e = from[node]; e < from[node + 1]; e++)
        for (int f = from[to[e]]; f < from[to[e] + 1]; f++)
            for (int g = from[to[f]]; g < from[to[f] + 1]; g++)
                own += to[g] == node;
    if (atomic)
        atomicAdd(count, own);
    else if (own > 0)
        *count += own;
}

template <bool atomic> static void run_triangles()
{
    int *from = copied(FROM), *to = copied(TO), *count = zeros<int>(1);
    triangles<atomic><<<4, NODES / 4>>>(from, to, count);
    finish_and_free(from, to, count);
}

// A worklist of one launch: who takes an item may add others. An item is there before it may be taken.
template <bool ordered> __global__ void worklist(Graph g, int *list, int *ready, int *end, int *head, int *pending, int *seen)
{
    for (;;) {
        const int place = atomicAdd(head, 1);
        if (place >= NODES)
            return;
        while (atomicAdd(&ready[place], 0) == 0)
            if (atomicAdd(pending, 0) == 0)
                return;
        if (ordered)
            __threadfence();
        const int node = list[place];
        for (int e = g.from[node]; e < g.from[node + 1]; e++)
            if (atomicExch(&seen[g.to[e]], 1) == 0) {
                const int free_place = atomicAdd(end, 1);
                atomicAdd(pending, 1);
                list[free_place] = g.to[e];
                if (ordered)
                    __threadfence();
                atomicExch(&ready[free_place], 1);
            }
        atomicSub(pending, 1);
    }
}

template <bool ordered> static void run_worklist()
{
    const Graph g = make_graph();
    int *list = zeros<int>(NODES), *ready = zeros<int>(NODES), *counts = zeros<int>(3), *seen = zeros<int>(NODES);
    const int one = 1;
    for (int *begun : {ready, counts, counts + 2, seen}) // node 0 is there
        CUDA(cudaMemcpy(begun, &one, sizeof one, cudaMemcpyHostToDevice));
    worklist<ordered><<<2, 4>>>(g, list, ready, counts, counts + 1, counts + 2, seen);
    finish_and_free(g.from, g.to, g.weight, list, ready, counts, seen);
}

static const Case CASES[] = {
    {"bfs-pull", run_bfs<PULL>},
    {"bfs-push-same-value", run_bfs<PUSH_SAME_VALUE>},
    {"bfs-push-swap-plain-read", run_bfs<PUSH_SWAP>},
    {"bfs-push-test-then-store", run_bfs<PUSH_TEST_THEN_STORE>},
    {"bfs-push-atomic", run_bfs_atomic},
    {"bfs-lists", run_bfs_lists<true>},
    {"bfs-lists-plain-count", run_bfs_lists<false>},
    {"shortest-old-and-new", run_shortest<OLD_AND_NEW>},
    {"shortest-atomic", run_shortest<ATOMIC_MIN_ALL>},
    {"shortest-atomic-plain-read", run_shortest<ATOMIC_MIN_PLAIN_READ>},
    {"shortest-plain", run_shortest<PLAIN_MIN>},
    {"parts-atomic", run_parts<LABEL_ATOMIC>},
    {"parts-plain", run_parts<LABEL_PLAIN>},
    {"parts-flag-plain", run_parts<LABEL_FLAG_PLAIN>},
    {"hook-atomic", run_hook<true>},
    {"hook-plain", run_hook<false>},
    {"ranks-pull", run_ranks<RANK_PULL, false>},
    {"ranks-pull-in-place", run_ranks<RANK_PULL_IN_PLACE, false>},
    {"ranks-push-atomic", run_ranks<RANK_PUSH_ATOMIC, false>},
    {"ranks-push-plain", run_ranks<RANK_PUSH_PLAIN, false>},
    {"ranks-push-plain-pairs", run_ranks<RANK_PUSH_PLAIN, true>},
    {"independent-atomic", run_independent<true>},
    {"independent-plain", run_independent<false>},
    {"scatter-all-different", run_scatter<true>},
    {"scatter-two-alike", run_scatter<false>},
    {"triangles", run_triangles<true>},
    {"triangles-plain-count", run_triangles<false>},
    {"worklist", run_worklist<true>},
    {"worklist-unordered", run_worklist<false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
