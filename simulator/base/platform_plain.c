// platform_plain.c: platform.h for hosts without threads, signals and files, such as WebAssembly in a browser. Memory comes from
// malloc, without page protection, and lines of the host program are unknown.
#include "base/platform.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

// ---- Files

typedef struct Text { // content of a file; never freed
    const char *name;
    char *bytes;
    size_t count;
    FILE *file; // open for writing, or NULL
    struct Text *next;
} Text;

static Text *texts;

static Text *text_named(const char *name)
{
    Text *t = texts;
    while (t && strcmp(t->name, name) != 0)
        t = t->next;
    return t;
}

static Text *new_text(const char *name)
{
    Text *t = text_named(name);
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t || !(t->name = strdup(name)))
            sim_die("out of memory for a file");
        t->next = texts;
        texts = t;
    }
    t->bytes = NULL;
    t->count = 0;
    t->file = NULL;
    return t;
}

FILE *sim_open_output(const char *name)
{
    Text *t = new_text(name);
    return t->file = open_memstream(&t->bytes, &t->count);
}

bool sim_write_whole(const char *name, bool at_end, void (*write)(FILE *out))
{
    (void)at_end;
    FILE *out = sim_open_output(name);
    if (!out)
        return false;
    write(out);
    return fflush(out) == 0;
}

FILE *sim_open_source(const char *name)
{
    Text *t = text_named(name);
    return t && t->count > 0 ? fmemopen(t->bytes, t->count, "r") : NULL;
}

void sim_keep_source(const char *name, const char *text, size_t bytes)
{
    Text *t = new_text(name);
    t->bytes = memcpy(malloc(bytes + 1), text, bytes);
    t->count = bytes;
}

const char *sim_text_of(const char *name, size_t *bytes)
{
    Text *t = text_named(name);
    if (t && t->file)
        fflush(t->file);
    *bytes = t ? t->count : 0;
    return t ? t->bytes : NULL;
}

const char *sim_short_name(const char *file)
{
    return file;
}

void sim_program_path(char *path, size_t space)
{
    (void)space;
    path[0] = 0;
}

FILE *sim_open_maps(void)
{
    return NULL;
}

bool sim_is_terminal(FILE *file)
{
    (void)file;
    return false;
}

// ---- Exit handlers

enum { MAX_ENDS = 8 };
static void (*ends[MAX_ENDS])(int status);
static int end_count;

static void end_all(void)
{
    while (end_count > 0)
        ends[--end_count](0);
}

void sim_on_exit(void (*end)(int status))
{
    if (end_count == 0)
        atexit(end_all);
    if (end_count == MAX_ENDS)
        sim_die("too many functions for the program's end");
    ends[end_count++] = end;
}

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

bool sim_map_twice(void *pages, void *again, size_t bytes)
{
    (void)pages, (void)again, (void)bytes;
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

void sim_close_file(int file)
{
    (void)file;
}

bool sim_after_fork_in_child(void (*call)(void))
{
    (void)call;
    return true; // there are no child processes
}

void sim_reset_pages(void *pages, size_t bytes)
{
    (void)pages, (void)bytes;
}

bool sim_protect_pages(void *pages, size_t bytes, PageAccess access)
{
    (void)pages, (void)bytes, (void)access;
    return true;
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

bool sim_install_fault_handler(FaultHandler *explain)
{
    (void)explain;
    return true;
}

bool sim_owns_fault_handler(void)
{
    return false;
}

// ---- Threads: there is only one

void sim_lock(Lock *lock)
{
    (void)lock;
}

void sim_unlock(Lock *lock)
{
    (void)lock;
}

void sim_wait(CondVar *waiters, Lock *lock)
{
    (void)waiters, (void)lock;
    sim_die("the only thread waits for another one");
}

void sim_wake_all(CondVar *waiters)
{
    (void)waiters;
}

void sim_yield(void)
{
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
