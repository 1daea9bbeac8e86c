// platform.h: the host platform: files, pages, faults, threads, exit handlers, and source locations of the host program.
//
// Implemented by platform_linux.c, and by platform_minimal.c for hosts without threads, signals and files ("Minimal" below). Kernels
// also run on the latter, but the checker misses some errors.
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- Files. Minimal: buffers in memory

// Truncates a file and opens it for writing; returns NULL and sets errno on failure.
FILE *sim_open_output(const char *name);
// Atomically replaces a file by the output of `write`. A file that is not regular, such as a pipe, is written only if `at_exit`.
// Returns false and sets errno on failure.
bool sim_replace_file(const char *name, bool at_exit, void (*write)(FILE *out));
// Opens a source file of the program; NULL on failure. Minimal: only files stored by sim_register_source.
FILE *sim_open_source(const char *name);
void sim_register_source(const char *name, const char *text, size_t bytes); // stores a source file; Linux: does nothing
// The content of a file opened by sim_open_output, valid until the next write to it. Linux: NULL.
const char *sim_written_text(const char *name, size_t *bytes);
// The name relative to the working directory if the file is in it, else the name unchanged.
const char *sim_relative_name(const char *file);
void sim_program_path(char *path, size_t space); // the path of the running program; minimal: empty
FILE *sim_open_maps(void); // the process's mappings as lines "begin-end rights ..."; NULL if unknown
bool sim_is_terminal(FILE *file); // minimal: false

// ---- Exit handlers

// Registers a function to call at exit; the last one registered runs first. Minimal: status is 0.
void sim_on_exit(void (*handler)(int status));

// ---- Pages

typedef enum PageAccess { NO_ACCESS, READ_ACCESS, READ_WRITE_ACCESS } PageAccess;

size_t sim_page_bytes(void);
size_t sim_host_memory_bytes(void); // physical memory of the host
// Reserves inaccessible address space; NULL on failure. Minimal: NULL.
uint8_t *sim_reserve_pages(size_t bytes);
bool sim_has_pages(void); // true if sim_reserve_pages is supported
// Maps the same zeroed, lazily committed memory at two reserved ranges, each with its own PageAccess. `pages` must not
// be below that of the first call, from which the data limit (RLIMIT_DATA) is measured; mapping a range again zeroes it. Children (fork) share the memory.
bool sim_map_twice(void *pages, void *alias, size_t bytes);
bool sim_after_fork_in_child(void (*call)(void)); // registers `call`, to run in child processes after fork; false on failure
// An anonymous file filled with one byte value, for sim_map_private. Returns its descriptor; negative on failure.
int sim_make_fill_file(uint8_t value, size_t bytes);
// Maps a file, starting at `offset`, copy-on-write.
bool sim_map_private(void *pages, size_t bytes, int file, size_t offset);
// An anonymous file of zeros that other processes can map. Returns its descriptor; negative on failure.
int sim_make_shared_file(size_t bytes);
// Maps a file, starting at `offset`, shared with its other mappings.
bool sim_map_shared(void *pages, size_t bytes, int file, size_t offset);
void sim_close_file(int file);
// Restores the initial content of whole pages: zeros, or the mapped file.
void sim_reset_pages(void *pages, size_t bytes);
// Sets the access rights. False if the system's limit on mappings is reached. Minimal: does nothing.
bool sim_protect_pages(void *pages, size_t bytes, PageAccess access);
// Zeroed, lazily committed memory; NULL when memory runs out.
void *sim_allocate_zeroed(size_t bytes);
void sim_free_zeroed(void *memory, size_t bytes);
void sim_prefer_huge_pages(void *memory, size_t bytes); // one page fault for each 2 MiB
// True if all these addresses are mapped; minimal: always true. The caller holds the lock of machine/memory/lock.c.
bool sim_pages_are_mapped(const void *pointer, size_t bytes);

// ---- Faults

// Called in a signal handler for a faulting access. Returns true to retry the access. `instruction`: its address, or NULL if unknown.
// `is_last`: no other handler is installed.
typedef bool FaultHandler(const void *address, bool writes, const void *instruction, bool is_last);

bool sim_install_fault_handler(FaultHandler *handler); // call once; minimal: does nothing, returns true
bool sim_owns_fault_handler(void); // false if the program has replaced the handler

// ---- Threads. All of these types are zero-initialised.

typedef struct Lock {
    _Alignas(8) unsigned char bytes[48];
} Lock;

typedef struct CondVar {
    _Alignas(8) unsigned char bytes[48];
} CondVar;

typedef struct Once {
    int state; // 0: has not run yet
} Once;

typedef struct Thread {
    uintptr_t handle;
} Thread;

void sim_lock(Lock *lock); // not recursive
void sim_unlock(Lock *lock);
void sim_wait(CondVar *condition, Lock *lock); // minimal: calls sim_die, since there is no other thread
void sim_wake_all(CondVar *condition);
void sim_yield(void);
void sim_once(Once *once, void (*prepare)(void));
bool sim_start_thread(Thread *thread, void *(*run)(void *), void *argument); // minimal: false
void sim_join_thread(Thread thread);
uintptr_t sim_this_thread(void); // unique among running threads
int sim_core_count(void);

// ---- parallel.c

// Calls work(0, context) to work(count - 1, context) on several host threads, with at least `min_per_thread` indices each;
// returns when all are done.
void sim_parallel_for(size_t count, size_t min_per_thread, void (*work)(size_t index, void *context), void *context);

// ---- Source locations of the host program

// Stores at most `max` return addresses of the call stack, innermost first; returns their number. Minimal: 0.
int sim_backtrace(void **return_addresses, int max);
// True if the address is in the main executable. Sets the executable's load bias in any case.
bool sim_is_in_program(const void *address, uintptr_t *load_bias);
// Looks up source locations of addresses in the executable file. The stream has for each address a line "0x...", then lines
// "file:line", innermost inlined function first. NULL: unavailable. Only one such stream may be open.
FILE *sim_open_source_locations(const uintptr_t *addresses, int count);
void sim_close_source_locations(FILE *lines);

#endif
