// unwritten_copies.c: what nobody wrote and kernels have put into global memory, until the host gets it.
//
// Of each allocation it is known to which of its words such a store has gone; those that somebody has written since are left out when
// the host asks.
#include "checker/unwritten_copies.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 4 };

typedef struct Copied { // to an allocation, by one instruction, of what one other has read
    const Instr *read, *store;
    uint64_t allocation, low, high; // addresses
    Matters matters;
    Report report;
} Copied;

static Copied *copies; // under the lock, as are the words of all allocations
static size_t count, space;
static Lock lock;

static Copied *find(const Instr *read, const Instr *store, const Allocation *a, Matters matters)
{
    for (Copied *c = copies; c < copies + count; c++)
        if (c->read == read && c->store == store && c->allocation == a->address && c->matters == matters)
            return c;
    return NULL;
}

static bool has_word(const Allocation *a, size_t word, Matters matters)
{
    const uint8_t *words = a->unwritten_words[matters];
    return words && words[word / 8] >> word % 8 & 1;
}

static void forget_word(Allocation *a, size_t word)
{
    for (int k = IN_ROWS; k <= SINGLY; k++)
        if (a->unwritten_words[k])
            a->unwritten_words[k][word / 8] &= (uint8_t) ~(1u << word % 8);
}

static void note_word(Allocation *a, size_t word, Matters matters)
{
    forget_word(a, word); // what was stored there before
    uint8_t **words = &a->unwritten_words[matters];
    if (!*words)
        *words = calloc(a->bytes / WORD / 8 + 1, 1);
    if (!*words)
        sim_die("out of memory for what nobody wrote");
    (*words)[word / 8] |= (uint8_t)(1u << word % 8);
}

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
    const size_t first = address - a->address, end = bytes < a->bytes - first ? first + bytes : a->bytes;
    sim_lock(&lock);
    for (size_t word = first / WORD; word * WORD < end; word++)
        forget_word(a, word);
    sim_unlock(&lock);
}

bool sim_note_unwritten_copy(const Instr *read, const Instr *store, uint64_t address, size_t bytes, Matters matters)
{
    Allocation *a = sim_allocation_at(address);
    const size_t first = address - a->address, end = bytes < a->bytes - first ? first + bytes : a->bytes;
    sim_lock(&lock);
    for (size_t word = first / WORD; word * WORD < end; word++)
        note_word(a, word, matters);
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
        found = within && has_word(a, (address - a->address) / WORD, c->matters);
        *report = found ? c->report : *report;
    }
    sim_unlock(&lock);
    return found;
}

// What is to be told of some bytes of one allocation, as `k` says, is to be told of those of `a`, to which they have been copied. The
// words are read before any is noted: the two may overlap.
static void move_one(size_t k, Allocation *a, uint64_t to, const Allocation *source, uint64_t low, uint64_t high)
{
    Copied one = copies[k];
    bool *const there = malloc(high - low);
    if (!there)
        sim_die("out of memory for what nobody wrote");
    for (uint64_t at = low; at < high; at += WORD)
        there[at - low] = has_word(source, (at - source->address) / WORD, one.matters);
    for (uint64_t at = low; at < high; at += WORD)
        if (there[at - low])
            note_word(a, (to + (at - low) - a->address) / WORD, one.matters);
    free(there);
    Copied *c = find(one.read, one.store, a, one.matters);
    one.allocation = a->address;
    one.low = one.high = to;
    widen(c ? c : add(&one), to, high - low);
}

void sim_move_unwritten_copies(uint64_t to, uint64_t from, size_t bytes)
{
    const Allocation *source = sim_allocation_at(from);
    Allocation *a = source && sim_starts_unwritten(to) ? sim_allocation_at(to) : NULL;
    if (!a)
        return;
    sim_lock(&lock);
    for (size_t k = 0, before = count; k < before; k++) {
        const uint64_t low = copies[k].low > from ? copies[k].low : from, high = copies[k].high < from + bytes ? copies[k].high : from + bytes;
        if (copies[k].allocation == source->address && low < high)
            move_one(k, a, to + (low - from), source, low, high);
    }
    sim_unlock(&lock);
}

void sim_end_unwritten_copies(Allocation *a)
{
    sim_lock(&lock);
    for (int k = IN_ROWS; k <= SINGLY; k++) {
        free(a->unwritten_words[k]);
        a->unwritten_words[k] = NULL;
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
    const size_t least = matters == SINGLY ? 1 : LINE_BYTES;
    size_t run = 0;
    for (size_t at = low - a->address; at < high - a->address && run < least; at += WORD - at % WORD)
        run = has_word(a, at / WORD, matters) ? run + WORD - at % WORD : 0;
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
