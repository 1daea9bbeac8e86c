// undefined_copies.c: what nobody wrote and kernels have put into global memory, until the host gets it.
//
// Of each allocation it is known to which of its bytes such a store has gone; those that somebody has written since are left out when
// the host asks.
#include "checker/undefined_copies.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

typedef struct Copied { // to an allocation, by one instruction, of what one other has read
    const Instr *read, *store;
    uint64_t allocation, low, high; // addresses
    Matters matters;
    Report report;
} Copied;

static Copied *copies; // under the lock, as are the bytes of all allocations
static size_t count, space;
static Lock lock;

static Copied *find(const Instr *read, const Instr *store, const Allocation *a, Matters matters)
{
    for (Copied *c = copies; c < copies + count; c++)
        if (c->read == read && c->store == store && c->allocation == a->address && c->matters == matters)
            return c;
    return NULL;
}

// ---- A bit for each byte of an allocation

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes, 1);
    if (!memory)
        sim_die("out of memory for what nobody wrote");
    return memory;
}

static bool has_bit(const uint8_t *bits, size_t at)
{
    return bits && bits[at / 8] >> at % 8 & 1;
}

static void set_bits(uint8_t *bits, size_t first, size_t end, bool value)
{
    for (size_t at = first, count; at < end; at += count) {
        count = 8 - at % 8 < end - at ? 8 - at % 8 : end - at;
        if (count == 8 && end - at > 8) {
            count = (end - at) / 8 * 8;
            memset(&bits[at / 8], value ? 255 : 0, count / 8);
            continue;
        }
        const uint8_t some = (uint8_t)(((1u << count) - 1) << at % 8);
        bits[at / 8] = (uint8_t)(value ? bits[at / 8] | some : bits[at / 8] & ~some);
    }
}

static void forget(Allocation *a, size_t first, size_t end)
{
    for (int k = IN_ROWS; k <= SINGLY; k++)
        if (a->unwritten_bytes[k])
            set_bits(a->unwritten_bytes[k], first, end, false);
}

static uint8_t *bits_of(Allocation *a, Matters matters)
{
    if (!a->unwritten_bytes[matters])
        a->unwritten_bytes[matters] = allocate(a->bytes / 8 + 1);
    return a->unwritten_bytes[matters];
}

static size_t end_in(const Allocation *a, size_t first, size_t bytes)
{
    return bytes < a->bytes - first ? first + bytes : a->bytes;
}

// ---- Stores and copies

static void widen(Copied *c, uint64_t address, size_t bytes)
{
    c->low = address < c->low ? address : c->low;
    c->high = address + bytes > c->high ? address + bytes : c->high;
}

static Copied *add(const Copied *one)
{
    if (count == space) {
        space = space ? 2 * space : 16;
        copies = realloc(copies, space * sizeof *copies);
        if (!copies)
            sim_die("out of memory for what nobody wrote");
    }
    copies[count] = *one;
    return &copies[count++];
}

void sim_forget_unwritten_copy(uint64_t address, size_t bytes)
{
    Allocation *a = sim_allocation_at(address);
    const size_t first = address - a->address;
    sim_lock(&lock);
    forget(a, first, end_in(a, first, bytes));
    sim_unlock(&lock);
}

bool sim_note_unwritten_copy(const Instr *read, const Instr *store, uint64_t address, size_t bytes, Matters matters)
{
    Allocation *a = sim_allocation_at(address);
    const size_t first = address - a->address, end = end_in(a, first, bytes);
    sim_lock(&lock);
    forget(a, first, end); // what was stored there before
    set_bits(bits_of(a, matters), first, end, true);
    Copied *c = find(read, store, a, matters);
    if (c)
        widen(c, address, bytes);
    sim_unlock(&lock);
    return c != NULL;
}

void sim_tell_of_unwritten_copies(const Instr *read, const Instr *store, uint64_t address, Matters matters, const Report *report)
{
    sim_lock(&lock);
    add(&(Copied){read, store, sim_allocation_at(address)->address, address, address, matters, *report});
    sim_unlock(&lock);
}

bool sim_find_unwritten_copy(uint64_t address, Report *report)
{
    const Allocation *a = sim_allocation_at(address);
    bool found = false;
    sim_lock(&lock);
    for (const Copied *c = copies; c < copies + count && a && !found; c++) {
        const bool within = c->allocation == a->address && address >= c->low && address < c->high;
        found = within && has_bit(a->unwritten_bytes[c->matters], address - a->address);
        *report = found ? c->report : *report;
    }
    sim_unlock(&lock);
    return found;
}

// Bits of one allocation come to another one, or to other bytes of it, all of whose bits are 0.
static void add_bits(uint8_t *to, size_t to_first, const uint8_t *bits, size_t first, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++) {
        if (bits[(first + at) / 8] == 0)
            at += 7 - (first + at) % 8;
        else if (has_bit(bits, first + at))
            set_bits(to, to_first + at, to_first + at + 1, true);
    }
}

// The bits of such bytes, as they are before any is changed: source and destination may overlap. NULL: there are none.
static uint8_t *bits_before(const Allocation *source, size_t first, size_t bytes, Matters matters)
{
    if (!source->unwritten_bytes[matters])
        return NULL;
    const size_t begin = first / 8, length = (first + bytes - 1) / 8 - begin + 1;
    return memcpy(allocate(length), source->unwritten_bytes[matters] + begin, length);
}

// What is to be told of some bytes of one allocation, as `k` says, is to be told of those of `a`, to which they have been copied.
static void tell_of_copy(size_t k, const Allocation *a, uint64_t to, size_t bytes)
{
    Copied one = copies[k];
    Copied *c = find(one.read, one.store, a, one.matters);
    one.allocation = a->address;
    one.low = one.high = to;
    widen(c ? c : add(&one), to, bytes);
}

void sim_move_undefined_copies(uint64_t to, uint64_t from, size_t bytes)
{
    const Allocation *source = sim_starts_unwritten(from) ? sim_allocation_at(from) : NULL;
    Allocation *a = source && sim_starts_unwritten(to) ? sim_allocation_at(to) : NULL;
    if (!a)
        return;
    const size_t to_first = to - a->address, first = from - source->address;
    sim_lock(&lock);
    uint8_t *before[] = {bits_before(source, first, bytes, IN_ROWS), bits_before(source, first, bytes, SINGLY)};
    forget(a, to_first, to_first + bytes);
    for (int k = IN_ROWS; k <= SINGLY; k++) {
        if (before[k])
            add_bits(bits_of(a, (Matters)k), to_first, before[k], first % 8, bytes);
        free(before[k]);
    }
    for (size_t k = 0, known = count; k < known; k++) {
        const uint64_t low = copies[k].low > from ? copies[k].low : from, high = copies[k].high < from + bytes ? copies[k].high : from + bytes;
        if (copies[k].allocation == source->address && low < high)
            tell_of_copy(k, a, to + (low - from), high - low);
    }
    sim_unlock(&lock);
}

void sim_end_unwritten_copies(Allocation *a)
{
    sim_lock(&lock);
    for (int k = IN_ROWS; k <= SINGLY; k++) {
        free(a->unwritten_bytes[k]);
        a->unwritten_bytes[k] = NULL;
    }
    for (size_t k = 0; k < count;)
        if (copies[k].allocation == a->address)
            copies[k] = copies[--count];
        else
            k++;
    sim_unlock(&lock);
}

// Whether such a store has gone to so many of these bytes in a row. Nobody has written any of them since.
static bool has_run(const Allocation *a, uint64_t low, uint64_t high, Matters matters)
{
    const uint8_t *bits = a->unwritten_bytes[matters];
    const size_t least = matters == SINGLY ? 1 : LINE_BYTES, end = high - a->address;
    size_t run = 0;
    for (size_t at = low - a->address; bits && at < end && run < least; at++) {
        run = has_bit(bits, at) ? run + 1 : 0;
        at += bits[at / 8] == 0 ? 7 - at % 8 : 0;
    }
    return run >= least;
}

static bool reach_host(const Allocation *a, uint64_t low, uint64_t high, Matters matters)
{
    for (uint64_t at = low, end; at < high; at = end) {
        at += sim_find_unwritten(at, high - at);
        end = at < high ? at + sim_find_written(at, high - at) : high;
        if (at < end && has_run(a, at, end, matters))
            return true;
    }
    return false;
}

// The next one from the k-th on that is to be told of bytes that the host gets; k: behind it then.
static bool find_told(uint64_t address, size_t bytes, size_t *k, Report *report)
{
    const Allocation *a = sim_allocation_at(address);
    bool told = false;
    sim_lock(&lock);
    for (; a && *k < count && !told; ++*k) {
        const Copied *c = &copies[*k];
        const uint64_t low = c->low > address ? c->low : address, end = address + bytes, high = c->high < end ? c->high : end;
        told = c->allocation == a->address && low < high && reach_host(a, low, high, c->matters);
        *report = told ? c->report : *report;
    }
    sim_unlock(&lock);
    return told;
}

bool sim_check_result(uint64_t address, size_t bytes)
{
    Report report;
    bool told = false;
    for (size_t k = 0; find_told(address, bytes, &k, &report); told = true)
        sim_add_finding(report.kind, report.title, report.places, report.count, report.hint);
    return told;
}
