// host_heap_calls.c: the C library's allocation functions, which also record the blocks (host_heap.h). They are weak, and in a file of
// their own, so that a program may have an allocator of its own.
#include <features.h>
#ifdef __GLIBC__
#include "base/host_heap.h"

#include <errno.h>
#include <stdlib.h>

#define REPLACES __attribute__((weak, visibility("default")))

extern void *__libc_malloc(size_t bytes), *__libc_calloc(size_t count, size_t bytes), *__libc_realloc(void *old, size_t bytes),
    *__libc_memalign(size_t alignment, size_t bytes), __libc_free(void *block);

static void *record(void *block, size_t bytes)
{
    sim_add_host_block(block, bytes);
    return block;
}

REPLACES void *malloc(size_t bytes)
{
    return record(__libc_malloc(bytes), bytes);
}

REPLACES void *calloc(size_t count, size_t bytes)
{
    return record(__libc_calloc(count, bytes), count * bytes);
}

REPLACES void *realloc(void *old, size_t bytes)
{
    void *fresh = __libc_realloc(old, bytes);
    if (fresh && fresh == old) {
        sim_resize_host_block(old, bytes);
        return fresh;
    }
    if (fresh || bytes == 0) // if another thread has got the address meanwhile, its block is not known
        sim_remove_host_block(old);
    return record(fresh, bytes);
}

REPLACES void *memalign(size_t alignment, size_t bytes)
{
    return record(__libc_memalign(alignment, bytes), bytes);
}

REPLACES void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

REPLACES int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *) || alignment == 0 || alignment & (alignment - 1))
        return EINVAL;
    void *fresh = memalign(alignment, bytes);
    *block = fresh ? fresh : *block;
    return fresh ? 0 : ENOMEM;
}

REPLACES void free(void *block)
{
    sim_remove_host_block(block);
    __libc_free(block);
}
#else
typedef int no_glibc; // a translation unit needs a declaration
#endif
