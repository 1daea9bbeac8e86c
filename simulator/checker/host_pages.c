// host_pages.c: host accesses to memory that host and device share (managed or pinned memory).
//
// The host must not access memory in use by an operation for which it has not waited. It gets no access to pages that such a pending
// operation has written, and read-only access to pages that the operation has only read. An access without permission faults
// (ranges.c installs the handler). It is a race if a pending operation has used the same word. Otherwise the page is unprotected; if it
// contains other words in use, only until the next operation. A system call that gets a protected page fails with EFAULT. The
// simulator itself uses a second mapping of the same bytes (ranges.c).
//
// A race is missed if the host has accessed another word of the page before.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_UNPROTECTED = 256 }; // pages that one fault unprotects

static size_t page_bytes, page_bits; // page_bytes == 1 << page_bits

static size_t page_of(uint64_t at)
{
    return at >> page_bits;
}

static size_t page_count(const Uses *u)
{
    return page_of(u->bytes - 1) + 1;
}

void sim_begin_page_protection(Uses *u)
{
    page_bytes = sim_page_bytes();
    page_bits = (size_t)__builtin_ctzl(page_bytes);
    u->required_protection = calloc(page_count(u), sizeof *u->required_protection);
    u->protection = calloc(page_count(u), sizeof *u->protection);
    if (!u->required_protection || !u->protection)
        sim_die("out of memory: page table of shared memory");
    u->unapplied = u->protected_span = NO_PAGES;
    u->used_first = SIZE_MAX;
}

void sim_protect_after_op(Uses *u, uint64_t first, uint64_t end, bool writes)
{
    const uint8_t protection = writes ? HOST_NO_ACCESS : HOST_READ_ONLY;
    const PageSpan pages = {page_of(first), page_of(end - 1) + 1};
    for (size_t p = pages.first; p < pages.end; p++) {
        uint8_t current = atomic_load_explicit(&u->required_protection[p], memory_order_relaxed);
        while (current < protection && !atomic_compare_exchange_weak(&u->required_protection[p], &current, protection))
            continue;
    }
    size_t old = atomic_load_explicit(&u->used_first, memory_order_relaxed);
    while (pages.first < old && !atomic_compare_exchange_weak(&u->used_first, &old, pages.first))
        continue;
    old = atomic_load_explicit(&u->used_end, memory_order_relaxed);
    while (pages.end > old && !atomic_compare_exchange_weak(&u->used_end, &old, pages.end))
        continue;
}

PageSpan sim_collect_used_pages(Uses *u)
{
    if (!u->required_protection)
        return NO_PAGES;
    const PageSpan used = {u->used_first, u->used_end};
    u->used_first = SIZE_MAX;
    u->used_end = 0;
    u->unapplied = sim_page_span_union(u->unapplied, used);
    return used;
}

// ---- Protection

static bool protect(const Uses *u, PageSpan pages, PageAccess access)
{
    return sim_protect_pages((void *)(uintptr_t)(u->address + pages.first * page_bytes), (pages.end - pages.first) * page_bytes,
                     access);
}

static void unprotect_all(Uses *u)
{
    const PageSpan pages = sim_page_span_union(u->protected_span, u->unapplied);
    if (u->protected_span.first < u->protected_span.end)
        protect(u, u->protected_span, READ_WRITE_ACCESS);
    for (size_t p = pages.first; p < pages.end; p++)
        u->required_protection[p] = u->protection[p] = HOST_READ_WRITE;
    u->unapplied = u->protected_span = NO_PAGES;
}

// Removes the host's access to the whole span of protected pages, because Linux's limit on the number of mappings is reached.
static void protect_all(Uses *u)
{
    protect(u, u->protected_span, NO_ACCESS);
    for (size_t p = u->protected_span.first; p < u->protected_span.end; p++)
        u->required_protection[p] = u->protection[p] = HOST_NO_ACCESS;
}

// The longest span that starts at page `first` and needs the same change.
static PageSpan equal_pages_from(const Uses *u, size_t first, size_t end)
{
    const uint8_t required_protection = u->required_protection[first];
    PageSpan equal = {first, first + 1};
    while (equal.end < end && u->required_protection[equal.end] == required_protection && u->protection[equal.end] != required_protection)
        equal.end++;
    return equal;
}

// Applies the required protection to the pages of a span.
static void apply_protection(Uses *u, PageSpan pages)
{
    static const PageAccess ALLOWED[] = {[HOST_READ_WRITE] = READ_WRITE_ACCESS, [HOST_READ_ONLY] = READ_ACCESS, [HOST_NO_ACCESS] = NO_ACCESS};
    if (pages.first >= pages.end)
        return;
    u->protected_span = sim_page_span_union(u->protected_span, pages);
    if (!sim_handles_faults()) { // without the handler, a fault would end the program
        unprotect_all(u);
        return;
    }
    for (size_t p = pages.first; p < pages.end; p++) {
        if (u->required_protection[p] == u->protection[p])
            continue;
        const PageSpan equal = equal_pages_from(u, p, pages.end);
        if (!protect(u, equal, ALLOWED[u->required_protection[p]])) {
            protect_all(u);
            return;
        }
        memset(u->protection + equal.first, u->required_protection[p], equal.end - equal.first);
        p = equal.end - 1;
    }
}

static bool is_unawaited(uint32_t entry, UseKind kind)
{
    (void)kind;
    return !sim_host_has_awaited(entry & SIM_USE_NUMBER);
}

// Whether an operation for which the host has not waited has used a part of the page, as recorded in the table.
static bool is_in_use(const Uses *u, const UseTable *t, size_t page)
{
    const size_t first = page * page_bytes, end = first + page_bytes;
    return sim_any_use(t, first, end < u->bytes ? end : u->bytes, USE_READS, is_unawaited);
}

static HostProtection find_required_protection(const Uses *u, size_t page)
{
    return is_in_use(u, &u->all.written, page) ? HOST_NO_ACCESS : is_in_use(u, &u->all.read, page) ? HOST_READ_ONLY : HOST_READ_WRITE;
}

void sim_apply_protection(Uses *u, PageSpan awaited)
{
    if (!u->required_protection)
        return;
    if (!u->pending) {
        unprotect_all(u);
        return;
    }
    for (size_t p = awaited.first; p < awaited.end; p++)
        if (u->required_protection[p] != HOST_READ_WRITE)
            u->required_protection[p] = find_required_protection(u, p);
    const PageSpan pages = sim_page_span_union(u->unapplied, awaited);
    u->unapplied = NO_PAGES;
    apply_protection(u, pages);
}

void sim_unprotect_pages(Uses *u)
{
    if (!u->required_protection || u->protected_span.first >= u->protected_span.end)
        return;
    protect(u, u->protected_span, READ_WRITE_ACCESS);
    memset(u->protection + u->protected_span.first, HOST_READ_WRITE, u->protected_span.end - u->protected_span.first);
    u->unapplied = sim_page_span_union(u->unapplied, u->protected_span);
}

void sim_end_page_protection(Uses *u)
{
    if (!u->required_protection)
        return;
    unprotect_all(u);
    free((void *)u->required_protection);
    free(u->protection);
}

// Unprotects a page until the next operation.
static void unprotect_temporarily(Uses *u, size_t page)
{
    const PageSpan pages = {page, page + 1};
    if (!protect(u, pages, READ_WRITE_ACCESS)) {
        protect_all(u);
        if (!protect(u, pages, READ_WRITE_ACCESS)) {
            unprotect_all(u);
            return;
        }
    }
    u->protection[page] = HOST_READ_WRITE;
    u->unapplied = sim_page_span_union(u->unapplied, pages);
}

// Unprotects a page at an access that does not race, so that the host can continue.
static void unprotect_page(Uses *u, size_t page, bool writes)
{
    const HostProtection required = find_required_protection(u, page);
    PageSpan pages = {page, page + 1};
    if (required == HOST_NO_ACCESS || (required == HOST_READ_ONLY && writes)) { // other words of the page are in use
        unprotect_temporarily(u, page);
        return;
    }
    u->required_protection[page] = required;
    for (; pages.end < page_count(u) && pages.end - page < MAX_UNPROTECTED && u->protection[pages.end] &&
           find_required_protection(u, pages.end) == HOST_READ_WRITE; pages.end++)
        u->required_protection[pages.end] = HOST_READ_WRITE;
    apply_protection(u, pages);
    if (u->protection[page] != required)
        unprotect_temporarily(u, page);
}

void sim_drop_pending(Uses *u)
{
    for (PendingUse *p; (p = u->pending);) {
        u->pending = p->next;
        free(p);
    }
}

// ---- The host's accesses

static void report_race(uint64_t address, uint32_t op, bool host_writes, bool op_writes, const void *instruction)
{
    char title[800], operation[300], hint[HINT_BYTES];
    AddressText at;
    FindingLocation host = {.line = 0};
    sim_describe_address(address, &at);
    sim_describe_op(op, operation, sizeof operation);
    snprintf(title, sizeof title, "the host %s %s, which %s may %s", host_writes ? "writes" : "reads", at.text, operation,
             !op_writes ? "still read" : host_writes ? "still write" : "not have written yet");
    snprintf(host.access, sizeof host.access, "%s by the host", host_writes ? "write" : "read");
    sim_set_host_line(instruction, &host);
    const FindingLocation locations[] = {sim_op_location(op), host};
    snprintf(hint, sizeof hint, "call cudaDeviceSynchronize() or cudaStreamSynchronize() before the host's access");
    sim_add_allocation_note(sim_allocation_at(address), hint);
    sim_add_finding(RACE_OPERATIONS, title, locations, 2, hint);
    sim_print_findings();
}

bool sim_handle_shared_fault(uint64_t address, bool writes, const void *instruction)
{
    LOCK_MEMORY();
    const Allocation *a = sim_allocation_at(address);
    Uses *u = a ? uses_of(a) : NULL;
    const uint64_t at = u ? address - u->address : 0;
    if (!u || !u->required_protection || page_of(at) >= page_count(u))
        return false;
    const bool inside = at < u->bytes;
    const uint32_t writer = inside ? sim_last_use(&u->all.written, at) & SIM_USE_NUMBER : 0,
                   reader = inside ? sim_last_use(&u->all.read, at) & SIM_USE_NUMBER : 0;
    const bool after_write = !sim_host_has_awaited(writer), after_read = writes && !sim_host_has_awaited(reader);
    if (after_write || after_read) {
        report_race(address, after_write ? writer : reader, writes, after_write, instruction);
        sim_drop_pending(u); // report it once
        unprotect_all(u);
    } else {
        unprotect_page(u, page_of(at), writes);
    }
    return true;
}
