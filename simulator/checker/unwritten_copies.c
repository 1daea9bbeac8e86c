// unwritten_copies.c: what nobody wrote and kernels have copied to global memory, until the host gets it.
//
// Of each allocation it is known which of its words such a copy has gone to; those that somebody has written since are left out when the
// host asks. A plain copy matters where so many words in a row make up a line: threads may have copied structures together, word by word,
// and the host may use those members that are set. A volatile or atomic one, as of a flag, matters in any case.
#include "checker/unwritten_copies.h"
#include "base/platform.h"

#include <stdlib.h>

enum { WORD = 4 };

typedef struct Copied { // to an allocation, by one instruction, of what one other has read
    const Instr *read, *store;
    uint64_t allocation, low, high; // addresses
    size_t gap;                     // so many bytes in a row matter
    Report report;
} Copied;

static Copied *copies; // under the lock, as are the words of all allocations
static size_t count, space;
static Lock lock;

static Copied *find(const Instr *read, const Instr *store, const Allocation *a)
{
    for (Copied *c = copies; c < copies + count; c++)
        if (c->read == read && c->store == store && c->allocation == a->address)
            return c;
    return NULL;
}

static void note_words(Allocation *a, size_t first, size_t end)
{
    if (!a->copied_unwritten)
        a->copied_unwritten = calloc(a->bytes / WORD / 8 + 1, 1);
    if (!a->copied_unwritten)
        sim_die("out of memory for what nobody wrote");
    for (size_t word = first / WORD; word * WORD < end; word++)
        a->copied_unwritten[word / 8] |= (uint8_t)(1u << word % 8);
}

bool sim_note_unwritten_copy(const Instr *read, const Instr *store, uint64_t address, size_t bytes)
{
    Allocation *a = sim_allocation_at(address);
    const size_t first = address - a->address, end = bytes < a->bytes - first ? first + bytes : a->bytes;
    sim_lock(&lock);
    note_words(a, first, end);
    Copied *c = find(read, store, a);
    if (c) {
        c->low = address < c->low ? address : c->low;
        c->high = address + bytes > c->high ? address + bytes : c->high;
    }
    sim_unlock(&lock);
    return c != NULL;
}

void sim_tell_of_unwritten_copies(const Instr *read, const Instr *store, uint64_t address, const Report *report)
{
    const Allocation *a = sim_allocation_at(address);
    sim_lock(&lock);
    if (count == space) {
        space = space ? 2 * space : 16;
        copies = realloc(copies, space * sizeof *copies);
        if (!copies)
            sim_die("out of memory for what nobody wrote");
    }
    copies[count++] = (Copied){read, store, a->address, address, address, store->semantics == WEAK ? LINE_BYTES : 1, *report};
    sim_unlock(&lock);
}

bool sim_find_unwritten_copy(uint64_t address, Report *report)
{
    const Allocation *a = sim_allocation_at(address);
    const size_t word = a ? (address - a->address) / WORD : 0;
    bool found = false;
    sim_lock(&lock);
    if (a && a->copied_unwritten && a->copied_unwritten[word / 8] >> word % 8 & 1)
        for (const Copied *c = copies; c < copies + count && !found; c++) {
            found = c->allocation == a->address && address >= c->low && address < c->high;
            *report = found ? c->report : *report;
        }
    sim_unlock(&lock);
    return found;
}

void sim_end_unwritten_copies(Allocation *a)
{
    sim_lock(&lock);
    free(a->copied_unwritten);
    a->copied_unwritten = NULL;
    for (size_t k = 0; k < count;)
        if (copies[k].allocation == a->address)
            copies[k] = copies[--count];
        else
            k++;
    sim_unlock(&lock);
}

// Whether such a copy has gone to so many of these bytes in a row. Nobody has written any of them since.
static bool has_run(const Allocation *a, uint64_t low, uint64_t high, size_t least)
{
    size_t run = 0;
    for (size_t at = low - a->address; at < high - a->address && run < least; at += WORD - at % WORD) {
        const size_t word = at / WORD;
        run = a->copied_unwritten[word / 8] >> word % 8 & 1 ? run + WORD - at % WORD : 0;
    }
    return run >= least;
}

static bool reach_host(const Allocation *a, uint64_t low, uint64_t high, size_t least)
{
    for (uint64_t at = low, end; at < high; at = end) {
        at += sim_find_unwritten(at, high - at);
        end = at < high ? at + sim_find_written(at, high - at) : high;
        if (at < end && has_run(a, at, end, least))
            return true;
    }
    return false;
}

void sim_check_result(uint64_t address, size_t bytes)
{
    const Allocation *a = count ? sim_allocation_at(address) : NULL;
    for (size_t k = 0; k < count && a && a->copied_unwritten; k++) {
        const Copied *c = &copies[k];
        const uint64_t low = c->low > address ? c->low : address, end = address + bytes, high = c->high < end ? c->high : end;
        if (c->allocation == a->address && low < high && reach_host(a, low, high, c->gap))
            sim_add_finding(c->report.kind, c->report.title, c->report.places, c->report.count, c->report.hint);
    }
}
