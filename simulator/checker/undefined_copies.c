// undefined_copies.c: tracks undefined values in global memory from the kernel's store until they are copied to the host.
//
// An allocation has a number for each byte: that of the store which put an undefined value there. It may be stale, as later defined
// stores do not clear it; so the host's read also consults the bitmap of initialised bytes (written.c).
#include "checker/allocation_check.h"
#include "checker/undefined_copies.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

// All copies of undefined values from one load instruction by one store instruction. Its number is 1 more than its index.
typedef struct UndefinedCopy {
    const Instr *load, *store;
    ReportRule rule;
    DeferredFinding report;
    bool reaches_host; // sim_report_undefined_copies() is about to report it
} UndefinedCopy;

static UndefinedCopy *copies; // guarded by `lock`, as is undefined_bytes of all allocations
static size_t copy_count, copy_capacity;
static Lock lock;

static uint32_t find_number(const Instr *load, const Instr *store, ReportRule rule)
{
    for (size_t k = 0; k < copy_count; k++)
        if (copies[k].load == load && copies[k].store == store && copies[k].rule == rule)
            return (uint32_t)k + 1;
    return 0;
}

static void set_numbers(Allocation *a, uint64_t address, size_t bytes, uint32_t number)
{
    uint32_t **numbers = &a->check->undefined_bytes;
    const size_t first = address - a->address, end = bytes < a->bytes - first ? first + bytes : a->bytes;
    if (!*numbers && number && !(*numbers = calloc(a->bytes, sizeof **numbers)))
        sim_die("out of memory: undefined values");
    for (size_t k = first; *numbers && k < end; k++)
        (*numbers)[k] = number;
}

bool sim_note_undefined_copy(const Instr *load, const Instr *store, uint64_t address, size_t bytes, ReportRule rule)
{
    sim_lock(&lock);
    const uint32_t number = rule == REPORT_NEVER ? 0 : find_number(load, store, rule);
    set_numbers(sim_allocation_at(address), address, bytes, number);
    sim_unlock(&lock);
    return rule == REPORT_NEVER || number != 0;
}

void sim_add_undefined_copy(const Instr *load, const Instr *store, ReportRule rule, const DeferredFinding *report)
{
    sim_lock(&lock);
    if (copy_count == copy_capacity) {
        copy_capacity = copy_capacity ? 2 * copy_capacity : 16;
        copies = realloc(copies, copy_capacity * sizeof *copies);
        if (!copies)
            sim_die("out of memory: undefined values");
    }
    copies[copy_count++] = (UndefinedCopy){load, store, rule, *report, false};
    sim_unlock(&lock);
}

bool sim_find_undefined_copy(uint64_t address, DeferredFinding *report)
{
    const Allocation *a = sim_allocation_at(address);
    sim_lock(&lock);
    const uint32_t number = a && a->check && a->check->undefined_bytes ? a->check->undefined_bytes[address - a->address] : 0;
    if (number)
        *report = copies[number - 1].report;
    sim_unlock(&lock);
    return number != 0;
}

void sim_propagate_undefined(uint64_t to, uint64_t from, size_t bytes)
{
    const Allocation *source = sim_address_starts_uninitialised(from) ? sim_allocation_at(from) : NULL;
    Allocation *a = source && sim_address_starts_uninitialised(to) ? sim_allocation_at(to) : NULL;
    if (!a || !a->check)
        return;
    sim_lock(&lock);
    const uint32_t *numbers = source->check->undefined_bytes;
    if (numbers)
        set_numbers(a, to, 1, 1); // allocates the numbers
    else
        set_numbers(a, to, bytes, 0);
    if (numbers)
        memmove(a->check->undefined_bytes + (to - a->address), numbers + (from - source->address), bytes * sizeof *numbers);
    sim_unlock(&lock);
}

void sim_free_undefined_copies(Allocation *a)
{
    sim_lock(&lock);
    free(a->check->undefined_bytes);
    a->check->undefined_bytes = NULL;
    sim_unlock(&lock);
}

// Marks the copies that are to be reported in a range of uninitialised bytes that the host reads.
static void mark_reported(const uint32_t *numbers, size_t first, size_t end)
{
    for (size_t at = first, next; at < end; at = next + 1) {
        for (next = at; next < end && numbers[next]; next++)
            continue;
        for (size_t k = at; k < next; k++)
            copies[numbers[k] - 1].reaches_host |= copies[numbers[k] - 1].rule == REPORT_ANY || next - at >= LINE_BYTES;
    }
}

// Copies the next marked report and removes the mark; false: there is none.
static bool take_report(DeferredFinding *report)
{
    bool found = false;
    sim_lock(&lock);
    for (size_t k = 0; k < copy_count && !found; k++) {
        found = copies[k].reaches_host;
        copies[k].reaches_host = false;
        *report = found ? copies[k].report : *report;
    }
    sim_unlock(&lock);
    return found;
}

bool sim_report_undefined_copies(uint64_t address, size_t bytes)
{
    const Allocation *a = sim_allocation_at(address);
    DeferredFinding report;
    bool found = false;
    sim_lock(&lock);
    const uint32_t *numbers = a && a->check ? a->check->undefined_bytes : NULL;
    for (uint64_t at = address, end; numbers && at < address + bytes; at = end) {
        at += sim_find_unwritten(at, address + bytes - at);
        end = at < address + bytes ? at + sim_find_written(at, address + bytes - at) : at;
        mark_reported(numbers, at - a->address, end - a->address);
        if (end == at)
            break;
    }
    sim_unlock(&lock);
    for (; take_report(&report); found = true)
        sim_add_finding(report.kind, report.title, report.locations, report.count, report.hint);
    return found;
}
