// bytes.c: copies and sets bytes, and reports these accesses to the checker.
#include "checker/kernel_checks.h"
#include "checker/host_checks.h"
#include "checker/memory_uses.h"
#include "checker/order.h"
#include "runtime/work/record.h"
#include "runtime/work/state.h"

#include <string.h>

// True for pageable memory; copies to it are synchronous.
static bool is_pageable(const void *pointer)
{
    return !sim_on_device(pointer, 1);
}

// Reports the access, if the checker tracks the memory.
static void report_use(const void *pointer, size_t bytes, UseKind kind)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (!a || !a->records_uses || address - a->address >= a->bytes)
        return;
    if (sim_use_conflicts(a, address, bytes, kind))
        sim_note_conflict(a, address, bytes, kind, NULL);
    sim_note_use(a, address, bytes, kind);
}

void sim_note_read(const void *pointer, size_t bytes)
{
    report_use(pointer, bytes, USE_READS);
}

void sim_note_write(const void *pointer, size_t bytes)
{
    sim_mark_written((uint64_t)(uintptr_t)pointer, bytes);
    report_use(pointer, bytes, USE_WRITES);
    sim_invalidate_digests(pointer, bytes);
}

// Copies the record of which bytes are initialised.
static void copy_written(uint64_t to, uint64_t from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t written = sim_find_unwritten(from + at, bytes - at);
        if (written)
            sim_mark_written(to + at, written);
        at += written;
        at += at < bytes ? sim_find_written(from + at, bytes - at) : 0;
    }
}

void sim_copy_bytes(void *to, const void *from, size_t bytes)
{
    if (bytes == 0)
        return;
    sim_invalidate_digests(to, bytes);
    memmove(sim_memory_at(to), sim_memory_at(from), bytes);
    copy_written((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes);
    sim_propagate_undefined((uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, bytes);
    if (!sim_in_device_range(to))
        sim_note_result((uint64_t)(uintptr_t)from, bytes);
    report_use(from, bytes, USE_READS);
    report_use(to, bytes, USE_WRITES);
    if (sim_in_device_range(to))
        sim_note_copy(false, bytes);
    if (sim_in_device_range(from))
        sim_note_copy(true, bytes);
    if (is_pageable(to))
        sim_synchronize_host(sim_current_timeline());
    sim_record_copy(to, from, bytes);
}

void sim_set_bytes(void *pointer, int value, size_t bytes)
{
    if (bytes == 0)
        return;
    sim_invalidate_digests(pointer, bytes);
    memset(sim_memory_at(pointer), value, bytes);
    sim_mark_written((uint64_t)(uintptr_t)pointer, bytes);
    report_use(pointer, bytes, USE_WRITES);
    sim_note_copy(false, bytes);
    sim_record_fill(pointer, value, bytes);
}
