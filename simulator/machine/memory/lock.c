// lock.c: the global lock of the program's host threads.
#include "machine/memory/memory.h"

static Lock memory_lock;
static _Thread_local int times_held; // recursion depth

Lock *sim_lock_memory(void)
{
    if (times_held++ == 0)
        sim_lock(&memory_lock);
    return &memory_lock;
}

void sim_unlock_memory(Lock **lock)
{
    if (--times_held == 0)
        sim_unlock(*lock);
}
