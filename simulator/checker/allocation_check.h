// allocation_check.h: the checker's state of an allocation. Internal to the checker.
#ifndef ALLOCATION_CHECK_H
#define ALLOCATION_CHECK_H

#include "checker/kernel_checks.h"

// Allocation.check. Guarded by the lock of machine/memory/lock.c, except for what the blocks of a launch use concurrently:
// shadow lines have their own locks (ShadowLine.busy), undefined_bytes that of undefined_copies.c, and Uses atomic fields.
typedef struct AllocationCheck {
    ShadowLine *lines;                 // shadow memory; NULL: not accessed yet
    uint32_t *fully_written;           // for each line: 0, FULLY_WRITTEN, or the launch in which reads need no more recording;
                                       // allocated before `lines`
    atomic_bool has_overflow_lines;    // some lines have a ShadowOverflow
    atomic_uint last_write_generation; // LaunchClocks.generation of the last kernel that wrote to it
    uint32_t *undefined_bytes;         // undefined_copies.c: a number for each byte; or NULL
    struct Uses *uses;                 // memory_uses.c: accesses by host and device; or NULL
} AllocationCheck;

// The recorded uses of an allocation, or NULL.
static inline struct Uses *uses_of(const Allocation *a)
{
    return a->check ? a->check->uses : NULL;
}

// The shadow lines of an allocation, or NULL.
static inline ShadowLine *lines_if_any(const Allocation *a)
{
    return a->check ? a->check->lines : NULL;
}

#endif
