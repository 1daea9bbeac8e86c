// uses.h: the recorded uses of an allocation; shared by memory_uses.c, host_pages.c and memoized_uses.c.
#ifndef USES_H
#define USES_H

#include "checker/allocation_check.h"
#include "checker/memory_uses.h"

#include <stdatomic.h>

enum { SIM_USE_WORD = 4, SIM_USE_LINE = 128 }; // bytes
static const uint32_t SIM_USE_NUMBER = ~(1u << 31); // mask of the operation's number in an entry of a UseTable

typedef struct PageSpan { // pages [first, end) of an allocation
    size_t first, end;
} PageSpan;
#define NO_PAGES ((PageSpan){SIZE_MAX, 0})

static inline PageSpan sim_page_span_union(PageSpan a, PageSpan b) // the smallest span that contains both
{
    return (PageSpan){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

typedef struct PendingUse { // the last operation of a timeline that used an allocation, until the host waits for it
    uint32_t op;
    bool writes;
    PageSpan pages; // used by this operation and those before it
    struct PendingUse *next;
} PendingUse;

// The last operation that used each byte: the largest number in the entries of the byte's line, its word and the byte itself; 0: none.
// Most memory is used in whole lines.
typedef struct UseTable {
    atomic_uint *lines;           // indexed by line: its last use as a whole
    atomic_uint *parts;           // indexed by line: the last use of a part of it
    _Atomic(atomic_uint *) words; // indexed by word: its last use, in a line used in part; NULL: none yet
    _Atomic(atomic_uint *) bytes; // indexed by byte: its last use, in a word used in part; NULL: none yet
} UseTable;

typedef struct UseTables {
    UseTable read, written;
} UseTables;

typedef enum HostProtection { HOST_READ_WRITE, HOST_READ_ONLY, HOST_NO_ACCESS } HostProtection; // the host's access to a page

typedef struct Uses { // uses of an allocation; guarded by the lock of lock.c, except for the atomic fields
    uint64_t address;
    size_t bytes;
    UseTables all;
    UseTables late; // uses for which dependents must wait (sim_note_late_use); without tables if none are expected
    atomic_uint reader, writer;     // the last operations that read or wrote any of its bytes
    uint32_t allocated_by;          // the operation that allocated it in stream order, or 0
    uint32_t freed_by;              // the node of a graph that freed it, until a node allocates it again; or 0
    PendingUse *pending;
    _Atomic uint8_t *required_protection; // indexed by page: a HostProtection; NULL: the memory is not shared with the host
    uint8_t *protection;            // indexed by page: the current HostProtection
    atomic_size_t used_first, used_end; // span of the pages used by the current operation
    PageSpan unapplied;             // contains all pages whose `protection` is not `required_protection`
    PageSpan protected_span;        // contains all pages that are not HOST_READ_WRITE
    atomic_uint listed_by;          // the last operation whose list `next_used` contains this allocation
    _Atomic(struct Uses *) next_used;
    bool has_pending;               // whether the list `next_pending` contains it
    struct Uses *next_pending;      // next allocation that may have pending uses
} Uses;

// ---- Entries of a UseTable

static inline uint32_t sim_number_at(const atomic_uint *numbers, uint64_t at)
{
    return atomic_load_explicit(&numbers[at], memory_order_relaxed);
}

// The later of two entries; if both are of one operation, the plain one.
static inline uint32_t sim_later_entry(uint32_t a, uint32_t b)
{
    return (b & SIM_USE_NUMBER) > (a & SIM_USE_NUMBER) || b == (a & SIM_USE_NUMBER) ? b : a;
}

// The entry of a byte's last use.
static inline uint32_t sim_last_use(const UseTable *t, uint64_t at)
{
    const uint32_t whole = sim_number_at(t->lines, at / SIM_USE_LINE);
    const atomic_uint *words = t->words, *bytes = t->bytes;
    const uint32_t part = sim_later_entry(words ? sim_number_at(words, at / SIM_USE_WORD) : 0, bytes ? sim_number_at(bytes, at) : 0);
    return sim_later_entry(whole, part);
}

typedef bool EntryPredicate(uint32_t entry, UseKind kind);

// sim_any_use for a part of one line whose words or bytes were used later than the whole line.
static inline bool sim_any_use_in_line(const UseTable *t, uint64_t at, uint64_t end, UseKind kind, EntryPredicate *matches)
{
    for (; at < end; at += t->bytes ? 1 : SIM_USE_WORD - at % SIM_USE_WORD)
        if (matches(sim_last_use(t, at), kind))
            return true;
    return false;
}

// True if `matches` is true for the last use of any of these bytes. Inline, because `matches` then is.
static inline bool sim_any_use(const UseTable *t, uint64_t first, uint64_t end, UseKind kind, EntryPredicate *matches)
{
    uint32_t last_mismatch = UINT32_MAX; // the last entry that did not match; neighbouring lines mostly have the same entry
    for (uint64_t at = first, next; at < end; at = next) {
        const uint64_t line = at / SIM_USE_LINE, line_end = (line + 1) * SIM_USE_LINE;
        const uint32_t entry = sim_number_at(t->lines, line);
        next = line_end < end ? line_end : end;
        if (sim_later_entry(entry, sim_number_at(t->parts, line)) != entry) {
            if (sim_any_use_in_line(t, at, next, kind, matches))
                return true;
        } else if (entry != last_mismatch) {
            if (matches(entry, kind))
                return true;
            last_mismatch = entry;
        }
    }
    return false;
}

// ---- use_tables.c

void sim_allocate_tables(UseTables *t, size_t bytes); // unless it has them
void sim_free_tables(UseTables *t, size_t bytes);
// Stores an entry, but does not replace a plain use by the same operation, which conflicts with more operations than an atomic use.
void sim_set_number(atomic_uint *numbers, uint64_t at, uint32_t entry);
// Stores an entry for bytes [first, end) of an allocation of this size. The threads of a kernel may call this concurrently.
void sim_set_uses(UseTable *t, size_t bytes, uint64_t first, uint64_t end, uint32_t entry);
// Records that dependents of the current operation, a kernel, must wait before they access the bytes in a conflicting way.
void sim_note_late_use(const Allocation *a, uint64_t address, size_t bytes, UseKind kind);

// ---- host_pages.c

void sim_begin_page_protection(Uses *u); // for memory that the host may access
void sim_end_page_protection(Uses *u);   // gives the host full access
void sim_drop_pending(Uses *u); // drops all pending uses
// Notes that the current operation uses bytes; their pages are protected from the host after the operation. The threads of a kernel may
// call this concurrently.
void sim_protect_after_op(Uses *u, uint64_t first, uint64_t end, bool writes);
// After an operation: returns the span of the pages that it has used, and resets the span.
PageSpan sim_collect_used_pages(Uses *u);
// Applies the required protection. `awaited`: pages of operations for which the host has waited; they need less protection now.
void sim_apply_protection(Uses *u, PageSpan awaited);
void sim_unprotect_pages(Uses *u); // gives the host full access until the next sim_apply_protection

#endif
