// lock.c: the global lock of the program's host threads.
#include "machine/memory/memory.h"

static Lock memory_lock;
static _Thread_local int lock_depth; // this thread's nested calls of sim_lock_memory

Lock *sim_lock_memory(void)
{
    if (lock_depth++ == 0)
        sim_lock(&memory_lock);
    return &memory_lock;
}

void sim_unlock_memory(Lock **lock)
{
    if (--lock_depth == 0)
        sim_unlock(*lock);
}
