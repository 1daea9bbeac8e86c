// memory_uses.c: data races between operations of streams, and between them and the host.
//
// For each byte, the checker records the last operations (kernels, copies, fills) that read and wrote it. If another operation writes
// the byte, or reads what was written, the program must have ordered the two operations (order.h). Otherwise they race, although the
// simulator completes the first before the second begins. Device memory is tracked only in programs that create streams.
//
// Some races are missed, since only the last reader of a byte is recorded; there are no false positives. Kernels with stores, atomic
// operations or fences of system scope, or with volatile accesses, may synchronise with others, so their uses are not tracked. Kernels
// that synchronise at device scope count as ordered from then on.
//
// host_pages.c detects host accesses to memory that host and device share.
#include "checker/memory_uses.h"
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CONFLICTS = 64 };
static const uint32_t ATOMIC_BIT = 1u << 31, NUMBER_MASK = SIM_USE_NUMBER; // bits of an entry: the kind of use, and the operation

static _Atomic(Uses *) used_by_current; // list of the allocations used by the current operation
static Uses *with_pending;   // list of the allocations with pending uses
static bool op_running;

// ---- Allocations

// A table of operation numbers; untouched pages take no memory.
static atomic_uint *new_numbers(size_t count)
{
    void *numbers = sim_allocate_zeroed(count * sizeof(atomic_uint) + 1);
    if (!numbers)
        sim_die("out of memory: recorded uses of an allocation");
    return numbers;
}

static void free_numbers(atomic_uint *numbers, size_t count)
{
    sim_free_zeroed(numbers, count * sizeof *numbers + 1);
}

// A rarely needed part of a table, which is allocated on first use.
static atomic_uint *numbers_of(_Atomic(atomic_uint *) *table_part, size_t count)
{
    atomic_uint *numbers = *table_part;
    if (numbers)
        return numbers;
    atomic_uint *fresh = new_numbers(count);
    if (atomic_compare_exchange_strong(table_part, &numbers, fresh))
        return fresh;
    free_numbers(fresh, count); // another host thread has made it
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

static void allocate_table(UseTable *t, size_t bytes)
{
    t->lines = new_numbers(lines_of(bytes));
    t->parts = new_numbers(lines_of(bytes));
}

static void free_table(UseTable *t, size_t bytes)
{
    free_numbers(t->lines, lines_of(bytes));
    free_numbers(t->parts, lines_of(bytes));
    if (t->words)
        free_numbers(t->words, words_of(bytes));
    if (t->bytes)
        free_numbers(t->bytes, bytes);
}

// Stores an entry, but does not replace a plain use by the same operation, which conflicts with more operations than an atomic use.
static void set_number(atomic_uint *numbers, uint64_t at, uint32_t entry)
{
    const uint32_t known = sim_number_at(numbers, at);
    if (known != entry && known != (entry & NUMBER_MASK)) // avoids contention between host threads
        atomic_store_explicit(&numbers[at], entry, memory_order_relaxed);
}

// Records the use of a part of a line. `bytes`: size of the allocation.
static void set_part(UseTable *t, size_t bytes, uint64_t at, uint64_t end, uint32_t entry)
{
    set_number(t->parts, at / SIM_USE_LINE, entry);
    while (at < end) {
        const bool whole = at % SIM_USE_WORD == 0 && end - at >= SIM_USE_WORD;
        set_number(whole ? numbers_of(&t->words, words_of(bytes)) : numbers_of(&t->bytes, bytes),
                   whole ? at / SIM_USE_WORD : at, entry);
        at += whole ? SIM_USE_WORD : 1;
    }
}

static void set_uses(UseTable *t, size_t bytes, uint64_t first, uint64_t end, uint32_t entry)
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
    if (!sim_checker_enabled() || uses_of(a) || a->kind == PARAMETER_MEMORY || a->kind == HEAP_MEMORY ||
        !(with_host || sim_has_streams()))
        return;
    Uses *u = calloc(1, sizeof *u);
    if (!u)
        sim_die("out of memory: recorded uses of an allocation");
    *u = (Uses){.address = a->address, .bytes = a->bytes};
    if (with_host)
        sim_begin_page_protection(u);
    allocate_table(&u->read, a->bytes);
    allocate_table(&u->written, a->bytes);
    a->check->uses = u;
    a->records_uses = true;
}

static void remove_from_lists(const Uses *u)
{
    for (_Atomic(Uses *) *link = &used_by_current; *link; link = &(*link)->next_used)
        if (*link == u) {
            *link = u->next_used;
            break;
        }
    for (Uses **link = &with_pending; *link; link = &(*link)->next_pending)
        if (*link == u) {
            *link = u->next_pending;
            break;
        }
}

void sim_end_uses(Allocation *a)
{
    Uses *u = uses_of(a);
    remove_from_lists(u);
    sim_drop_pending(u);
    sim_end_page_protection(u);
    free_table(&u->read, u->bytes);
    free_table(&u->written, u->bytes);
    free(u);
    a->check->uses = NULL;
    a->records_uses = false;
}

// ---- Operations

typedef enum EarlierUse { DID_READ, DID_WRITE, DID_ALLOCATE, DID_FREE } EarlierUse; // uses first

typedef struct Conflict { // a conflict of the current operation with an earlier one, at the lowest address
    uint32_t earlier;
    EarlierUse before;
    bool writes;
    uint64_t address;
} Conflict;

static Conflict conflicts[MAX_CONFLICTS];
static int conflict_count;
static Lock conflict_lock;

static bool is_ordered(uint32_t entry, UseKind kind)
{
    return (kind & USE_ATOMIC && entry & ATOMIC_BIT) || sim_op_ordered(entry & NUMBER_MASK, sim_current_op());
}

// The earlier operation that conflicts with a use of a byte, or 0. Sets whether that operation wrote the byte.
static uint32_t use_before(const Uses *u, uint64_t at, UseKind kind, bool *writes)
{
    const uint32_t written = sim_last_use(&u->written, at), read = sim_last_use(&u->read, at);
    *writes = !is_ordered(written, kind);
    return *writes ? written & NUMBER_MASK : kind & USE_WRITES && !is_ordered(read, kind) ? read & NUMBER_MASK : 0;
}

// The number of bytes, starting here, with the same last uses: the rest of the word, or 1 if single bytes are recorded.
static size_t same_uses_from(const Uses *u, uint64_t at)
{
    return u->read.bytes || u->written.bytes ? 1 : SIM_USE_WORD - at % SIM_USE_WORD;
}

static bool is_unordered(uint32_t entry)
{
    return !is_ordered(entry, USE_READS);
}

static bool is_unordered_and_plain(uint32_t entry)
{
    return !is_ordered(entry, USE_ATOMIC);
}

bool sim_use_conflicts(const Allocation *a, uint64_t address, size_t bytes, UseKind kind)
{
    const Uses *u = uses_of(a);
    const uint64_t first = address - u->address, end = first + bytes;
    bool (*const conflicts_with)(uint32_t) = kind & USE_ATOMIC ? is_unordered_and_plain : is_unordered;
    return u->freed_by || !is_ordered(u->allocated_by, USE_READS) || sim_any_use(&u->written, first, end, conflicts_with) ||
           (kind & USE_WRITES && sim_any_use(&u->read, first, end, conflicts_with));
}

static void add_conflict(Conflict new)
{
    sim_lock(&conflict_lock);
    int k = 0;
    while (k < conflict_count &&
           (conflicts[k].earlier != new.earlier || conflicts[k].before != new.before ||
            conflicts[k].writes != new.writes))
        k++;
    if (k == conflict_count && k < MAX_CONFLICTS)
        conflicts[conflict_count++] = new;
    else if (k < conflict_count && new.address < conflicts[k].address) // independent of the number of host threads
        conflicts[k].address = new.address;
    sim_unlock(&conflict_lock);
}

void sim_note_conflict(const Allocation *a, uint64_t address, size_t bytes, UseKind kind)
{
    const Uses *u = uses_of(a);
    const uint64_t first = address - u->address;
    uint32_t last = 0; // the earlier operation in the previous byte's conflict, which is not added again
    bool last_wrote = false;
    for (uint64_t at = first; at < first + bytes; at += same_uses_from(u, at)) {
        bool wrote;
        const uint32_t earlier = use_before(u, at, kind, &wrote);
        if (!earlier || (earlier == last && wrote == last_wrote))
            continue;
        add_conflict((Conflict){earlier, wrote ? DID_WRITE : DID_READ, kind & USE_WRITES, u->address + at});
        last = earlier;
        last_wrote = wrote;
    }
    if (!last && !is_ordered(u->allocated_by, USE_READS))
        add_conflict((Conflict){u->allocated_by, DID_ALLOCATE, false, address});
    if (u->freed_by)
        add_conflict((Conflict){u->freed_by, DID_FREE, false, address});
}

// Adds the allocation to the list used_by_current.
static void add_to_used(Uses *u)
{
    Uses *first = used_by_current;
    do
        u->next_used = first;
    while (!atomic_compare_exchange_weak(&used_by_current, &first, u));
}

void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, UseKind kind)
{
    Uses *u = uses_of(a);
    const uint32_t op = sim_current_op(), entry = kind & USE_ATOMIC ? op | ATOMIC_BIT : op;
    const uint64_t first = address - u->address, end = first + bytes;
    set_uses(kind & USE_WRITES ? &u->written : &u->read, u->bytes, first, end, entry);
    if (u->required_protection)
        sim_protect_after_op(u, first, end, kind & USE_WRITES);
    set_number(kind & USE_WRITES ? &u->writer : &u->reader, 0, op);
    if (sim_number_at(&u->listed_by, 0) != op && atomic_exchange(&u->listed_by, op) != op)
        add_to_used(u);
}

static int compare_addresses(const void *one, const void *two)
{
    const Conflict *a = one, *b = two;
    return a->address != b->address  ? (a->address < b->address ? -1 : 1)
           : a->earlier < b->earlier ? -1
                                     : a->earlier > b->earlier;
}

static const char *may_have_done(const Conflict *c)
{
    static const char *const DONE[] = {[DID_READ] = "still read", [DID_ALLOCATE] = "not have allocated yet", [DID_FREE] = "have freed"};
    return c->before != DID_WRITE ? DONE[c->before] : c->writes ? "still write" : "not have written yet";
}

static const char STAGED_HINT[] = "call cudaDeviceSynchronize() after the copy, or copy with cudaMemcpyAsync() in the stream of the second operation\n"
                                  "note: a copy from pageable memory may return before its transfer has completed; a stream that was created with "
                                  "cudaStreamNonBlocking does not wait for it";

static void report_conflicts(void)
{
    char title[1000], hint[HINT_BYTES], current[300], earlier[300];
    AddressText at;
    qsort(conflicts, (size_t)conflict_count, sizeof *conflicts, compare_addresses);
    for (int k = 0; k < conflict_count; k++) {
        const Conflict *c = &conflicts[k];
        const Allocation *a = sim_allocation_at(c->address);
        sim_describe_address(c->address, &at);
        sim_describe_op(sim_current_op(), current, sizeof current);
        sim_describe_op(c->earlier, earlier, sizeof earlier);
        snprintf(title, sizeof title, "%s %s %s, which %s may %s", current,
                 c->before >= DID_ALLOCATE ? "uses" : c->writes ? "writes" : "reads", at.text, earlier, may_have_done(c));
        if (c->before >= DID_ALLOCATE)
            uses_of(a)->allocated_by = uses_of(a)->freed_by = 0; // report it once
        const bool both_graph_nodes = sim_is_graph_node(sim_current_op()) && sim_is_graph_node(c->earlier);
        const FindingLocation locations[] = {sim_op_location(c->earlier), sim_op_location(sim_current_op())};
        const bool is_staged = sim_is_staged_copy(c->earlier);
        snprintf(hint, sizeof hint, "%s",
                 is_staged ? STAGED_HINT
                 : both_graph_nodes ? "make one node depend on the other (in a capture: cudaEventRecord() and cudaStreamWaitEvent()), or one launch "
                         "wait for the other"
                       : "call cudaStreamWaitEvent() with an event of the first operation's stream, or synchronise between them");
        sim_add_allocation_note(a, hint);
        (is_staged ? sim_add_warning : sim_add_finding)(RACE_OPERATIONS, title, locations, 2, hint);
    }
    if (conflict_count)
        sim_print_findings();
    conflict_count = 0;
}

void sim_begin_op_uses(void)
{
    static bool all_recorded; // whether uses of allocations made before the first stream are recorded, too
    op_running = true;
    if (all_recorded || !sim_has_streams())
        return;
    all_recorded = true;
    for (Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address))
        sim_begin_uses(a);
}

static void add_pending(Uses *u, uint32_t op, bool writes, PageSpan pages)
{
    for (PendingUse *p = u->pending; p; p = p->next)
        if (p->writes == writes && sim_timeline_of(p->op) == sim_timeline_of(op)) {
            p->op = op;
            p->pages = sim_page_span_union(p->pages, pages);
            return;
        }
    PendingUse *p = malloc(sizeof *p);
    if (!p)
        sim_die("out of memory: recorded uses of an allocation");
    *p = (PendingUse){op, writes, pages, u->pending};
    u->pending = p;
}

// Removes the uses by operations for which the host has waited, and updates the protection of their pages.
static void drop_awaited(Uses *u)
{
    PageSpan pages = NO_PAGES;
    for (PendingUse **link = &u->pending; *link;) {
        PendingUse *p = *link;
        if (sim_host_has_awaited(p->op)) {
            pages = sim_page_span_union(pages, p->pages);
            *link = p->next;
            free(p);
        } else {
            link = &p->next;
        }
    }
    sim_apply_protection(u, pages);
}

static void drop_all_awaited(void)
{
    for (Uses **link = &with_pending; *link;) {
        Uses *u = *link;
        drop_awaited(u);
        u->has_pending = u->pending;
        if (u->has_pending)
            link = &u->next_pending;
        else
            *link = u->next_pending;
    }
}

void sim_drop_ended_uses(void)
{
    if (!op_running)
        drop_all_awaited();
}

static void end_use(Uses *u, uint32_t op)
{
    const PageSpan pages = sim_collect_used_pages(u);
    if (u->reader == op)
        add_pending(u, op, false, pages);
    if (u->writer == op)
        add_pending(u, op, true, pages);
    if (!u->has_pending) {
        u->has_pending = true;
        u->next_pending = with_pending;
        with_pending = u;
    }
}

void sim_end_op_uses(void)
{
    op_running = false;
    for (Uses *u = atomic_exchange(&used_by_current, NULL); u; u = u->next_used)
        end_use(u, sim_current_op());
    drop_all_awaited();
    report_conflicts();
}

void sim_unprotect_shared_memory(void)
{
    for (Uses *u = with_pending; u; u = u->next_pending)
        sim_unprotect_pages(u);
}

// ---- A kernel's accesses

// Removes from `mask` its first lanes that are adjacent or have one address; returns the number of their bytes.
static size_t pop_consecutive(const Access *access, uint32_t *mask)
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
    return (entry & NUMBER_MASK) != sim_current_op();
}

static bool is_of_others_or_atomic(uint32_t entry)
{
    return entry != sim_current_op();
}

// True if the current operation was the last to use each of these bytes in this way.
static bool is_recorded(const Uses *u, uint64_t address, size_t bytes, UseKind kind)
{
    const uint64_t first = address - u->address;
    return !sim_any_use(kind & USE_WRITES ? &u->written : &u->read, first, first + bytes,
                        kind & USE_ATOMIC ? is_of_others : is_of_others_or_atomic);
}

void sim_prepare_use_fast_path(const Launch *launch, const Allocation *a, bool writes, FastPath *fast_path)
{
    fast_path->users = !uses_of(a) || !launch->records_host_shared_accesses ? NULL : writes ? uses_of(a)->written.lines : uses_of(a)->read.lines;
    fast_path->user = sim_current_op();
}

static bool reads(const Operand *o, const Register *reg)
{
    bool found = o->reg == reg;
    for (int k = 0; k < o->count; k++)
        found |= reads(&o->elements[k], reg);
    return found;
}

// True if a register is a source operand.
static bool reads_register(const Instr *i, const Register *reg)
{
    const Statement *s = i->statement;
    const bool sets_none = s && (s->operands[0].is_address || i->control == BRANCH_INDEXED);
    bool found = false;
    for (int k = sets_none ? 0 : 1; s && k < s->count; k++)
        found |= reads(&s->operands[k], reg);
    return found;
}

// True if the function uses the value that an atomic operation or a load returns. For vector loads this is assumed.
static bool is_used(const Warp *w, const Instr *i)
{
    const Program *p = w->current_split->frame->function->program;
    const Operand *result = &i->statement->operands[0];
    bool is_value_used = i->kind == LOAD && !result->reg;
    for (const Instr *j = p->code; j < p->code + p->count && !result->is_address && result->reg && !is_value_used; j++)
        is_value_used = reads_register(j, result->reg);
    return is_value_used;
}

// An atomic or volatile read of a value that another operation stored by an atomic or volatile access may synchronise with that
// operation.
static void sync_with_writer(const Warp *w, const Instr *i, uint64_t address)
{
    const Uses *u = uses_of(w->last_allocation);
    const uint32_t entry = sim_last_use(&u->written, address - u->address);
    if (!(entry & ATOMIC_BIT) || sim_op_ordered(entry & NUMBER_MASK, sim_current_op()) || !is_used(w, i))
        return;
    sim_wait_for_earlier_blocks(w->block);
    sim_order_after(entry & NUMBER_MASK);
}

void sim_note_shared_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const bool writes = access->kind != ACCESS_READ && access->kind != ACCESS_ASYNC_READ;
    const bool atomically = access->kind == ACCESS_ATOMIC || i->semantics != WEAK;
    const UseKind kind = (writes ? USE_WRITES : USE_READS) | (atomically ? USE_ATOMIC : 0);
    while (mask) {
        const uint64_t address = access->address[__builtin_ctz(mask)];
        const size_t bytes = pop_consecutive(access, &mask);
        if (atomically && (!writes || access->kind == ACCESS_ATOMIC))
            sync_with_writer(w, i, address);
        if (is_recorded(uses_of(w->last_allocation), address, bytes, kind))
            continue;
        if (sim_use_conflicts(w->last_allocation, address, bytes, kind)) {
            sim_wait_for_earlier_blocks(w->block); // not from a speculative run
            sim_note_conflict(w->last_allocation, address, bytes, kind);
        }
        sim_note_use(w->last_allocation, address, bytes, kind);
    }
}
