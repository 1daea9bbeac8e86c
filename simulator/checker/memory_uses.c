// memory_uses.c: memory that several share: whether operations of streams, and the host, use it in an order.
//
// Of each byte the last operations are known that read and wrote it: kernels, copies, fills. If another one writes
// it, or reads what was written, the program must have ordered them (order.h); else that is a race, although one has
// ended here before the other begins. Of device memory that is noted only in programs that make streams.
//
// Some races are missed: of all that read a byte only the last is known. None is invented. Kernels with stores, atomic
// operations or fences at the scope of the system, or volatile ones, may tell others themselves how far they are: what
// they use is not noted.
//
// What the host does with memory that it shares with the device is seen in host_pages.c.
#include "checker/memory_uses.h"
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CONFLICTS = 64 };
static const uint32_t ATOMIC_USE = 1u << 31, NUMBER = SIM_USE_NUMBER; // of an entry: how, and the operation

static Uses *all_uses;
static bool at_work; // an operation runs

// ---- Allocations

// Numbers of operations; those that nobody sets take no memory.
static atomic_uint *new_numbers(size_t count)
{
    void *numbers = sim_new_zeros(count * sizeof(atomic_uint) + 1);
    if (!numbers)
        sim_die("out of memory for the uses of memory of host and device");
    return numbers;
}

static void free_numbers(atomic_uint *numbers, size_t count)
{
    sim_free_zeros(numbers, count * sizeof *numbers + 1);
}

// Those of single bytes, made when they are first needed.
static atomic_uint *bytes_of(Table *t, size_t bytes)
{
    atomic_uint *numbers = t->bytes;
    if (numbers)
        return numbers;
    atomic_uint *fresh = new_numbers(bytes);
    if (atomic_compare_exchange_strong(&t->bytes, &numbers, fresh))
        return fresh;
    free_numbers(fresh, bytes); // another host thread was faster
    return numbers;
}

static void free_table(Table *t, size_t bytes)
{
    free_numbers(t->words, bytes / SIM_USE_WORD);
    if (t->bytes)
        free_numbers(t->bytes, bytes);
}

static uint32_t number_at(const atomic_uint *numbers, uint64_t at)
{
    return atomic_load_explicit(&numbers[at], memory_order_relaxed);
}

uint32_t sim_last_use(const Table *t, size_t bytes, uint64_t at)
{
    const atomic_uint *parts = t->bytes;
    const uint32_t whole = at / SIM_USE_WORD < bytes / SIM_USE_WORD ? number_at(t->words, at / SIM_USE_WORD) : 0;
    const uint32_t part = parts ? number_at(parts, at) : 0;
    return (part & NUMBER) > (whole & NUMBER) ? part : whole;
}

void sim_begin_uses(Allocation *a)
{
    const bool with_host = sim_in_shared_range((const void *)(uintptr_t)a->address);
    if (!sim_checks() || a->uses || a->kind == PARAMETER_MEMORY || a->kind == HEAP_MEMORY ||
        !(with_host || sim_has_streams()))
        return;
    Uses *u = calloc(1, sizeof *u);
    if (!u)
        sim_die("out of memory for the uses of memory of host and device");
    *u = (Uses){.address = a->address, .bytes = a->bytes, .next = all_uses};
    if (with_host)
        sim_begin_pages(u);
    u->read.words = new_numbers(a->bytes / SIM_USE_WORD);
    u->written.words = new_numbers(a->bytes / SIM_USE_WORD);
    all_uses = a->uses = u;
}

void sim_end_uses(Allocation *a)
{
    Uses *u = a->uses;
    for (Uses **link = &all_uses; *link; link = &(*link)->next)
        if (*link == u) {
            *link = u->next;
            break;
        }
    sim_drop_pending(u);
    sim_end_pages(u);
    free_table(&u->read, u->bytes);
    free_table(&u->written, u->bytes);
    free(u);
    a->uses = NULL;
}

// ---- Operations

typedef enum Before { READ_IT, WROTE_IT, MADE_IT } Before; // what the earlier operation did

typedef struct Conflict { // of the current operation with an earlier one, where it is first
    uint32_t earlier;
    Before before;
    bool writes;
    uint64_t address;
} Conflict;

static Conflict conflicts[MOST_CONFLICTS];
static int conflict_count;
static Lock conflict_lock;

static bool is_ordered(uint32_t entry, UseKind how)
{
    return (how & ATOMICALLY && entry & ATOMIC_USE) || sim_op_ordered(entry & NUMBER, sim_current_op());
}

// The earlier operation that is in the way of a use of a byte; 0 if none is.
static uint32_t use_before(const Uses *u, uint64_t at, UseKind how, bool *writes)
{
    const uint32_t written = sim_last_use(&u->written, u->bytes, at), read = sim_last_use(&u->read, u->bytes, at);
    *writes = !is_ordered(written, how);
    return *writes ? written & NUMBER : how & WRITES && !is_ordered(read, how) ? read & NUMBER : 0;
}

// From a byte on: how many have been used alike. Those of a word, unless bytes of it were used by themselves.
static size_t alike_from(const Uses *u, uint64_t at)
{
    return u->read.bytes || u->written.bytes ? 1 : SIM_USE_WORD - at % SIM_USE_WORD;
}

// Whether an earlier operation is in the way of a use of these words, none of which was used in part. Neighbours were
// mostly used by the same one: of it is asked once.
static bool words_are_in_the_way(const Uses *u, uint64_t word, size_t count, UseKind how)
{
    uint32_t written = 0, read = 0; // of the word before; of 0 nobody need ask
    for (const uint64_t end = word + count; word < end; word++) {
        const uint32_t w = number_at(u->written.words, word), r = how & WRITES ? number_at(u->read.words, word) : 0;
        if ((w != written && !is_ordered(w, how)) || (r != read && !is_ordered(r, how)))
            return true;
        written = w;
        read = r;
    }
    return false;
}

bool sim_is_in_the_way(const Allocation *a, uint64_t address, size_t bytes, UseKind how)
{
    const Uses *u = a->uses;
    const uint64_t first = address - u->address;
    bool writes;
    if (!is_ordered(u->made_by, READS))
        return true;
    if (!u->read.bytes && !u->written.bytes && (first | bytes) % SIM_USE_WORD == 0)
        return words_are_in_the_way(u, first / SIM_USE_WORD, bytes / SIM_USE_WORD, how);
    for (uint64_t at = first; at < first + bytes; at += alike_from(u, at))
        if (use_before(u, at, how, &writes))
            return true;
    return false;
}

static void add_conflict(Conflict new)
{
    sim_lock(&conflict_lock);
    int k = 0;
    while (k < conflict_count &&
           (conflicts[k].earlier != new.earlier || conflicts[k].before != new.before ||
            conflicts[k].writes != new.writes))
        k++;
    if (k == conflict_count && k < MOST_CONFLICTS)
        conflicts[conflict_count++] = new;
    else if (k < conflict_count && new.address < conflicts[k].address) // the same one for any number of host threads
        conflicts[k].address = new.address;
    sim_unlock(&conflict_lock);
}

void sim_note_conflict(const Allocation *a, uint64_t address, size_t bytes, UseKind how)
{
    const Uses *u = a->uses;
    const uint64_t first = address - u->address;
    bool used = false;
    for (uint64_t at = first; at < first + bytes; at += alike_from(u, at)) {
        bool writes;
        const uint32_t earlier = use_before(u, at, how, &writes);
        if (earlier)
            add_conflict((Conflict){earlier, writes ? WROTE_IT : READ_IT, how & WRITES, u->address + at});
        used |= earlier != 0;
    }
    if (!used && !is_ordered(u->made_by, READS))
        add_conflict((Conflict){u->made_by, MADE_IT, false, address});
}

void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, UseKind how)
{
    Uses *u = a->uses;
    const uint32_t op = sim_current_op(), entry = how & ATOMICALLY ? op | ATOMIC_USE : op;
    Table *table = how & WRITES ? &u->written : &u->read;
    const uint64_t first = address - u->address, end = first + bytes;
    for (uint64_t at = first; at < end;) {
        const bool whole = at % SIM_USE_WORD == 0 && end - at >= SIM_USE_WORD;
        atomic_store_explicit(whole ? &table->words[at / SIM_USE_WORD] : &bytes_of(table, u->bytes)[at], entry,
                              memory_order_relaxed);
        at += whole ? SIM_USE_WORD : 1;
    }
    if (u->wanted)
        sim_close_later(u, first, end, how & WRITES);
    atomic_uint *last = how & WRITES ? &u->writer : &u->reader;
    if (atomic_load_explicit(last, memory_order_relaxed) != op)
        atomic_store_explicit(last, op, memory_order_relaxed);
}

static int by_address(const void *one, const void *two)
{
    const Conflict *a = one, *b = two;
    return a->address != b->address  ? (a->address < b->address ? -1 : 1)
           : a->earlier < b->earlier ? -1
                                     : a->earlier > b->earlier;
}

static const char *may_have_done(const Conflict *c)
{
    static const char *const DONE[] = {[READ_IT] = "still read", [MADE_IT] = "not have allocated yet"};
    return c->before != WROTE_IT ? DONE[c->before] : c->writes ? "still write" : "not have written yet";
}

static void find_conflicts(void)
{
    char title[1000], what[300], now[300], earlier[300];
    qsort(conflicts, (size_t)conflict_count, sizeof *conflicts, by_address);
    for (int k = 0; k < conflict_count; k++) {
        const Conflict *c = &conflicts[k];
        sim_describe_address(c->address, what, sizeof what);
        sim_describe_op(sim_current_op(), now, sizeof now);
        sim_describe_op(c->earlier, earlier, sizeof earlier);
        snprintf(title, sizeof title, "%s %s %s, which %s may %s", now,
                 c->before == MADE_IT ? "uses" : c->writes ? "writes" : "reads", what, earlier, may_have_done(c));
        if (c->before == MADE_IT)
            sim_allocation_at(c->address)->uses->made_by = 0; // once is enough
        const bool nodes = sim_is_of_graph(sim_current_op()) && sim_is_of_graph(c->earlier);
        const Place places[] = {sim_place_of_op(c->earlier), sim_place_of_op(sim_current_op())};
        sim_add_finding(RACE_HOST, title, places, 2,
                        nodes ? "nothing orders them: make one node depend on the other (in a capture: cudaEventRecord "
                                "and cudaStreamWaitEvent), or one launch wait for the other"
                              : "nothing orders them: cudaStreamWaitEvent with an event of the first one's "
                                "stream, or a synchronization between them, is missing");
    }
    if (conflict_count)
        sim_say_findings();
    conflict_count = 0;
}

void sim_begin_sharing(void)
{
    static bool all_noted; // allocations that were made before there were streams
    at_work = true;
    if (all_noted || !sim_has_streams())
        return;
    all_noted = true;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        sim_begin_uses(a);
}

static void add_pending(Uses *u, uint32_t op, bool writes, Span pages)
{
    for (Pending *p = u->pending; p; p = p->next)
        if (p->writes == writes && sim_timeline_of(p->op) == sim_timeline_of(op)) {
            p->op = op;
            p->pages = sim_both(p->pages, pages);
            return;
        }
    Pending *p = malloc(sizeof *p);
    if (!p)
        sim_die("out of memory for a use of memory of host and device");
    *p = (Pending){op, writes, pages, u->pending};
    u->pending = p;
}

void sim_drop_pending(Uses *u)
{
    for (Pending *p; (p = u->pending);) {
        u->pending = p->next;
        free(p);
    }
}

// What the host has waited for is pending no more.
static void drop_awaited(Uses *u)
{
    Span pages = NO_PAGES;
    for (Pending **link = &u->pending; *link;) {
        Pending *p = *link;
        if (sim_host_has_awaited(p->op)) {
            pages = sim_both(pages, p->pages);
            *link = p->next;
            free(p);
        } else {
            link = &p->next;
        }
    }
    sim_settle_pages(u, pages);
}

void sim_review_shared(void)
{
    for (Uses *u = all_uses; u && !at_work; u = u->next)
        if (u->pending)
            drop_awaited(u);
}

void sim_end_sharing(void)
{
    const uint32_t op = sim_current_op();
    at_work = false;
    for (Uses *u = all_uses; u; u = u->next) {
        const Span pages = sim_take_touched(u);
        if (op && u->reader == op)
            add_pending(u, op, false, pages);
        if (op && u->writer == op)
            add_pending(u, op, true, pages);
        if (u->pending)
            drop_awaited(u);
    }
    find_conflicts();
}

void sim_open_to_host(void)
{
    for (Uses *u = all_uses; u; u = u->next)
        sim_open_pages(u);
}

// ---- Memory that comes and goes in the order of a stream

void sim_note_made(Allocation *a)
{
    if (a->uses)
        a->uses->made_by = sim_current_op();
}

void sim_check_free(const Allocation *a)
{
    char title[1000], what[300], now[300], earlier[300];
    const uint32_t op = sim_current_op();
    const Pending *p = a->uses ? a->uses->pending : NULL;
    while (p && sim_op_ordered(p->op, op))
        p = p->next;
    if (!p)
        return;
    sim_describe_address(a->address, what, sizeof what);
    sim_describe_op(op, now, sizeof now);
    sim_describe_op(p->op, earlier, sizeof earlier);
    snprintf(title, sizeof title, "%s frees %s, which %s may still %s", now, strstr(what, " of ") + strlen(" of "),
             earlier, p->writes ? "write" : "read");
    const Place places[] = {sim_place_of_op(p->op), sim_place_of_op(op)};
    sim_add_finding(RACE_HOST, title, places, 2,
                    "nothing orders them: cudaStreamWaitEvent with an event behind the last use is missing");
    sim_say_findings();
}

// ---- A kernel's accesses

// The lanes from the first of some on that lie one behind the other, or in the same place: takes them out of `mask`.
static size_t take_neighbours(const Access *access, uint32_t *mask)
{
    const uint64_t first = access->address[__builtin_ctz(*mask)];
    uint64_t end = first + access->bytes;
    for (*mask &= *mask - 1; *mask; *mask &= *mask - 1) {
        const uint64_t next = access->address[__builtin_ctz(*mask)];
        if (next != end && next + access->bytes != end)
            break;
        end = next + access->bytes;
    }
    return end - first;
}

// Who uses memory is noted where other streams or the host may use it, too.
void sim_note_shared_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const bool writes = access->kind != ACCESS_READ && access->kind != ACCESS_ASYNC_READ;
    const bool atomically = access->kind == ACCESS_ATOMIC || i->semantics != WEAK;
    const UseKind how = (writes ? WRITES : READS) | (atomically ? ATOMICALLY : 0);
    while (mask) {
        const uint64_t address = access->address[__builtin_ctz(mask)];
        const size_t bytes = take_neighbours(access, &mask);
        if (sim_is_in_the_way(w->near, address, bytes, how)) {
            sim_await_turn(w->block); // a block that runs ahead in vain is in nobody's way
            sim_note_conflict(w->near, address, bytes, how);
        }
        sim_note_use(w->near, address, bytes, how);
    }
}
