// host_heap.h: the live blocks of the C library's heap, to check the host side of copies. Only with glibc; otherwise none are known.
#ifndef HOST_HEAP_H
#define HOST_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HostBlock {
    size_t bytes;    // as requested
    uint64_t number; // differs from that of every other block, also at the same address
} HostBlock;

// Sets *block to the live block that starts at the pointer; false if none is known.
bool sim_find_host_block(const void *pointer, HostBlock *block);

// Called by host_heap_calls.c, by any thread at any time; they take no locks and allocate nothing. NULL is ignored.
void sim_add_host_block(const void *pointer, size_t bytes);
void sim_remove_host_block(const void *pointer);
void sim_resize_host_block(const void *pointer, size_t bytes); // it remains the same block

#endif
