// host_pages.c: the host's accesses of memory that it shares with the device: managed or pinned.
//
// The host must not access what an operation that it has not waited for may use. Pages that such an operation has written are closed to
// the host; pages that it has only read are closed to writes. An access of a closed page faults (faults.c has the handler). If a pending
// operation has used the very word, that is a race. Otherwise the page is opened: until the next operation, if it holds other words that
// are in use. A system call that is given a closed page fails with EFAULT. The simulator has a second mapping of the same bytes (ranges.c).
//
// Missed are races with the host's second access of a page whose first access was of another word.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPENED = 256 }; // the most pages that one fault opens

static size_t page_bytes, page_bits; // page_bytes == 1 << page_bits

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
    const uint8_t protection = writes ? CLOSED : CLOSED_TO_WRITES;
    const Span pages = {page_of(first), page_of(end - 1) + 1};
    for (size_t p = pages.first; p < pages.end; p++) {
        uint8_t current = atomic_load_explicit(&u->wanted[p], memory_order_relaxed);
        while (current < protection && !atomic_compare_exchange_weak(&u->wanted[p], &current, protection))
            continue;
    }
    size_t old = atomic_load_explicit(&u->touched, memory_order_relaxed);
    while (pages.first < old && !atomic_compare_exchange_weak(&u->touched, &old, pages.first))
        continue;
    old = atomic_load_explicit(&u->touched_end, memory_order_relaxed);
    while (pages.end > old && !atomic_compare_exchange_weak(&u->touched_end, &old, pages.end))
        continue;
}

Span sim_take_used_pages(Uses *u)
{
    if (!u->wanted)
        return NO_PAGES;
    const Span touched = {u->touched, u->touched_end};
    u->touched = SIZE_MAX;
    u->touched_end = 0;
    u->unsettled = sim_span_union(u->unsettled, touched);
    return touched;
}

// ---- Opening and closing

static bool protect(const Uses *u, Span pages, PageAccess access)
{
    return sim_protect_pages((void *)(uintptr_t)(u->address + pages.first * page_bytes), (pages.end - pages.first) * page_bytes,
                     access);
}

// Opens all pages.
static void open_all(Uses *u)
{
    const Span pages = sim_span_union(u->marked, u->unsettled);
    if (u->marked.first < u->marked.end)
        protect(u, u->marked, READ_WRITE_ACCESS);
    for (size_t p = pages.first; p < pages.end; p++)
        u->wanted[p] = u->closed[p] = OPEN;
    u->unsettled = u->marked = NO_PAGES;
}

// Linux limits the number of mappings: beyond it the pages between are closed, too.
static void close_all(Uses *u)
{
    protect(u, u->marked, NO_ACCESS);
    for (size_t p = u->marked.first; p < u->marked.end; p++)
        u->wanted[p] = u->closed[p] = CLOSED;
}

// The pages from the first one on that need the same change.
static Span equal_pages_from(const Uses *u, size_t first, size_t end)
{
    const uint8_t wanted = u->wanted[first];
    Span equal = {first, first + 1};
    while (equal.end < end && u->wanted[equal.end] == wanted && u->closed[equal.end] != wanted)
        equal.end++;
    return equal;
}

// Applies the wanted protection.
static void apply_protection(Uses *u, Span pages)
{
    static const PageAccess ALLOWED[] = {[OPEN] = READ_WRITE_ACCESS, [CLOSED_TO_WRITES] = READ_ACCESS, [CLOSED] = NO_ACCESS};
    if (pages.first >= pages.end)
        return;
    u->marked = sim_span_union(u->marked, pages);
    if (!sim_handles_faults()) { // no handler would let the host continue
        open_all(u);
        return;
    }
    for (size_t p = pages.first; p < pages.end; p++) {
        if (u->wanted[p] == u->closed[p])
            continue;
        const Span equal = equal_pages_from(u, p, pages.end);
        if (!protect(u, equal, ALLOWED[u->wanted[p]])) {
            close_all(u);
            return;
        }
        memset(u->closed + equal.first, u->wanted[p], equal.end - equal.first);
        p = equal.end - 1;
    }
}

static bool is_unawaited(uint32_t entry)
{
    return !sim_host_has_awaited(entry & SIM_USE_NUMBER);
}

// Whether an operation for which the host has not waited has used a part of a page in this way.
static bool is_in_use(const Uses *u, const UseTable *t, size_t page)
{
    const size_t first = page * page_bytes, end = first + page_bytes;
    return sim_any_use(t, first, end < u->bytes ? end : u->bytes, is_unawaited);
}

static Closed required_protection(const Uses *u, size_t page)
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
            u->wanted[p] = required_protection(u, p);
    const Span pages = sim_span_union(u->unsettled, awaited);
    u->unsettled = NO_PAGES;
    apply_protection(u, pages);
}

void sim_open_pages(Uses *u)
{
    if (!u->wanted || u->marked.first >= u->marked.end)
        return;
    protect(u, u->marked, READ_WRITE_ACCESS);
    memset(u->closed + u->marked.first, OPEN, u->marked.end - u->marked.first);
    u->unsettled = sim_span_union(u->unsettled, u->marked);
}

void sim_end_pages(Uses *u)
{
    if (!u->wanted)
        return;
    open_all(u);
    free((void *)u->wanted);
    free(u->closed);
}

// Opens a page until the next operation.
static void open_temporarily(Uses *u, size_t page)
{
    const Span pages = {page, page + 1};
    if (!protect(u, pages, READ_WRITE_ACCESS)) {
        close_all(u);
        if (!protect(u, pages, READ_WRITE_ACCESS)) {
            open_all(u);
            return;
        }
    }
    u->closed[page] = OPEN;
    u->unsettled = sim_span_union(u->unsettled, pages);
}

// Opens a page at an access that is no race, so that the host can continue.
static void open_page(Uses *u, size_t page, bool writes)
{
    const Closed required = required_protection(u, page);
    Span pages = {page, page + 1};
    if (required == CLOSED || (required == CLOSED_TO_WRITES && writes)) { // other words of the page are in use
        open_temporarily(u, page);
        return;
    }
    u->wanted[page] = required;
    for (; pages.end < page_count(u) && pages.end - page < MAX_OPENED && u->closed[pages.end] &&
           required_protection(u, pages.end) == OPEN; pages.end++)
        u->wanted[pages.end] = OPEN;
    apply_protection(u, pages);
    if (u->closed[page] != required)
        open_temporarily(u, page);
}

// ---- The host's accesses

static void report_race(uint64_t address, uint32_t op, bool host_writes, bool op_writes, const void *instruction)
{
    char title[800], operation[300], hint[HINT_BYTES];
    AddressText at;
    Place host = {.line = 0};
    sim_describe_address(address, &at);
    sim_describe_op(op, operation, sizeof operation);
    snprintf(title, sizeof title, "the host %s %s, which %s may %s", host_writes ? "writes" : "reads", at.text, operation,
             !op_writes ? "still read" : host_writes ? "still write" : "not have written yet");
    snprintf(host.access, sizeof host.access, "%s by the host", host_writes ? "write" : "read");
    sim_set_host_line(instruction, &host);
    const Place places[] = {sim_place_of_op(op), host};
    snprintf(hint, sizeof hint, "call cudaDeviceSynchronize() or cudaStreamSynchronize() before the host's access");
    sim_add_allocation_note(sim_allocation_at(address), hint);
    sim_add_finding(RACE_HOST, title, places, 2, hint);
    sim_print_findings();
}

bool sim_handle_shared_fault(uint64_t address, bool writes, const void *instruction)
{
    LOCK_MEMORY();
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
        report_race(address, after_write ? writer : reader, writes, after_write, instruction);
        sim_drop_pending(u); // report it once
        open_all(u);
    } else {
        open_page(u, page_of(at), writes);
    }
    return true;
}
