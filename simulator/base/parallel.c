// parallel.c: parallel loops on several host threads.
#include "base/base.h"
#include "base/platform.h"

#include <stdatomic.h>

enum { MAX_HELPERS = 16 };

typedef struct ParallelLoop {
    size_t count;
    atomic_size_t next;
    void (*work)(size_t index, void *context);
    void *context;
} ParallelLoop;

static void *run_loop(void *argument)
{
    ParallelLoop *loop = argument;
    for (size_t k; (k = atomic_fetch_add(&loop->next, 1)) < loop->count;)
        loop->work(k, loop->context);
    return NULL;
}

void sim_parallel_for(size_t count, size_t min_per_thread, void (*work)(size_t index, void *context), void *context)
{
    ParallelLoop loop = {.count = count, .work = work, .context = context};
    const uint64_t requested = sim_settings()->threads, threads = requested ? requested : (uint64_t)sim_core_count();
    Thread helpers[MAX_HELPERS];
    int started = 0;
    while (started < MAX_HELPERS && (uint64_t)started + 1 < threads && (size_t)(started + 1) * min_per_thread < count &&
           sim_start_thread(&helpers[started], run_loop, &loop))
        started++;
    run_loop(&loop);
    while (started > 0)
        sim_join_thread(helpers[--started]);
}
