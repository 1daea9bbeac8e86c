// platform_plain.c: the same for a host without threads, signals and files, such as a page's WebAssembly. All memory is
// malloc's, nobody is stopped at an address, and no line of the host's source is known.
#include "base/platform.h"

#include "base/base.h"

#include <stdlib.h>

// ---- Pages

enum { PAGE = 4096 };
static const size_t HOST_BYTES = (size_t)1 << 30;

size_t sim_page_bytes(void)
{
    return PAGE;
}

size_t sim_host_bytes(void)
{
    return HOST_BYTES;
}

bool sim_has_pages(void)
{
    return false;
}

uint8_t *sim_reserve_pages(size_t bytes)
{
    (void)bytes;
    return NULL;
}

bool sim_map_pages(void *pages, size_t bytes)
{
    (void)pages, (void)bytes;
    return false;
}

int sim_make_fill(uint8_t value, size_t bytes)
{
    (void)value, (void)bytes;
    return -1;
}

bool sim_map_fill(void *pages, size_t bytes, int file, size_t offset)
{
    (void)pages, (void)bytes, (void)file, (void)offset;
    return false;
}

int sim_make_shared(size_t bytes)
{
    (void)bytes;
    return -1;
}

bool sim_map_shared(void *pages, size_t bytes, int file, size_t offset)
{
    return sim_map_fill(pages, bytes, file, offset);
}

void sim_reset_pages(void *pages, size_t bytes)
{
    (void)pages, (void)bytes;
}

void sim_allow(void *pages, size_t bytes, PageAccess access)
{
    (void)pages, (void)bytes, (void)access;
}

void *sim_new_zeros(size_t bytes)
{
    return calloc(1, bytes);
}

void sim_free_zeros(void *zeros, size_t bytes)
{
    (void)bytes;
    free(zeros);
}

void sim_prefer_large_pages(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}

bool sim_pages_are_mapped(const void *pointer, size_t bytes)
{
    (void)pointer, (void)bytes;
    return true;
}

// ---- Faults

bool sim_watch_faults(Explain *explain)
{
    (void)explain;
    return true;
}

bool sim_watches_faults(void)
{
    return false;
}

// ---- Threads: there is one

void sim_lock(Lock *lock)
{
    (void)lock;
}

void sim_unlock(Lock *lock)
{
    (void)lock;
}

void sim_wait(Waiters *waiters, Lock *lock)
{
    (void)waiters, (void)lock;
    sim_die("the only thread waits for another one");
}

void sim_wake_all(Waiters *waiters)
{
    (void)waiters;
}

void sim_once(Once *once, void (*prepare)(void))
{
    if (!once->bits) {
        prepare();
        once->bits = 1;
    }
}

bool sim_start_thread(Thread *thread, void *(*run)(void *), void *argument)
{
    (void)thread, (void)run, (void)argument;
    return false;
}

void sim_join_thread(Thread thread)
{
    (void)thread;
}

uintptr_t sim_this_thread(void)
{
    return 1;
}

int sim_core_count(void)
{
    return 1;
}

// ---- Host lines

int sim_backtrace(void **called, int most)
{
    (void)called, (void)most;
    return 0;
}

bool sim_is_in_program(const void *address, uintptr_t *moved_by)
{
    (void)address;
    *moved_by = 0;
    return false;
}

FILE *sim_open_lines(const uintptr_t *addresses, int count)
{
    (void)addresses, (void)count;
    return NULL;
}

void sim_close_lines(FILE *lines)
{
    (void)lines;
}
