// platform_minimal.c: platform.h for hosts without threads, signals and files, such as WebAssembly in a browser. Memory comes from
// malloc, without page protection, and source locations of the host program are unknown.
#include "base/platform.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>

// ---- Files

typedef struct MemoryFile { // content of a file; never freed
    const char *name;
    char *bytes;
    size_t count;
    FILE *file; // open for writing, or NULL
    struct MemoryFile *next;
} MemoryFile;

static MemoryFile *files;

static MemoryFile *find_file(const char *name)
{
    MemoryFile *entry = files;
    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

static MemoryFile *create_file(const char *name)
{
    MemoryFile *entry = find_file(name);
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        if (!entry || !(entry->name = strdup(name)))
            sim_die("out of memory: file buffer");
        entry->next = files;
        files = entry;
    }
    entry->bytes = NULL;
    entry->count = 0;
    entry->file = NULL;
    return entry;
}

FILE *sim_open_output(const char *name)
{
    MemoryFile *entry = create_file(name);
    return entry->file = open_memstream(&entry->bytes, &entry->count);
}

bool sim_replace_file(const char *name, bool at_exit, void (*write)(FILE *out))
{
    (void)at_exit;
    FILE *out = sim_open_output(name);
    if (!out)
        return false;
    write(out);
    return fflush(out) == 0;
}

FILE *sim_open_source(const char *name)
{
    MemoryFile *entry = find_file(name);
    return entry && entry->count > 0 ? fmemopen(entry->bytes, entry->count, "r") : NULL;
}

void sim_register_source(const char *name, const char *text, size_t bytes)
{
    MemoryFile *entry = create_file(name);
    entry->bytes = memcpy(malloc(bytes + 1), text, bytes);
    entry->count = bytes;
}

const char *sim_written_text(const char *name, size_t *bytes)
{
    MemoryFile *entry = find_file(name);
    if (entry && entry->file)
        fflush(entry->file);
    *bytes = entry ? entry->count : 0;
    return entry ? entry->bytes : NULL;
}

const char *sim_relative_name(const char *file)
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

enum { MAX_EXIT_HANDLERS = 8 };
static void (*exit_handlers[MAX_EXIT_HANDLERS])(int status);
static int exit_handler_count;

static void run_exit_handlers(void)
{
    while (exit_handler_count > 0)
        exit_handlers[--exit_handler_count](0);
}

void sim_on_exit(void (*handler)(int status))
{
    if (exit_handler_count == 0)
        atexit(run_exit_handlers);
    if (exit_handler_count == MAX_EXIT_HANDLERS)
        sim_die("too many exit handlers");
    exit_handlers[exit_handler_count++] = handler;
}

// ---- Pages

enum { PAGE_BYTES = 4096 };
static const size_t HOST_MEMORY_BYTES = (size_t)1 << 30;

size_t sim_page_bytes(void)
{
    return PAGE_BYTES;
}

size_t sim_host_memory_bytes(void)
{
    return HOST_MEMORY_BYTES;
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

bool sim_map_twice(void *pages, void *alias, size_t bytes)
{
    (void)pages, (void)alias, (void)bytes;
    return false;
}

int sim_make_fill_file(uint8_t value, size_t bytes)
{
    (void)value, (void)bytes;
    return -1;
}

bool sim_map_private(void *pages, size_t bytes, int file, size_t offset)
{
    (void)pages, (void)bytes, (void)file, (void)offset;
    return false;
}

int sim_make_shared_file(size_t bytes)
{
    (void)bytes;
    return -1;
}

bool sim_map_shared(void *pages, size_t bytes, int file, size_t offset)
{
    return sim_map_private(pages, bytes, file, offset);
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

void *sim_allocate_zeroed(size_t bytes)
{
    return calloc(1, bytes);
}

void sim_free_zeroed(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

void sim_prefer_huge_pages(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}

bool sim_pages_are_mapped(const void *pointer, size_t bytes)
{
    (void)pointer, (void)bytes;
    return true;
}

// ---- Faults

bool sim_install_fault_handler(FaultHandler *handler)
{
    (void)handler;
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

void sim_wait(CondVar *condition, Lock *lock)
{
    (void)condition, (void)lock;
    sim_die("the only thread waits for another one");
}

void sim_wake_all(CondVar *condition)
{
    (void)condition;
}

void sim_yield(void)
{
}

void sim_once(Once *once, void (*prepare)(void))
{
    if (!once->state) {
        prepare();
        once->state = 1;
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

// ---- Source locations of the host program

int sim_backtrace(void **return_addresses, int max)
{
    (void)return_addresses, (void)max;
    return 0;
}

bool sim_is_in_program(const void *address, uintptr_t *load_bias)
{
    (void)address;
    *load_bias = 0;
    return false;
}

FILE *sim_open_source_locations(const uintptr_t *addresses, int count)
{
    (void)addresses, (void)count;
    return NULL;
}

void sim_close_source_locations(FILE *lines)
{
    (void)lines;
}
