// platform.h: the host platform: files, pages, faults, threads, exit handlers, and lines of the host program.
//
// Implemented by platform_linux.c, and by platform_plain.c for hosts without threads, signals and files ("Plain" below). On the
// latter kernels run, too, but some mistakes are not found.
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- Files. Plain: buffers in memory

// Opens a file for writing, truncated; NULL and errno on failure.
FILE *sim_open_output(const char *name);
// Atomically replaces a file by what `write` writes. Other than regular files, such as a pipe, are only written if `at_end`.
// False and errno on failure.
bool sim_write_whole(const char *name, bool at_end, void (*write)(FILE *out));
// Opens a source file of the program, or NULL. Plain: one of sim_keep_source.
FILE *sim_open_source(const char *name);
void sim_keep_source(const char *name, const char *text, size_t bytes); // Linux: does nothing
// The content of a written file, valid until the next write to it. Linux: NULL.
const char *sim_text_of(const char *name, size_t *bytes);
// The name relative to the working directory, if the file is below it.
const char *sim_short_name(const char *file);
void sim_program_path(char *path, size_t space); // of the running program; plain: empty
FILE *sim_open_maps(void); // lines "begin-end rights ..." of the process's mappings; NULL: unknown
bool sim_is_terminal(FILE *file); // plain: false

// ---- Exit handlers

// Registers a function for the program's exit; called in reverse order. Plain: status is 0.
void sim_on_exit(void (*end)(int status));

// ---- Pages

typedef enum PageAccess { NO_ACCESS, READ_ACCESS, ALL_ACCESS } PageAccess;

size_t sim_page_bytes(void);
size_t sim_host_bytes(void); // physical memory of the host
// Reserves inaccessible address space; NULL on failure. Plain: NULL.
uint8_t *sim_reserve_pages(size_t bytes);
bool sim_has_pages(void); // whether sim_reserve_pages is supported
// Maps the same zeroed, lazily committed memory at two reserved ranges, each with its own PageAccess. `pages` is at or after
// the ranges of earlier calls; a repeated range is zeroed. Children (fork) share the memory.
bool sim_map_twice(void *pages, void *again, size_t bytes);
bool sim_after_fork_in_child(void (*call)(void)); // registers `call` for child processes; false on failure
// A file filled with one byte value, for sim_map_fill; negative on failure.
int sim_make_fill(uint8_t value, size_t bytes);
// Maps a file from `offset` on, copy-on-write.
bool sim_map_fill(void *pages, size_t bytes, int file, size_t offset);
// A file of zeros that other processes can map, too; negative on failure.
int sim_make_shared(size_t bytes);
// Maps a file from `offset` on, shared with all its other mappings.
bool sim_map_shared(void *pages, size_t bytes, int file, size_t offset);
void sim_close_file(int file);
// Restores the initial content of whole pages.
void sim_reset_pages(void *pages, size_t bytes);
// Sets the access rights. False if the system's number of mappings is exhausted. Plain: does nothing.
bool sim_protect_pages(void *pages, size_t bytes, PageAccess access);
// Zeroed, lazily committed memory; NULL when memory runs out.
void *sim_new_zeros(size_t bytes);
void sim_free_zeros(void *zeros, size_t bytes);
void sim_prefer_large_pages(void *memory, size_t bytes); // one page fault instead of 512
// Whether all these addresses are mapped; plain: true. The caller holds the lock of machine/lock.c.
bool sim_pages_are_mapped(const void *pointer, size_t bytes);

// ---- Faults

// Called in a signal handler for a failed access. Returns true to retry the access. `at`: the instruction, or NULL if
// unknown. `last`: no other handler is installed.
typedef bool FaultHandler(const void *address, bool writes, const void *at, bool last);

bool sim_install_fault_handler(FaultHandler *explain); // once; plain: does nothing, returns true
bool sim_owns_fault_handler(void); // false if the program has replaced the handler

// ---- Threads. All of these types are zero-initialised.

typedef struct Lock {
    _Alignas(8) unsigned char bytes[48];
} Lock;

typedef struct CondVar {
    _Alignas(8) unsigned char bytes[48];
} CondVar;

typedef struct Once {
    int bits;
} Once;

typedef struct Thread {
    uintptr_t handle;
} Thread;

void sim_lock(Lock *lock); // not recursive
void sim_unlock(Lock *lock);
void sim_wait(CondVar *waiters, Lock *lock); // plain: sim_die, since there is no other thread
void sim_wake_all(CondVar *waiters);
void sim_yield(void);
void sim_once(Once *once, void (*prepare)(void));
bool sim_start_thread(Thread *thread, void *(*run)(void *), void *argument); // plain: false
void sim_join_thread(Thread thread);
uintptr_t sim_this_thread(void); // unique among running threads
int sim_core_count(void);

// ---- parallel.c

// Calls work(0, with) to work(count - 1, with), in parallel if each thread has at least `least` pieces; returns when all are
// done.
void sim_parallel_for(size_t count, size_t least, void (*work)(size_t piece, void *with), void *with);

// ---- Host lines

// The return addresses of the call stack, innermost first; returns their number. Plain: 0.
int sim_backtrace(void **called, int most);
// Whether the address is in the main executable, and its load bias.
bool sim_is_in_program(const void *address, uintptr_t *moved_by);
// Opens the source lines of addresses in the executable file: for each a line "0x...", then lines "file:line", innermost
// inlined function first. NULL: unavailable. Only one may be open.
FILE *sim_open_lines(const uintptr_t *addresses, int count);
void sim_close_lines(FILE *lines);

#endif
