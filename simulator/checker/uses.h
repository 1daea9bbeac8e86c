// uses.h: the recorded uses of an allocation; shared by memory_uses.c, host_pages.c and memoized_uses.c.
#ifndef USES_H
#define USES_H

#include "checker/memory_uses.h"

#include <stdatomic.h>

enum { SIM_USE_WORD = 4, SIM_USE_LINE = 128 }; // bytes
static const uint32_t SIM_USE_NUMBER = ~(1u << 31); // the operation's number in an entry of a Table

typedef struct Span { // pages [first, end) of an allocation
    size_t first, end;
} Span;
#define NO_PAGES ((Span){SIZE_MAX, 0})

static inline Span sim_span_union(Span a, Span b) // the smallest span with both
{
    return (Span){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

typedef struct Pending { // a timeline's last operation that used an allocation, while the host has not waited for it
    uint32_t op;
    bool writes;
    Span pages; // used by this operation and those before it
    struct Pending *next;
} Pending;

// The last operation that used each byte: the largest number in the entries of its line, its word and itself; 0: none. Most memory is
// used in whole lines.
typedef struct UseTable {
    atomic_uint *lines;           // lines used as a whole
    atomic_uint *parts;           // lines used in part
    _Atomic(atomic_uint *) words; // words used as a whole, in such lines; NULL: none yet
    _Atomic(atomic_uint *) bytes; // bytes used singly, in such words; NULL: none yet
} UseTable;

typedef enum Closed { OPEN, CLOSED_TO_WRITES, CLOSED } Closed; // a page's protection against the host

typedef struct Uses { // of an allocation; guarded by the lock of lock.c, except atomic fields
    uint64_t address;
    size_t bytes;
    UseTable read, written;
    atomic_uint reader, writer;     // the last operations that read or wrote any of its bytes
    uint32_t allocated_by;               // the operation that allocated it in stream order, or 0
    Pending *pending;
    _Atomic uint8_t *wanted;        // of each page, a Closed: the protection it needs; NULL: the host has no access to the memory
    uint8_t *closed;                // the protection it has
    atomic_size_t touched, touched_end; // span of the pages that the current operation has used
    Span unsettled, marked;         // contain all pages whose two protections differ; that are not OPEN
    atomic_uint listed;             // the operation in whose list of used allocations it is
    _Atomic(struct Uses *) next_used;
    bool busy;                      // it is in the list of allocations that may have pending operations
    struct Uses *next_busy;
} Uses;

// ---- memory_uses.c

uint32_t sim_last_use(const UseTable *t, uint64_t at); // of a byte: an entry of the table
// True if `matches` is true of the last use of any of these bytes.
bool sim_any_use(const UseTable *t, uint64_t first, uint64_t end, bool (*matches)(uint32_t entry));
void sim_drop_pending(Uses *u); // all of them

// ---- host_pages.c

void sim_begin_pages(Uses *u); // for memory that the host may access
void sim_end_pages(Uses *u);   // opens the pages
// The current operation uses bytes whose pages are to be closed when it has ended. The threads of a kernel may call this concurrently.
void sim_close_later(Uses *u, uint64_t first, uint64_t end, bool writes);
// Returns the pages that the current operation has used, and resets them; it has ended.
Span sim_take_used_pages(Uses *u);
// Protects the pages as they need it. awaited: pages of operations for which the host has waited: what it may access again is opened.
void sim_settle_pages(Uses *u, Span awaited);
void sim_open_pages(Uses *u); // until the next sim_settle_pages

#endif
