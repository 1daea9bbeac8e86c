// memory_uses.c: memory that several share: whether operations of streams, and the host, use it in an order.
//
// Of each byte the last operations are known that read and wrote it: kernels, copies, fills. If another one writes
// it, or reads what was written, the program must have ordered them (order.h); else that is a race, although one has
// ended here before the other begins. Of device memory that is noted only in programs that make streams.
//
// Some races are missed: of all that read a byte only the last is known. None is invented. Kernels with stores, atomic
// operations or fences at the scope of the system, or volatile ones, may tell others themselves how far they are: what
// they use is not noted. Those that tell each other at the scope of the device count as ordered from then on.
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

static _Atomic(Uses *) used; // by the current operation
static Uses *busy;           // all that has something pending
static bool at_work;         // an operation runs

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

// A table's part that few need, made when the first one does.
static atomic_uint *numbers_of(_Atomic(atomic_uint *) *place, size_t count)
{
    atomic_uint *numbers = *place;
    if (numbers)
        return numbers;
    atomic_uint *fresh = new_numbers(count);
    if (atomic_compare_exchange_strong(place, &numbers, fresh))
        return fresh;
    free_numbers(fresh, count); // another host thread was faster
    return numbers;
}

static size_t lines_of(size_t bytes)
{
    return (bytes + SIM_USE_LINE - 1) / SIM_USE_LINE;
}

static size_t words_of(size_t bytes)
{
    return (bytes + SIM_USE_WORD - 1) / SIM_USE_WORD;
}

static void make_table(Table *t, size_t bytes)
{
    t->lines = new_numbers(lines_of(bytes));
    t->parts = new_numbers(lines_of(bytes));
}

static void free_table(Table *t, size_t bytes)
{
    free_numbers(t->lines, lines_of(bytes));
    free_numbers(t->parts, lines_of(bytes));
    if (t->words)
        free_numbers(t->words, words_of(bytes));
    if (t->bytes)
        free_numbers(t->bytes, bytes);
}

static uint32_t number_at(const atomic_uint *numbers, uint64_t at)
{
    return atomic_load_explicit(&numbers[at], memory_order_relaxed);
}

// What the same operation has done plainly stays: that is in the way of more operations than what it does atomically.
static void set_number(atomic_uint *numbers, uint64_t at, uint32_t entry)
{
    const uint32_t known = number_at(numbers, at);
    if (known != entry && known != (entry & NUMBER)) // so that host threads that use the same memory do not wait for each other
        atomic_store_explicit(&numbers[at], entry, memory_order_relaxed);
}

// Of one operation's two the plain one.
static uint32_t later(uint32_t a, uint32_t b)
{
    return (b & NUMBER) > (a & NUMBER) || b == (a & NUMBER) ? b : a;
}

uint32_t sim_last_use(const Table *t, uint64_t at)
{
    const uint32_t whole = number_at(t->lines, at / SIM_USE_LINE);
    const atomic_uint *words = t->words, *bytes = t->bytes;
    const uint32_t part = later(words ? number_at(words, at / SIM_USE_WORD) : 0, bytes ? number_at(bytes, at) : 0);
    return later(whole, part);
}

// The same of each byte of a part of one line, of which parts were used last.
static bool any_use_in_line(const Table *t, uint64_t at, uint64_t end, bool (*asked)(uint32_t entry))
{
    for (; at < end; at += t->bytes ? 1 : SIM_USE_WORD - at % SIM_USE_WORD)
        if (asked(sim_last_use(t, at)))
            return true;
    return false;
}

bool sim_any_use(const Table *t, uint64_t first, uint64_t end, bool (*asked)(uint32_t entry))
{
    uint32_t none = UINT32_MAX; // an entry that was asked of in vain: neighbours were mostly used by the same operation
    for (uint64_t at = first, next; at < end; at = next) {
        const uint64_t line = at / SIM_USE_LINE, line_end = (line + 1) * SIM_USE_LINE;
        const uint32_t entry = number_at(t->lines, line);
        next = line_end < end ? line_end : end;
        if (later(entry, number_at(t->parts, line)) != entry) {
            if (any_use_in_line(t, at, next, asked))
                return true;
        } else if (entry != none) {
            if (asked(entry))
                return true;
            none = entry;
        }
    }
    return false;
}

// A part of a line of an allocation of so many bytes is used.
static void set_part(Table *t, size_t bytes, uint64_t at, uint64_t end, uint32_t entry)
{
    set_number(t->parts, at / SIM_USE_LINE, entry);
    while (at < end) {
        const bool whole = at % SIM_USE_WORD == 0 && end - at >= SIM_USE_WORD;
        set_number(whole ? numbers_of(&t->words, words_of(bytes)) : numbers_of(&t->bytes, bytes),
                   whole ? at / SIM_USE_WORD : at, entry);
        at += whole ? SIM_USE_WORD : 1;
    }
}

static void set_uses(Table *t, size_t bytes, uint64_t first, uint64_t end, uint32_t entry)
{
    for (uint64_t at = first, next; at < end; at = next) {
        const uint64_t line = at / SIM_USE_LINE, line_end = (line + 1) * SIM_USE_LINE;
        next = line_end < end ? line_end : end;
        if (at % SIM_USE_LINE == 0 && (next == line_end || next == bytes))
            set_number(t->lines, line, entry);
        else
            set_part(t, bytes, at, next, entry);
    }
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
    *u = (Uses){.address = a->address, .bytes = a->bytes};
    if (with_host)
        sim_begin_pages(u);
    make_table(&u->read, a->bytes);
    make_table(&u->written, a->bytes);
    a->uses = u;
}

static void leave_lists(const Uses *u)
{
    for (_Atomic(Uses *) *link = &used; *link; link = &(*link)->next_used)
        if (*link == u) {
            *link = u->next_used;
            break;
        }
    for (Uses **link = &busy; *link; link = &(*link)->next_busy)
        if (*link == u) {
            *link = u->next_busy;
            break;
        }
}

void sim_end_uses(Allocation *a)
{
    Uses *u = a->uses;
    leave_lists(u);
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
    const uint32_t written = sim_last_use(&u->written, at), read = sim_last_use(&u->read, at);
    *writes = !is_ordered(written, how);
    return *writes ? written & NUMBER : how & WRITES && !is_ordered(read, how) ? read & NUMBER : 0;
}

// From a byte on: how many have been used alike. Those of a word, unless bytes of it were used by themselves.
static size_t alike_from(const Uses *u, uint64_t at)
{
    return u->read.bytes || u->written.bytes ? 1 : SIM_USE_WORD - at % SIM_USE_WORD;
}

static bool is_unordered(uint32_t entry)
{
    return !is_ordered(entry, READS);
}

static bool is_unordered_and_plain(uint32_t entry)
{
    return !is_ordered(entry, ATOMICALLY);
}

bool sim_is_in_the_way(const Allocation *a, uint64_t address, size_t bytes, UseKind how)
{
    const Uses *u = a->uses;
    const uint64_t first = address - u->address, end = first + bytes;
    bool (*const asked)(uint32_t) = how & ATOMICALLY ? is_unordered_and_plain : is_unordered;
    return !is_ordered(u->made_by, READS) || sim_any_use(&u->written, first, end, asked) ||
           (how & WRITES && sim_any_use(&u->read, first, end, asked));
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
    uint32_t last = 0; // the same one again, at higher addresses
    bool last_wrote = false;
    for (uint64_t at = first; at < first + bytes; at += alike_from(u, at)) {
        bool wrote;
        const uint32_t earlier = use_before(u, at, how, &wrote);
        if (!earlier || (earlier == last && wrote == last_wrote))
            continue;
        add_conflict((Conflict){earlier, wrote ? WROTE_IT : READ_IT, how & WRITES, u->address + at});
        last = earlier;
        last_wrote = wrote;
    }
    if (!last && !is_ordered(u->made_by, READS))
        add_conflict((Conflict){u->made_by, MADE_IT, false, address});
}

// The operation has used it for the first time.
static void enter_list(Uses *u)
{
    Uses *first = used;
    do
        u->next_used = first;
    while (!atomic_compare_exchange_weak(&used, &first, u));
}

void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, UseKind how)
{
    Uses *u = a->uses;
    const uint32_t op = sim_current_op(), entry = how & ATOMICALLY ? op | ATOMIC_USE : op;
    const uint64_t first = address - u->address, end = first + bytes;
    set_uses(how & WRITES ? &u->written : &u->read, u->bytes, first, end, entry);
    if (u->wanted)
        sim_close_later(u, first, end, how & WRITES);
    set_number(how & WRITES ? &u->writer : &u->reader, 0, op);
    if (number_at(&u->listed, 0) != op && atomic_exchange(&u->listed, op) != op)
        enter_list(u);
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

static void drop_all_awaited(void)
{
    for (Uses **link = &busy; *link;) {
        Uses *u = *link;
        drop_awaited(u);
        u->busy = u->pending;
        if (u->busy)
            link = &u->next_busy;
        else
            *link = u->next_busy;
    }
}

void sim_review_shared(void)
{
    if (!at_work)
        drop_all_awaited();
}

static void end_use(Uses *u, uint32_t op)
{
    const Span pages = sim_take_touched(u);
    if (u->reader == op)
        add_pending(u, op, false, pages);
    if (u->writer == op)
        add_pending(u, op, true, pages);
    if (!u->busy) {
        u->busy = true;
        u->next_busy = busy;
        busy = u;
    }
}

void sim_end_sharing(void)
{
    at_work = false;
    for (Uses *u = atomic_exchange(&used, NULL); u; u = u->next_used)
        end_use(u, sim_current_op());
    drop_all_awaited();
    find_conflicts();
}

void sim_open_to_host(void)
{
    for (Uses *u = busy; u; u = u->next_busy)
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
    if (*mask == ALL_LANES && access->pattern != SCATTERED) {
        *mask = 0;
        return access->pattern == ALL_SAME ? access->bytes : LANES * access->bytes;
    }
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

static bool is_of_others(uint32_t entry)
{
    return (entry & NUMBER) != sim_current_op();
}

static bool is_of_others_or_atomic(uint32_t entry)
{
    return entry != sim_current_op();
}

// Whether the current operation itself was the last to use all these bytes so.
static bool is_noted(const Uses *u, uint64_t address, size_t bytes, UseKind how)
{
    const uint64_t first = address - u->address;
    return !sim_any_use(how & WRITES ? &u->written : &u->read, first, first + bytes,
                        how & ATOMICALLY ? is_of_others : is_of_others_or_atomic);
}

// Whole lines that the current operation has used so need not be noted again.
void sim_expect_uses(const Launch *launch, const Allocation *a, bool writes, FastPath *fast_path)
{
    fast_path->users = !a->uses || !launch->noted ? NULL : writes ? a->uses->written.lines : a->uses->read.lines;
    fast_path->user = sim_current_op();
}

static bool reads(const Operand *o, const Register *reg)
{
    bool found = o->reg == reg;
    for (int k = 0; k < o->count; k++)
        found |= reads(&o->elements[k], reg);
    return found;
}

// Whether a register is among an instruction's operands, but for the one that it sets.
static bool takes(const Instr *i, const Register *reg)
{
    const Statement *s = i->statement;
    const bool sets_none = s && (s->operands[0].address || i->control == BRANCH_INDEXED);
    bool found = false;
    for (int k = sets_none ? 0 : 1; s && k < s->count; k++)
        found |= reads(&s->operands[k], reg);
    return found;
}

// Whether its function asks for what an atomic operation or a load has found. Who only counts along does not. (Of a vector all is.)
static bool is_asked_for(const Warp *w, const Instr *i)
{
    const Program *p = w->path->frame->function->program;
    const Operand *to = &i->statement->operands[0];
    bool asked = i->kind == LOAD && !to->reg;
    for (const Instr *j = p->code; j < p->code + p->count && !to->address && to->reg && !asked; j++)
        asked = takes(j, to->reg);
    return asked;
}

// An atomic or volatile read of what another operation has stored so: it may tell how far that is.
static void hear_of_writer(const Warp *w, const Instr *i, uint64_t address)
{
    const Uses *u = w->near->uses;
    const uint32_t entry = sim_last_use(&u->written, address - u->address);
    if (!(entry & ATOMIC_USE) || sim_op_ordered(entry & NUMBER, sim_current_op()) || !is_asked_for(w, i))
        return;
    sim_await_turn(w->block);
    sim_hear_of(entry & NUMBER);
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
        if (atomically && (!writes || access->kind == ACCESS_ATOMIC))
            hear_of_writer(w, i, address);
        if (is_noted(w->near->uses, address, bytes, how))
            continue;
        if (sim_is_in_the_way(w->near, address, bytes, how)) {
            sim_await_turn(w->block); // a block that runs ahead in vain is in nobody's way
            sim_note_conflict(w->near, address, bytes, how);
        }
        sim_note_use(w->near, address, bytes, how);
    }
}
