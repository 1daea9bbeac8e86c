// memory.h: arenas, slices of text and the end of a process: what needs neither CUDA's headers nor a platform.
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- die.c
// Ends the process at once with status 70 and one line on stderr: nothing runs any more, neither destructors nor what
// atexit was given, for the caller may hold any lock. For what cannot be reported as an error of a call.
_Noreturn void sim_die(const char *what);

// ---- arena.c: memory that is given back as a whole.

typedef struct Arena {
    struct ArenaBlock *blocks;
} Arena;

// size bytes of zeros, aligned for any type; dies when memory runs out.
void *sim_allocate(Arena *arena, size_t size);
void sim_join_arenas(Arena *arena, Arena *other); // what was allocated in the other one belongs to the first
void sim_free_arena(Arena *arena);

// ---- slices.c, and sizes

typedef struct Slice { // a piece of somebody else's text, without a 0 at its end
    const char *text;
    size_t length;
} Slice;

bool sim_slice_is(Slice slice, const char *text);
bool sim_same_slice(Slice a, Slice b);
static inline size_t sim_aligned(size_t offset, size_t align)
{
    return (offset + align - 1) / align * align;
}

#endif
