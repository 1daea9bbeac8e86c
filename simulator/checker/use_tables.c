// use_tables.c: tables of the last operation that used each byte of an allocation (uses.h).
#include "base/platform.h"
#include "checker/order.h"
#include "checker/uses.h"

static const uint32_t NUMBER_MASK = SIM_USE_NUMBER;

// A table of operation numbers; untouched pages take no memory.
static atomic_uint *new_numbers(size_t count)
{
    void *numbers = sim_allocate_zeroed(count * sizeof(atomic_uint) + 1);
    if (!numbers)
        sim_die("out of memory: recorded uses of an allocation");
    return numbers;
}

static void free_numbers(atomic_uint *numbers, size_t count)
{
    sim_free_zeroed(numbers, count * sizeof *numbers + 1);
}

// A rarely needed part of a table, which is allocated on first use.
static atomic_uint *numbers_of(_Atomic(atomic_uint *) *table_part, size_t count)
{
    atomic_uint *numbers = *table_part;
    if (numbers)
        return numbers;
    atomic_uint *fresh = new_numbers(count);
    if (atomic_compare_exchange_strong(table_part, &numbers, fresh))
        return fresh;
    free_numbers(fresh, count); // another host thread has made it
    return numbers;
}

static size_t units_of(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit;
}

static void allocate_table(UseTable *t, size_t bytes)
{
    if (t->lines)
        return;
    t->lines = new_numbers(units_of(bytes, SIM_USE_LINE));
    t->parts = new_numbers(units_of(bytes, SIM_USE_LINE));
}

void sim_allocate_tables(UseTables *t, size_t bytes)
{
    allocate_table(&t->read, bytes);
    allocate_table(&t->written, bytes);
}

static void free_table(UseTable *t, size_t bytes)
{
    if (!t->lines)
        return;
    free_numbers(t->lines, units_of(bytes, SIM_USE_LINE));
    free_numbers(t->parts, units_of(bytes, SIM_USE_LINE));
    if (t->words)
        free_numbers(t->words, units_of(bytes, SIM_USE_WORD));
    if (t->bytes)
        free_numbers(t->bytes, bytes);
}

void sim_free_tables(UseTables *t, size_t bytes)
{
    free_table(&t->read, bytes);
    free_table(&t->written, bytes);
}

void sim_set_number(atomic_uint *numbers, uint64_t at, uint32_t entry)
{
    const uint32_t known = sim_number_at(numbers, at);
    if (known != entry && known != (entry & NUMBER_MASK)) // avoids contention between host threads
        atomic_store_explicit(&numbers[at], entry, memory_order_relaxed);
}

// Records the use of a part of a line. `bytes`: size of the allocation.
static void set_part(UseTable *t, size_t bytes, uint64_t at, uint64_t end, uint32_t entry)
{
    sim_set_number(t->parts, at / SIM_USE_LINE, entry);
    while (at < end) {
        const bool whole = at % SIM_USE_WORD == 0 && end - at >= SIM_USE_WORD;
        sim_set_number(whole ? numbers_of(&t->words, units_of(bytes, SIM_USE_WORD)) : numbers_of(&t->bytes, bytes),
                   whole ? at / SIM_USE_WORD : at, entry);
        at += whole ? SIM_USE_WORD : 1;
    }
}

void sim_set_uses(UseTable *t, size_t bytes, uint64_t first, uint64_t end, uint32_t entry)
{
    for (uint64_t at = first, next; at < end; at = next) {
        const uint64_t line = at / SIM_USE_LINE, line_end = (line + 1) * SIM_USE_LINE;
        next = line_end < end ? line_end : end;
        if (at % SIM_USE_LINE == 0 && (next == line_end || next == bytes))
            sim_set_number(t->lines, line, entry);
        else
            set_part(t, bytes, at, next, entry);
    }
}

void sim_note_late_use(const Allocation *a, uint64_t address, size_t bytes, UseKind kind)
{
    Uses *u = uses_of(a);
    const uint32_t op = sim_current_op(), entry = kind & USE_ATOMIC ? op | ~NUMBER_MASK : op;
    const uint64_t first = address - u->address;
    if (u->late.written.lines)
        sim_set_uses(kind & USE_WRITES ? &u->late.written : &u->late.read, u->bytes, first, first + bytes, entry);
}
