// parallel.c: a parallel loop over several host threads.
#include "base/base.h"
#include "base/platform.h"

#include <stdatomic.h>

enum { MAX_SHARED_THREADS = 16 };

typedef struct Pieces {
    size_t count;
    atomic_size_t next;
    void (*work)(size_t piece, void *with);
    void *with;
} Pieces;

static void *run_pieces(void *argument)
{
    Pieces *p = argument;
    for (size_t k; (k = atomic_fetch_add(&p->next, 1)) < p->count;)
        p->work(k, p->with);
    return NULL;
}

void sim_parallel_for(size_t count, size_t least, void (*work)(size_t piece, void *with), void *with)
{
    Pieces pieces = {.count = count, .work = work, .with = with};
    const uint64_t asked = sim_settings()->threads, threads = asked ? asked : (uint64_t)sim_core_count();
    Thread others[MAX_SHARED_THREADS];
    int started = 0;
    while (started < MAX_SHARED_THREADS && (uint64_t)started + 1 < threads && (size_t)(started + 1) * least < count &&
           sim_start_thread(&others[started], run_pieces, &pieces))
        started++;
    run_pieces(&pieces);
    while (started > 0)
        sim_join_thread(others[--started]);
}
