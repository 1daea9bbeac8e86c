// arena.c: memory that is freed all at once.
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct ArenaBlock {
    struct ArenaBlock *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void *sim_allocate(Arena *arena, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct ArenaBlock *block = arena->blocks;
    if (!block || block->size - block->used < size) {
        size_t space = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof *block + space);
        if (!block)
            sim_die("out of memory: module");
        block->next = arena->blocks;
        block->used = 0;
        block->size = space;
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memset(memory, 0, size);
}

void sim_join_arenas(Arena *arena, Arena *other)
{
    struct ArenaBlock **tail = &other->blocks;
    while (*tail)
        tail = &(*tail)->next;
    *tail = arena->blocks;
    arena->blocks = other->blocks;
    other->blocks = NULL;
}

void sim_free_arena(Arena *arena)
{
    for (struct ArenaBlock *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->blocks = NULL;
}
