// host_pages.c: the host's accesses of memory that it shares with the device, managed or pinned.
//
// The host must not read or write what an operation that it has not waited for may use. The pages that such an operation
// has used are closed: to all of the host's accesses if it has written there, to writes if it has only read. Who touches
// such a page is stopped (faults.c has the handler). If an operation that may not be over has used the very word, that is
// a race. Else the page is open, and the program goes on: until the next operation, if it holds other words of which that
// is so. (A system call that is given a closed page fails: EFAULT.) The simulator itself finds the same bytes elsewhere
// (ranges.c), so that no page is opened for it.
//
// Missed are races with the host's second access of a page, the first of which was of another word. Pages that lie
// between those that were used may be closed, too, which costs a stop, and no more.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 256 }; // so many pages are opened at one stop, if they may be

static size_t page_bytes, page_bits; // 2 to the latter is the former

static size_t page_of(uint64_t at)
{
    return at >> page_bits;
}

static size_t page_count(const Uses *u)
{
    return page_of(u->bytes - 1) + 1;
}

void sim_begin_pages(Uses *u)
{
    page_bytes = sim_page_bytes();
    page_bits = (size_t)__builtin_ctzl(page_bytes);
    u->wanted = calloc(page_count(u), sizeof *u->wanted);
    u->closed = calloc(page_count(u), sizeof *u->closed);
    if (!u->wanted || !u->closed)
        sim_die("out of memory for the pages of host and device");
    u->unsettled = u->marked = NO_PAGES;
    u->touched = SIZE_MAX;
}

void sim_close_later(Uses *u, uint64_t first, uint64_t end, bool writes)
{
    const uint8_t how = writes ? CLOSED : CLOSED_TO_WRITES;
    const Span pages = {page_of(first), page_of(end - 1) + 1};
    for (size_t p = pages.first; p < pages.end; p++) {
        uint8_t now = atomic_load_explicit(&u->wanted[p], memory_order_relaxed);
        while (now < how && !atomic_compare_exchange_weak(&u->wanted[p], &now, how))
            continue;
    }
    size_t known = atomic_load_explicit(&u->touched, memory_order_relaxed);
    while (pages.first < known && !atomic_compare_exchange_weak(&u->touched, &known, pages.first))
        continue;
    known = atomic_load_explicit(&u->touched_end, memory_order_relaxed);
    while (pages.end > known && !atomic_compare_exchange_weak(&u->touched_end, &known, pages.end))
        continue;
}

Span sim_take_touched(Uses *u)
{
    if (!u->wanted)
        return NO_PAGES;
    const Span touched = {u->touched, u->touched_end};
    u->touched = SIZE_MAX;
    u->touched_end = 0;
    u->unsettled = sim_both(u->unsettled, touched);
    return touched;
}

// ---- Opening and closing

static bool allow(const Uses *u, Span pages, PageAccess access)
{
    return sim_allow((void *)(uintptr_t)(u->address + pages.first * page_bytes), (pages.end - pages.first) * page_bytes,
                     access);
}

// All its pages, whatever has used them.
static void open_all(Uses *u)
{
    const Span pages = sim_both(u->marked, u->unsettled);
    if (u->marked.first < u->marked.end)
        allow(u, u->marked, ALL_ACCESS);
    for (size_t p = pages.first; p < pages.end; p++)
        u->wanted[p] = u->closed[p] = OPEN;
    u->unsettled = u->marked = NO_PAGES;
}

// Linux keeps only so many pieces of memory apart: where they are too many, all that lies between is closed, too.
static void close_all(Uses *u)
{
    allow(u, u->marked, NO_ACCESS);
    for (size_t p = u->marked.first; p < u->marked.end; p++)
        u->wanted[p] = u->closed[p] = CLOSED;
}

// The pages from the first one on that are to be changed alike.
static Span alike_from(const Uses *u, size_t first, size_t end)
{
    const uint8_t wanted = u->wanted[first];
    Span alike = {first, first + 1};
    while (alike.end < end && u->wanted[alike.end] == wanted && u->closed[alike.end] != wanted)
        alike.end++;
    return alike;
}

// Makes pages as they should be.
static void settle(Uses *u, Span pages)
{
    static const PageAccess ALLOWED[] = {[OPEN] = ALL_ACCESS, [CLOSED_TO_WRITES] = READ_ACCESS, [CLOSED] = NO_ACCESS};
    if (pages.first >= pages.end)
        return;
    u->marked = sim_both(u->marked, pages);
    if (!sim_handles_faults()) { // nobody would let the host go on
        open_all(u);
        return;
    }
    for (size_t p = pages.first; p < pages.end; p++) {
        if (u->wanted[p] == u->closed[p])
            continue;
        const Span alike = alike_from(u, p, pages.end);
        if (!allow(u, alike, ALLOWED[u->wanted[p]])) {
            close_all(u);
            return;
        }
        memset(u->closed + alike.first, u->wanted[p], alike.end - alike.first);
        p = alike.end - 1;
    }
}

static bool is_pending(uint32_t entry)
{
    return !sim_host_has_awaited(entry & SIM_USE_NUMBER);
}

// Whether an operation for which the host has not waited has used some of a page so.
static bool is_in_use(const Uses *u, const Table *t, size_t page)
{
    const size_t first = page * page_bytes, end = first + page_bytes;
    return sim_any_use(t, first, end < u->bytes ? end : u->bytes, is_pending);
}

static Closed how_to_close(const Uses *u, size_t page)
{
    return is_in_use(u, &u->written, page) ? CLOSED : is_in_use(u, &u->read, page) ? CLOSED_TO_WRITES : OPEN;
}

void sim_settle_pages(Uses *u, Span awaited)
{
    if (!u->wanted)
        return;
    if (!u->pending) {
        open_all(u);
        return;
    }
    for (size_t p = awaited.first; p < awaited.end; p++)
        if (u->wanted[p] != OPEN)
            u->wanted[p] = how_to_close(u, p);
    const Span pages = sim_both(u->unsettled, awaited);
    u->unsettled = NO_PAGES;
    settle(u, pages);
}

void sim_open_pages(Uses *u)
{
    if (!u->wanted || u->marked.first >= u->marked.end)
        return;
    allow(u, u->marked, ALL_ACCESS);
    memset(u->closed + u->marked.first, OPEN, u->marked.end - u->marked.first);
    u->unsettled = sim_both(u->unsettled, u->marked);
}

void sim_end_pages(Uses *u)
{
    if (!u->wanted)
        return;
    open_all(u);
    free((void *)u->wanted);
    free(u->closed);
}

// Until the next operation.
static void open_for_now(Uses *u, size_t page)
{
    const Span pages = {page, page + 1};
    if (!allow(u, pages, ALL_ACCESS)) {
        close_all(u);
        if (!allow(u, pages, ALL_ACCESS)) {
            open_all(u);
            return;
        }
    }
    u->closed[page] = OPEN;
    u->unsettled = sim_both(u->unsettled, pages);
}

// Lets the host go on with a page of which it touches a word that it may touch.
static void open_page(Uses *u, size_t page, bool writes)
{
    const Closed how = how_to_close(u, page);
    Span pages = {page, page + 1};
    if (how == CLOSED || (how == CLOSED_TO_WRITES && writes)) { // because of other words
        open_for_now(u, page);
        return;
    }
    u->wanted[page] = how;
    for (; pages.end < page_count(u) && pages.end - page < AHEAD && u->closed[pages.end] &&
           how_to_close(u, pages.end) == OPEN; pages.end++)
        u->wanted[pages.end] = OPEN;
    settle(u, pages);
    if (u->closed[page] != how)
        open_for_now(u, page);
}

// ---- The host's accesses

static void find_race(uint64_t address, uint32_t op, bool host_writes, bool op_writes, const void *instruction)
{
    char title[800], what[300], operation[300];
    Place host = {.line = 0};
    sim_describe_address(address, what, sizeof what);
    sim_describe_op(op, operation, sizeof operation);
    snprintf(title, sizeof title, "the host %s %s, which %s may %s", host_writes ? "writes" : "reads", what, operation,
             !op_writes ? "still read" : host_writes ? "still write" : "not have written yet");
    snprintf(host.access, sizeof host.access, "%s it", host_writes ? "writes" : "reads");
    sim_find_host_line(instruction, &host);
    const Place places[] = {sim_place_of_op(op), host};
    sim_add_finding(
        RACE_HOST, title, places, 2,
        "nothing orders them: a cudaDeviceSynchronize() or cudaStreamSynchronize() is missing between them");
    sim_say_findings();
}

bool sim_explain_shared(uint64_t address, bool writes, const void *instruction)
{
    HOLD_MEMORY();
    const Allocation *a = sim_allocation_at(address);
    Uses *u = a ? a->uses : NULL;
    const uint64_t at = u ? address - u->address : 0;
    if (!u || !u->wanted || page_of(at) >= page_count(u))
        return false;
    const bool inside = at < u->bytes;
    const uint32_t writer = inside ? sim_last_use(&u->written, at) & SIM_USE_NUMBER : 0,
                   reader = inside ? sim_last_use(&u->read, at) & SIM_USE_NUMBER : 0;
    const bool after_write = !sim_host_has_awaited(writer), after_read = writes && !sim_host_has_awaited(reader);
    if (after_write || after_read) {
        find_race(address, after_write ? writer : reader, writes, after_write, instruction);
        sim_drop_pending(u); // once is enough
        open_all(u);
    } else {
        open_page(u, page_of(at), writes);
    }
    return true;
}
