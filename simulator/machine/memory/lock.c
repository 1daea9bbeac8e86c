// lock.c: the lock of what the program's threads share.
#define _GNU_SOURCE // PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#include "machine/memory/memory.h"

static pthread_mutex_t memory_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

pthread_mutex_t *sim_lock_memory(void)
{
    pthread_mutex_lock(&memory_lock);
    return &memory_lock;
}

void sim_unlock_memory(pthread_mutex_t **lock)
{
    pthread_mutex_unlock(*lock);
}
