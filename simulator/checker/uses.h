// uses.h: what memory_uses.c and host_pages.c know of an allocation whose uses are noted.
#ifndef USES_H
#define USES_H

#include "checker/memory_uses.h"

#include <stdatomic.h>

enum { SIM_USE_WORD = 4, SIM_USE_LINE = 128 }; // bytes
static const uint32_t SIM_USE_NUMBER = ~(1u << 31); // of an entry of a Table: the operation

typedef struct Span { // of an allocation's pages: from the first one to before `end`
    size_t first, end;
} Span;
#define NO_PAGES ((Span){SIZE_MAX, 0})

static inline Span sim_both(Span a, Span b) // and what lies between them
{
    return (Span){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

typedef struct Pending { // the last operation of a timeline that used an allocation
    uint32_t op;
    bool writes;
    Span pages; // in which all lie that this operation, and those before it, have used
    struct Pending *next;
} Pending;

// By which operation memory was last used; 0: by none. Operations are numbered in their order, so that of a byte this is
// the largest number of its line's, its word's and its own. Most memory is used in whole lines.
typedef struct Table {
    atomic_uint *lines;           // used as a whole,
    atomic_uint *parts;           // or not: of such uses of a line the last
    _Atomic(atomic_uint *) words; // used as a whole, without the others of their line; NULL: none was
    _Atomic(atomic_uint *) bytes; // used without the others of their word; NULL: none was
} Table;

typedef enum Closed { OPEN, CLOSED_TO_WRITES, CLOSED } Closed; // a page, to the host

typedef struct Uses { // of an allocation; under the lock of lock.c, but for what is atomic
    uint64_t address;
    size_t bytes;
    Table read, written;
    atomic_uint reader, writer;     // of all bytes
    uint32_t made_by;               // the operation that allocated it in the order of its stream; 0: none has
    Pending *pending;
    _Atomic uint8_t *wanted;        // of each page: how it should be closed; NULL: the host never touches it
    uint8_t *closed;                // and how it is
    atomic_size_t touched, touched_end; // the span of pages that the current operation uses
    Span unsettled, marked;         // in which all pages lie that are not as they should be; that are not open
    atomic_uint listed;             // the operation that has put it into the list of what it uses,
    _Atomic(struct Uses *) next_used;
    bool busy;                      // it is in the list of those that may have something pending
    struct Uses *next_busy;
} Uses;

// ---- memory_uses.c

uint32_t sim_last_use(const Table *t, uint64_t at); // of a byte: an entry of the table
// Whether an operation that was the last one to use some bytes in this way is one of which `asked` is true.
bool sim_any_use(const Table *t, uint64_t first, uint64_t end, bool (*asked)(uint32_t entry));
void sim_drop_pending(Uses *u);                                   // all of it

// ---- host_pages.c

void sim_begin_pages(Uses *u); // of memory that the host may touch
void sim_end_pages(Uses *u);   // they are open again
// The current operation uses bytes of it, whose pages are to be closed when it has ended. A kernel's threads may call
// this side by side.
void sim_close_later(Uses *u, uint64_t first, uint64_t end, bool writes);
// The pages that the current operation has used; it has ended.
Span sim_take_touched(Uses *u);
// Closes what is to be closed. Of `awaited` the host has waited for some uses: what it may touch is open again.
void sim_settle_pages(Uses *u, Span awaited);
void sim_open_pages(Uses *u); // until they are settled again

#endif
