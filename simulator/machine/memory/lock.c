// lock.c: the lock of what the program's threads share.
#include "machine/memory/memory.h"

static Lock memory_lock;
static _Thread_local int times_held; // memory_lock, by this thread

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
