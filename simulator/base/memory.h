// memory.h: arenas, text slices and sim_die. Depends neither on CUDA's headers nor on platform.h.
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// ---- die.c
// Ends the process with status 70 and a line on stderr. Runs no destructors or atexit functions, because the caller may hold
// any lock. For errors that no call can return.
_Noreturn void sim_die(const char *what);

// ---- arena.c: memory that is freed all at once

typedef struct Arena {
    struct ArenaBlock *blocks;
} Arena;

// `size` zeroed bytes, aligned for any type; calls sim_die when memory runs out.
void *sim_allocate(Arena *arena, size_t size);
void sim_join_arenas(Arena *arena, Arena *other); // moves all memory of `other` to `arena`
void sim_free_arena(Arena *arena);

// ---- slices.c, and alignment

typedef struct Slice { // borrowed text, not NUL-terminated
    const char *text;
    size_t length;
} Slice;

bool sim_slice_is(Slice slice, const char *text);
bool sim_same_slice(Slice a, Slice b);
// Rounds an offset up to a multiple of `align`.
static inline size_t sim_align_up(size_t offset, size_t align)
{
    return (offset + align - 1) / align * align;
}

#endif
