// Locks, queues and counters that need no atomic operation: volatile words, fences, and who writes which word. Several
// threads store different values to some of these words, and nothing is lost by it. Each with a twin that lacks fences.
#include "cases.h"

enum { ROUNDS = 4 };

enum Twin { RIGHT, NO_FENCE };

template <Twin twin> __device__ void fence()
{
    if (twin == RIGHT)
        __threadfence();
}

// ---- Locks for threads whose numbers are 0, 1 ...

struct Words { // of a lock
    volatile int flag[4], number[4], turn[4], x, y;
};

template <Twin twin> struct Peterson {
    static __device__ void lock(Words *w, int me)
    {
        w->flag[me] = 1;
        fence<twin>();
        w->turn[0] = 1 - me;
        fence<twin>();
        while (w->flag[1 - me] && w->turn[0] == 1 - me)
            continue;
        fence<twin>();
    }
    static __device__ void unlock(Words *w, int me)
    {
        fence<twin>();
        w->flag[me] = 0;
    }
};

template <Twin twin> struct Dekker {
    static __device__ void lock(Words *w, int me)
    {
        w->flag[me] = 1;
        fence<twin>();
        while (w->flag[1 - me])
            if (w->turn[0] != me) {
                w->flag[me] = 0;
                while (w->turn[0] != me)
                    continue;
                w->flag[me] = 1;
                fence<twin>();
            }
        fence<twin>();
    }
    static __device__ void unlock(Words *w, int me)
    {
        fence<twin>();
        w->turn[0] = 1 - me;
        fence<twin>();
        w->flag[me] = 0;
    }
};

// Peterson's for more than two: a level for each thread but one.
template <Twin twin> struct Filter {
    static __device__ bool others_are_at(const Words *w, int me, int level)
    {
        for (int other = 0; other < 4; other++)
            if (other != me && w->flag[other] >= level)
                return true;
        return false;
    }
    static __device__ void lock(Words *w, int me)
    {
        for (int level = 1; level < 4; level++) {
            w->flag[me] = level;
            fence<twin>();
            w->turn[level] = me;
            fence<twin>();
            while (others_are_at(w, me, level) && w->turn[level] == me)
                continue;
        }
        fence<twin>();
    }
    static __device__ void unlock(Words *w, int me)
    {
        fence<twin>();
        w->flag[me] = 0;
    }
};

// Lamport's bakery.
template <Twin twin> struct Bakery {
    static __device__ void lock(Words *w, int me)
    {
        int highest = 0;
        w->flag[me] = 1;
        fence<twin>();
        for (int other = 0; other < 4; other++)
            highest = max(highest, w->number[other]);
        w->number[me] = highest + 1;
        fence<twin>();
        w->flag[me] = 0;
        fence<twin>();
        for (int other = 0; other < 4; other++) {
            while (w->flag[other])
                continue;
            for (int number; (number = w->number[other]) != 0;)
                if (number > highest + 1 || (number == highest + 1 && other >= me))
                    break;
        }
        fence<twin>();
    }
    static __device__ void unlock(Words *w, int me)
    {
        fence<twin>();
        w->number[me] = 0;
    }
};

// Lamport's fast lock: a thread without contention reads no other thread's words. x and y are shared; thread 0 is 1 there.
template <Twin twin> struct Fast {
    static __device__ bool try_lock(Words *w, int me)
    {
        w->flag[me] = 1;
        fence<twin>();
        w->x = me + 1;
        fence<twin>();
        if (w->y) {
            w->flag[me] = 0;
            while (w->y)
                continue;
            return false;
        }
        w->y = me + 1;
        fence<twin>();
        if (w->x == me + 1)
            return true;
        w->flag[me] = 0;
        fence<twin>();
        for (int other = 0; other < 4; other++)
            while (w->flag[other])
                continue;
        if (w->y == me + 1)
            return true;
        while (w->y)
            continue;
        return false;
    }
    static __device__ void lock(Words *w, int me)
    {
        while (!try_lock(w, me))
            continue;
        fence<twin>();
    }
    static __device__ void unlock(Words *w, int me)
    {
        fence<twin>();
        w->y = 0;
        fence<twin>();
        w->flag[me] = 0;
    }
};

// As many threads as `all` take the lock by turns: one of each block, or of each warp of a block.
template <class Lock> __global__ void locked(Words *words, int *count, int all)
{
    const int me = gridDim.x > 1 ? blockIdx.x : threadIdx.x / 32;
    if (threadIdx.x % 32 != 0 || me >= all)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        Lock::lock(words, me);
        *count += 1;
        Lock::unlock(words, me);
    }
}

template <class Lock, int threads, bool in_block> static void run_locked()
{
    Words *words = zeros<Words>(1);
    int *count = zeros<int>(1);
    locked<Lock><<<in_block ? 1 : threads, in_block ? threads * 32 : 32>>>(words, count, threads);
    finish_and_free(words, count);
}

// The words are in shared memory, where they are the block's.
template <Twin twin> __global__ void locked_in_shared(int *count)
{
    __shared__ Words words;
    const int me = threadIdx.x / 32;
    if (threadIdx.x == 0)
        words.flag[0] = words.flag[1] = words.turn[0] = 0;
    __syncthreads();
    if (threadIdx.x % 32 != 0)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        Peterson<twin>::lock(&words, me);
        *count += 1;
        Peterson<twin>::unlock(&words, me);
    }
}

template <Twin twin> static void run_locked_in_shared()
{
    int *count = zeros<int>(1);
    locked_in_shared<twin><<<1, 64>>>(count);
    finish_and_free(count);
}

// The protected variable is volatile, too: it is updated under a lock that excludes no thread, since two others hold it.
__global__ void two_locks(Words *words, volatile int *count)
{
    const int me = blockIdx.x;
    if (threadIdx.x != 0)
        return;
    Peterson<RIGHT>::lock(&words[me / 2], me % 2);
    *count += 1;
    Peterson<RIGHT>::unlock(&words[me / 2], me % 2);
}

static void run_two_locks()
{
    Words *words = zeros<Words>(2);
    int *count = zeros<int>(1);
    two_locks<<<4, 32>>>(words, count);
    finish_and_free(words, count);
}

// A thread that has found something stores it, and all stop: any of the answers may remain.
__global__ void any_of_them(const int *in, volatile int *found, int *turns)
{
    if (threadIdx.x != 0)
        return;
    int n = 0;
    for (int k = blockIdx.x; *found == 0; k += gridDim.x, n++)
        if (in[k] >= 4)
            *found = in[k];
    turns[blockIdx.x] = n;
}

static void run_any_of_them()
{
    int *in = numbers(16), *found = zeros<int>(1), *turns = zeros<int>(4);
    any_of_them<<<4, 32>>>(in, found, turns);
    finish_and_free(in, found, turns);
}

// ---- Lamport's queue: one thread puts in, one takes out, and each writes one of the two counts.

template <Twin twin> __global__ void queue(volatile int *slots, volatile int *put, volatile int *taken, int *out)
{
    if (threadIdx.x != 0)
        return;
    int sum = 0;
    for (int n = 0; n < 4 * ROUNDS; n++)
        if (blockIdx.x == 0) {
            while (n - *taken == 2)
                continue;
            fence<twin>();
            slots[n % 2] = n;
            fence<twin>();
            *put = n + 1;
        } else {
            while (*put == n)
                continue;
            fence<twin>();
            sum += slots[n % 2];
            fence<twin>();
            *taken = n + 1;
        }
    if (blockIdx.x == 1)
        *out = sum;
}

template <Twin twin> static void run_queue()
{
    int *slots = zeros<int>(2), *counts = zeros<int>(2), *out = zeros<int>(1);
    queue<twin><<<2, 32>>>(slots, &counts[0], &counts[1], out);
    finish_and_free(slots, counts, out);
}

// ---- A counter of events: who waits remembers how many there were, looks whether there is work, and else waits for one
// more. The writers advance it by turns.

template <Twin twin> __global__ void events(int *work, volatile int *count, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x < 2) {
        while (*count != (int)blockIdx.x)
            continue;
        fence<twin>();
        *work += 21;
        fence<twin>();
        *count = *count + 1;
    } else {
        for (int seen = 0; seen < 2;) {
            const int before = seen;
            while ((seen = *count) == before)
                continue;
        }
        fence<twin>();
        *out = *work;
    }
}

template <Twin twin> static void run_events()
{
    int *work = zeros<int>(1), *count = zeros<int>(1), *out = zeros<int>(1);
    events<twin><<<3, 32>>>(work, count, out);
    finish_and_free(work, count, out);
}

// ---- The queue lock of Mellor-Crummey and Scott: each waits at a word of its own. Thread n is n + 1 in `tail` and `next`.

// What is missing: nothing; the fence between the exchange and the store to the predecessor; the fences of the lock.
enum Mcs { MCS_RIGHT, MCS_UNFENCED_LINK, MCS_NO_FENCE };

template <Mcs twin> __device__ void mcs_fence()
{
    if (twin != MCS_NO_FENCE)
        __threadfence();
}

struct Node {
    volatile int next, waits;
};

template <Mcs twin> __global__ void queue_lock(Node *nodes, int *tail, int *count)
{
    const int me = blockIdx.x;
    Node *mine = &nodes[me];
    for (int round = 0; threadIdx.x == 0 && round < ROUNDS; round++) {
        mine->next = 0;
        mine->waits = 1;
        mcs_fence<twin>();
        const int before = atomicExch(tail, me + 1);
        if (twin == MCS_RIGHT)
            __threadfence();
        if (before != 0) {
            nodes[before - 1].next = me + 1;
            while (mine->waits)
                continue;
        }
        mcs_fence<twin>();
        *count += 1;
        mcs_fence<twin>();
        if (mine->next == 0) {
            if (atomicCAS(tail, me + 1, 0) == me + 1)
                continue;
            while (mine->next == 0)
                continue;
        }
        mcs_fence<twin>();
        nodes[mine->next - 1].waits = 0;
    }
}

template <Mcs twin> static void run_queue_lock()
{
    Node *nodes = zeros<Node>(4);
    int *tail = zeros<int>(1), *count = zeros<int>(1);
    queue_lock<twin><<<4, 32>>>(nodes, tail, count);
    finish_and_free(nodes, tail, count);
}

// ---- Block 0 waits for block 1, which needs the lock that block 0 holds or takes again and again.

enum Wait { LOOKS_UNDER_LOCK, LOOKS_UNDER_VOLATILE_LOCK, NEVER_SET, AFTER_UNLOCK, HOLDS_LOCK };

__device__ void spin_lock(int *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        continue;
    __threadfence();
}

__device__ void spin_unlock(int *lock, bool is_volatile)
{
    __threadfence();
    if (is_volatile)
        *(volatile int *)lock = 0;
    else
        atomicExch(lock, 0);
}

template <Wait wait> __global__ void waits_for_later(int *lock, int *flag, int *out)
{
    const bool is_volatile = wait == LOOKS_UNDER_VOLATILE_LOCK;
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 1) {
        spin_lock(lock);
        *out += 1;
        if (wait != NEVER_SET)
            *(volatile int *)flag = 1;
        spin_unlock(lock, is_volatile);
    } else if (wait == AFTER_UNLOCK || wait == HOLDS_LOCK) {
        spin_lock(lock);
        *out += 1;
        if (wait == AFTER_UNLOCK)
            spin_unlock(lock, is_volatile);
        while (*(volatile int *)flag == 0)
            continue;
        if (wait == HOLDS_LOCK)
            spin_unlock(lock, is_volatile);
    } else {
        for (bool done = false; !done;) {
            spin_lock(lock);
            done = *(volatile int *)flag;
            spin_unlock(lock, is_volatile);
        }
    }
}

template <Wait wait> static void run_waits_for_later()
{
    int *words = zeros<int>(2), *out = zeros<int>(1);
    waits_for_later<wait><<<2, 32>>>(&words[0], &words[1], out);
    finish_and_free(words, out);
}

// ---- Blocks pass a token around, and each adds to the same words.

template <bool device_scope> __global__ void token_ring(int *token, int *sum)
{
    for (int round = 0; threadIdx.x == 0 && round < ROUNDS; round++) {
        const int mine = round * gridDim.x + blockIdx.x;
        while (*(volatile int *)token != mine)
            continue;
        device_scope ? __threadfence() : __threadfence_block();
        *sum += mine;
        device_scope ? __threadfence() : __threadfence_block();
        *(volatile int *)token = mine + 1;
    }
}

template <bool device_scope> static void run_token_ring()
{
    int *token = zeros<int>(1), *sum = zeros<int>(1);
    token_ring<device_scope><<<4, 32>>>(token, sum);
    finish_and_free(token, sum);
}

static const Case CASES[] = {
    {"peterson", run_locked<Peterson<RIGHT>, 2, false>},
    {"peterson-in-block", run_locked<Peterson<RIGHT>, 2, true>},
    {"peterson-in-shared", run_locked_in_shared<RIGHT>},
    {"peterson-no-fence", run_locked<Peterson<NO_FENCE>, 2, false>},
    {"peterson-in-block-no-fence", run_locked<Peterson<NO_FENCE>, 2, true>},
    {"peterson-in-shared-no-fence", run_locked_in_shared<NO_FENCE>},
    {"peterson-two-for-one", run_two_locks},
    {"dekker", run_locked<Dekker<RIGHT>, 2, false>},
    {"dekker-no-fence", run_locked<Dekker<NO_FENCE>, 2, false>},
    {"filter", run_locked<Filter<RIGHT>, 4, false>},
    {"filter-no-fence", run_locked<Filter<NO_FENCE>, 4, false>},
    {"bakery", run_locked<Bakery<RIGHT>, 4, false>},
    {"bakery-no-fence", run_locked<Bakery<NO_FENCE>, 4, false>},
    {"fast", run_locked<Fast<RIGHT>, 4, false>},
    {"fast-no-fence", run_locked<Fast<NO_FENCE>, 4, false>},
    {"any-of-them", run_any_of_them},
    {"queue", run_queue<RIGHT>},
    {"queue-no-fence", run_queue<NO_FENCE>},
    {"events", run_events<RIGHT>},
    {"events-no-fence", run_events<NO_FENCE>},
    {"queue-lock", run_queue_lock<MCS_RIGHT>},
    {"queue-lock-unfenced-link", run_queue_lock<MCS_UNFENCED_LINK>},
    {"queue-lock-no-fence", run_queue_lock<MCS_NO_FENCE>},
    {"waits-under-lock", run_waits_for_later<LOOKS_UNDER_LOCK>},
    {"waits-under-volatile-lock", run_waits_for_later<LOOKS_UNDER_VOLATILE_LOCK>},
    {"waits-under-lock-never-set", run_waits_for_later<NEVER_SET>},
    {"waits-after-unlock", run_waits_for_later<AFTER_UNLOCK>},
    {"waits-with-lock", run_waits_for_later<HOLDS_LOCK>},
    {"token-ring", run_token_ring<true>},
    {"token-ring-together", run_token_ring<true>},
    {"token-ring-block-fence", run_token_ring<false>},
    {"token-ring-block-fence-together", run_token_ring<false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
