// platform.h: what the simulator asks of the host: files, pages, faults, threads, the lines of the program's source, and
// its end.
// Two files hold it, of which a library has one: platform_linux.c, and platform_plain.c for a host without threads,
// signals and files. Where the second says "nothing", the simulator still runs kernels, and finds less.
#ifndef PLATFORM_H
#define PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- Files. Plain: texts in memory

// A file that is written anew; NULL, and errno, where it cannot be.
FILE *sim_open_output(const char *name);
// What `write` writes becomes the file of this name: all of it, or none. What is no plain file, such as a pipe, gets it
// at the program's end only. False, and errno, where it cannot be written.
bool sim_write_whole(const char *name, bool at_end, void (*write)(FILE *out));
// A file of the program's source, or NULL. Plain: one that has been kept.
FILE *sim_open_source(const char *name);
void sim_keep_source(const char *name, const char *text, size_t bytes); // plain only; Linux: nothing
// What has been written to a file, until it is written to again; plain only: NULL on Linux, or where there is none.
const char *sim_text_of(const char *name, size_t *bytes);
// The name as one would type it: without the working directory, if the file lies there.
const char *sim_short_name(const char *file);
void sim_program_path(char *path, size_t space); // of the program that runs; plain: empty
FILE *sim_open_maps(void); // lines "begin-end rights ...", of the memory that the process has; NULL: nobody knows
bool sim_is_terminal(FILE *file); // plain: never

// ---- The program's end

// Calls it when the program ends, before those that were given earlier. Plain: status is 0.
void sim_on_exit(void (*end)(int status));

// ---- Pages

typedef enum PageAccess { NO_ACCESS, READ_ACCESS, ALL_ACCESS } PageAccess;

size_t sim_page_bytes(void);
size_t sim_host_bytes(void); // all memory of the host
// Addresses that nobody may touch as yet. NULL where there are none; plain: always.
uint8_t *sim_reserve_pages(size_t bytes);
bool sim_has_pages(void); // whether sim_reserve_pages is any use
// Gives reserved pages memory that holds zeros, and takes none before it is written: the same one at two places, each of which has its own PageAccess.
// Pages lie behind those of the calls before, or are theirs, which begin anew. A child of the process (fork) has the same memory, too.
bool sim_map_twice(void *pages, void *again, size_t bytes);
bool sim_after_fork_in_child(void (*call)(void)); // has it called when the process has made one; false where that fails
// A file of so many times one byte, for sim_map_fill; negative if it cannot be made.
int sim_make_fill(uint8_t value, size_t bytes);
// The same with memory that shows the file from `offset` on, until it is written.
bool sim_map_fill(void *pages, size_t bytes, int file, size_t offset);
// A file of so many zeros, which also other processes may show; negative if it cannot be made.
int sim_make_shared(size_t bytes);
// The same with memory that is the file from `offset` on, wherever else it is mapped.
bool sim_map_shared(void *pages, size_t bytes, int file, size_t offset);
void sim_close_file(int file);
// Whole pages become what they were when they were mapped.
void sim_reset_pages(void *pages, size_t bytes);
// Whoever does more is a fault. False where the system cannot keep so many pieces apart; plain: does nothing.
bool sim_protect_pages(void *pages, size_t bytes, PageAccess access);
// Zeros, of which those that nobody writes take no memory; NULL when memory runs out.
void *sim_new_zeros(size_t bytes);
void sim_free_zeros(void *zeros, size_t bytes);
void sim_prefer_large_pages(void *memory, size_t bytes); // one fault in place of 512
// Whether the process has memory at all these addresses; plain: always. The caller holds the memory's lock.
bool sim_pages_are_mapped(const void *pointer, size_t bytes);

// ---- Faults

// Who explains an access that failed: true lets the thread try again. `at`: the instruction, or NULL if it is not
// known. `last`: nobody else would explain it. The thread is in the midst of its own code.
typedef bool FaultHandler(const void *address, bool writes, const void *at, bool last);

bool sim_install_fault_handler(FaultHandler *explain); // once; plain: does nothing and is true
bool sim_owns_fault_handler(void);           // still: a program may have put its own handler in our place

// ---- Threads. All of these begin as zeros.

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

void sim_lock(Lock *lock); // a thread holds it once
void sim_unlock(Lock *lock);
void sim_wait(CondVar *waiters, Lock *lock); // plain: dies, for there is nobody to wait for
void sim_wake_all(CondVar *waiters);
void sim_yield(void); // if any other thread could; it comes back soon
void sim_once(Once *once, void (*prepare)(void));
bool sim_start_thread(Thread *thread, void *(*run)(void *), void *argument); // plain: false
void sim_join_thread(Thread thread);
uintptr_t sim_this_thread(void); // a number that no other thread has while this one runs
int sim_core_count(void);

// ---- parallel.c

// Calls `work` for each piece below `count`, on several threads where each of them has at least so many pieces; comes back when all is
// done.
void sim_parallel_for(size_t count, size_t least, void (*work)(size_t piece, void *with), void *with);

// ---- Host lines

// Where the functions that are being called go on, innermost first; returns how many. Plain: none.
int sim_backtrace(void **called, int most);
// Whether the address is in the program itself, and how far that has been moved from where its file says.
bool sim_is_in_program(const void *address, uintptr_t *moved_by);
// What the program's debug information says of addresses in its file: of each the address, a line "0x...", and then
// "file:line", first the innermost of functions that were inlined. NULL where nobody knows. One at a time.
FILE *sim_open_lines(const uintptr_t *addresses, int count);
void sim_close_lines(FILE *lines);

#endif
