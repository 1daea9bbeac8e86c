// undefined_copies.c: tracks undefined values in global memory from the kernel's store until they are copied to the host.
//
// For each report rule, an allocation has a bitmap of the bytes to which undefined values were stored. A bit may be stale, as later
// defined stores do not clear it; so the host's read also consults the bitmap of initialised bytes (written.c).
#include "checker/allocation_check.h"
#include "checker/undefined_copies.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

// All copies of undefined values from one load instruction, by one store instruction, to one allocation.
typedef struct UndefinedCopy {
    const Instr *load, *store;
    uint64_t allocation; // its address
    uint64_t low, high;  // the copied bytes are within [low, high)
    ReportRule rule;
    DeferredFinding report;
} UndefinedCopy;

static UndefinedCopy *copies; // guarded by `lock`, as is undefined_bytes of all allocations
static size_t copy_count, copy_capacity;
static Lock lock;

static UndefinedCopy *find_copy(const Instr *load, const Instr *store, const Allocation *a, ReportRule rule)
{
    for (UndefinedCopy *c = copies; c < copies + copy_count; c++)
        if (c->load == load && c->store == store && c->allocation == a->address && c->rule == rule)
            return c;
    return NULL;
}

// ---- Bitmaps of the bytes of an allocation

static void *allocate_bits(size_t bytes)
{
    void *memory = calloc(bytes, 1);
    if (!memory)
        sim_die("out of memory: undefined values");
    return memory;
}

static bool has_bit(const uint8_t *bits, size_t at)
{
    return bits && bits[at / 8] >> at % 8 & 1;
}

static void fill_bits(uint8_t *bits, size_t first, size_t end, bool value)
{
    for (size_t at = first, count; at < end; at += count) {
        count = 8 - at % 8 < end - at ? 8 - at % 8 : end - at;
        if (count == 8 && end - at > 8) {
            count = (end - at) / 8 * 8;
            memset(&bits[at / 8], value ? 255 : 0, count / 8);
            continue;
        }
        const uint8_t mask = (uint8_t)(((1u << count) - 1) << at % 8);
        bits[at / 8] = (uint8_t)(value ? bits[at / 8] | mask : bits[at / 8] & ~mask);
    }
}

static void clear_bits(Allocation *a, size_t first, size_t end)
{
    for (int k = REPORT_LONG_RUNS; k <= REPORT_ANY; k++)
        if (a->check->undefined_bytes[k])
            fill_bits(a->check->undefined_bytes[k], first, end, false);
}

static uint8_t *bits_of(Allocation *a, ReportRule rule)
{
    if (!a->check->undefined_bytes[rule])
        a->check->undefined_bytes[rule] = allocate_bits(a->bytes / 8 + 1);
    return a->check->undefined_bytes[rule];
}

static size_t end_within(const Allocation *a, size_t first, size_t bytes)
{
    return bytes < a->bytes - first ? first + bytes : a->bytes;
}

// ---- Stores and copies

static void extend_range(UndefinedCopy *c, uint64_t address, size_t bytes)
{
    c->low = address < c->low ? address : c->low;
    c->high = address + bytes > c->high ? address + bytes : c->high;
}

static UndefinedCopy *add_copy(const UndefinedCopy *copy)
{
    if (copy_count == copy_capacity) {
        copy_capacity = copy_capacity ? 2 * copy_capacity : 16;
        copies = realloc(copies, copy_capacity * sizeof *copies);
        if (!copies)
            sim_die("out of memory: undefined values");
    }
    copies[copy_count] = *copy;
    return &copies[copy_count++];
}

void sim_forget_undefined_copy(uint64_t address, size_t bytes)
{
    Allocation *a = sim_allocation_at(address);
    const size_t first = address - a->address;
    sim_lock(&lock);
    clear_bits(a, first, end_within(a, first, bytes));
    sim_unlock(&lock);
}

bool sim_note_undefined_copy(const Instr *load, const Instr *store, uint64_t address, size_t bytes, ReportRule rule)
{
    Allocation *a = sim_allocation_at(address);
    const size_t first = address - a->address, end = end_within(a, first, bytes);
    sim_lock(&lock);
    clear_bits(a, first, end); // bits of earlier stores
    fill_bits(bits_of(a, rule), first, end, true);
    UndefinedCopy *c = find_copy(load, store, a, rule);
    if (c)
        extend_range(c, address, bytes);
    sim_unlock(&lock);
    return c != NULL;
}

void sim_add_undefined_copy(const Instr *load, const Instr *store, uint64_t address, ReportRule rule, const DeferredFinding *report)
{
    sim_lock(&lock);
    // An empty range: the caller notes the store again, which extends it.
    add_copy(&(UndefinedCopy){load, store, sim_allocation_at(address)->address, address, address, rule, *report});
    sim_unlock(&lock);
}

bool sim_find_undefined_copy(uint64_t address, DeferredFinding *report)
{
    const Allocation *a = sim_allocation_at(address);
    bool found = false;
    sim_lock(&lock);
    for (const UndefinedCopy *c = copies; c < copies + copy_count && a && !found; c++) {
        const bool within = c->allocation == a->address && address >= c->low && address < c->high;
        found = within && has_bit(a->check->undefined_bytes[c->rule], address - a->address);
        *report = found ? c->report : *report;
    }
    sim_unlock(&lock);
    return found;
}

// ORs a range of bits into another bitmap.
static void add_bits(uint8_t *to, size_t to_first, const uint8_t *bits, size_t first, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++) {
        if (bits[(first + at) / 8] == 0)
            at += 7 - (first + at) % 8;
        else if (has_bit(bits, first + at))
            fill_bits(to, to_first + at, to_first + at + 1, true);
    }
}

// A copy of the bitmap's bytes that hold these bits, as source and destination may overlap; freed by the caller. NULL: no bits are set.
static uint8_t *copy_source_bits(const Allocation *source, size_t first, size_t bytes, ReportRule rule)
{
    if (!source->check->undefined_bytes[rule])
        return NULL;
    const size_t begin = first / 8, length = (first + bytes - 1) / 8 - begin + 1;
    return memcpy(allocate_bits(length), source->check->undefined_bytes[rule] + begin, length);
}

// Adds a record for `a`, or extends it, with the report of copies[k]: the device has copied these bytes to address `to`.
static void copy_report(size_t k, const Allocation *a, uint64_t to, size_t bytes)
{
    UndefinedCopy copy = copies[k];
    UndefinedCopy *c = find_copy(copy.load, copy.store, a, copy.rule);
    copy.allocation = a->address;
    copy.low = copy.high = to;
    extend_range(c ? c : add_copy(&copy), to, bytes);
}

void sim_propagate_undefined(uint64_t to, uint64_t from, size_t bytes)
{
    const Allocation *source = sim_address_starts_uninitialised(from) ? sim_allocation_at(from) : NULL;
    Allocation *a = source && sim_address_starts_uninitialised(to) ? sim_allocation_at(to) : NULL;
    if (!a || !a->check)
        return;
    const size_t to_first = to - a->address, first = from - source->address;
    sim_lock(&lock);
    uint8_t *source_bits[] = {copy_source_bits(source, first, bytes, REPORT_LONG_RUNS), copy_source_bits(source, first, bytes, REPORT_ANY)};
    clear_bits(a, to_first, to_first + bytes);
    for (int k = REPORT_LONG_RUNS; k <= REPORT_ANY; k++) {
        if (source_bits[k])
            add_bits(bits_of(a, (ReportRule)k), to_first, source_bits[k], first % 8, bytes);
        free(source_bits[k]);
    }
    for (size_t k = 0, old_count = copy_count; k < old_count; k++) {
        const uint64_t low = copies[k].low > from ? copies[k].low : from, high = copies[k].high < from + bytes ? copies[k].high : from + bytes;
        if (copies[k].allocation == source->address && low < high)
            copy_report(k, a, to + (low - from), high - low);
    }
    sim_unlock(&lock);
}

void sim_free_undefined_copies(Allocation *a)
{
    sim_lock(&lock);
    for (int k = REPORT_LONG_RUNS; k <= REPORT_ANY; k++) {
        free(a->check->undefined_bytes[k]);
        a->check->undefined_bytes[k] = NULL;
    }
    for (size_t k = 0; k < copy_count;)
        if (copies[k].allocation == a->address)
            copies[k] = copies[--copy_count];
        else
            k++;
    sim_unlock(&lock);
}

// True if enough consecutive bytes in [low, high) hold undefined values.
static bool has_long_run(const Allocation *a, uint64_t low, uint64_t high, ReportRule rule)
{
    const uint8_t *bits = a->check->undefined_bytes[rule];
    const size_t min_length = rule == REPORT_ANY ? 1 : LINE_BYTES, end = high - a->address;
    size_t length = 0;
    for (size_t at = low - a->address; bits && at < end && length < min_length; at++) {
        length = has_bit(bits, at) ? length + 1 : 0;
        at += bits[at / 8] == 0 ? 7 - at % 8 : 0;
    }
    return length >= min_length;
}

static bool reaches_host(const Allocation *a, uint64_t low, uint64_t high, ReportRule rule)
{
    for (uint64_t at = low, end; at < high; at = end) {
        at += sim_find_unwritten(at, high - at);
        end = at < high ? at + sim_find_written(at, high - at) : high;
        if (at < end && has_long_run(a, at, end, rule))
            return true;
    }
    return false;
}

// Finds the next report, starting at copies[*k], for bytes that the host reads; sets *k to the index after it.
static bool find_reported(uint64_t address, size_t bytes, size_t *k, DeferredFinding *report)
{
    const Allocation *a = sim_allocation_at(address);
    bool found = false;
    sim_lock(&lock);
    for (; a && *k < copy_count && !found; ++*k) {
        const UndefinedCopy *c = &copies[*k];
        const uint64_t low = c->low > address ? c->low : address, end = address + bytes, high = c->high < end ? c->high : end;
        found = c->allocation == a->address && low < high && reaches_host(a, low, high, c->rule);
        *report = found ? c->report : *report;
    }
    sim_unlock(&lock);
    return found;
}

bool sim_report_undefined_copies(uint64_t address, size_t bytes)
{
    DeferredFinding report;
    bool found = false;
    for (size_t k = 0; find_reported(address, bytes, &k, &report);) {
        found = true;
        sim_add_finding(report.kind, report.title, report.locations, report.count, report.hint);
    }
    return found;
}
