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
#include "checker/dependent_launches.h"
#include "checker/host_checks.h"
#include "checker/kernel_checks.h"
#include "checker/order.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CONFLICTS = 64 };
static const uint32_t ATOMIC_BIT = ~SIM_USE_NUMBER, NUMBER_MASK = SIM_USE_NUMBER; // bits of an entry: the kind of use, and the operation

static _Atomic(Uses *) used_by_current; // list of the allocations used by the current operation
static Uses *with_pending;   // list of the allocations with pending uses
static bool op_running;

// ---- Allocations

void sim_begin_uses(Allocation *a)
{
    const bool with_host = sim_in_shared_range((const void *)(uintptr_t)a->address);
    if (!sim_checker_enabled() || uses_of(a) || a->kind == PARAMETER_MEMORY || a->kind == HEAP_MEMORY ||
        !(with_host || sim_ops_may_overlap()))
        return;
    Uses *u = calloc(1, sizeof *u);
    if (!u)
        sim_die("out of memory: recorded uses of an allocation");
    *u = (Uses){.address = a->address, .bytes = a->bytes};
    if (with_host)
        sim_begin_page_protection(u);
    sim_allocate_tables(&u->all, a->bytes);
    if (sim_expects_early_launches())
        sim_allocate_tables(&u->late, a->bytes);
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
    sim_free_tables(&u->all, u->bytes);
    sim_free_tables(&u->late, u->bytes);
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
    bool is_early;          // only because the current operation may begin early
    bool has_access;
    FindingLocation access; // by a thread of the current operation, if has_access
} Conflict;

static Conflict conflicts[MAX_CONFLICTS];
static int conflict_count;
static Lock conflict_lock;

// An EntryPredicate: the use may race with a use by the current operation.
static bool is_unordered(uint32_t entry, UseKind kind)
{
    return !(kind & USE_ATOMIC && entry & ATOMIC_BIT) && !sim_op_ordered(entry & NUMBER_MASK, sim_current_op());
}

// The same for a use by a thread that has not waited for the previous kernel.
static bool is_unordered_early(uint32_t entry, UseKind kind)
{
    return !(kind & USE_ATOMIC && entry & ATOMIC_BIT) && !sim_op_ordered_early(entry & NUMBER_MASK);
}

// The earlier operation that conflicts with a use of a byte, or 0. Sets whether that operation wrote the byte.
static uint32_t use_before(const UseTables *t, uint64_t at, UseKind kind, EntryPredicate *unordered, bool *writes)
{
    const uint32_t written = sim_last_use(&t->written, at), read = sim_last_use(&t->read, at);
    *writes = unordered(written, kind);
    return *writes ? written & NUMBER_MASK : kind & USE_WRITES && unordered(read, kind) ? read & NUMBER_MASK : 0;
}

// True if a use of any of these bytes conflicts with an earlier operation. Inline, because `unordered` then is.
static inline bool conflicts_with_any(const UseTables *t, uint64_t first, uint64_t end, UseKind kind, EntryPredicate *unordered)
{
    return sim_any_use(&t->written, first, end, kind, unordered) || (kind & USE_WRITES && sim_any_use(&t->read, first, end, kind, unordered));
}

// True if dependencies of the previous kernel are recorded, and the use is by a thread that has not waited for it.
static bool may_be_early(const Uses *u, UseKind kind)
{
    return kind & USE_EARLY && u->late.written.lines;
}

// The number of bytes, starting here, with the same last uses: the rest of the word, or 1 if single bytes are recorded.
static size_t same_uses_from(const Uses *u, uint64_t at)
{
    const bool has_bytes = u->all.read.bytes || u->all.written.bytes || u->late.read.bytes || u->late.written.bytes;
    return has_bytes ? 1 : SIM_USE_WORD - at % SIM_USE_WORD;
}

bool sim_use_conflicts(const Allocation *a, uint64_t address, size_t bytes, UseKind kind)
{
    const Uses *u = uses_of(a);
    const uint64_t first = address - u->address, end = first + bytes;
    return u->freed_by || is_unordered(u->allocated_by, USE_READS) || conflicts_with_any(&u->all, first, end, kind, is_unordered) ||
           (may_be_early(u, kind) && conflicts_with_any(&u->late, first, end, kind, is_unordered_early));
}

static void add_conflict(Conflict new)
{
    sim_lock(&conflict_lock);
    int k = 0;
    while (k < conflict_count &&
           (conflicts[k].earlier != new.earlier || conflicts[k].before != new.before ||
            conflicts[k].writes != new.writes || conflicts[k].is_early != new.is_early))
        k++;
    if (k == conflict_count && k < MAX_CONFLICTS)
        conflicts[conflict_count++] = new;
    else if (k < conflict_count && new.address < conflicts[k].address) // independent of the number of host threads
        conflicts[k] = new;
    sim_unlock(&conflict_lock);
}

void sim_note_conflict(const Allocation *a, uint64_t address, size_t bytes, UseKind kind, const FindingLocation *access)
{
    const Uses *u = uses_of(a);
    const uint64_t first = address - u->address;
    uint32_t last = 0; // the earlier operation in the previous byte's conflict, which is not added again
    bool last_wrote = false;
    for (uint64_t at = first; at < first + bytes; at += same_uses_from(u, at)) {
        bool wrote;
        uint32_t earlier = use_before(&u->all, at, kind, is_unordered, &wrote);
        const bool early = !earlier && may_be_early(u, kind);
        if (early)
            earlier = use_before(&u->late, at, kind, is_unordered_early, &wrote);
        if (!earlier || (earlier == last && wrote == last_wrote))
            continue;
        Conflict new = {.earlier = earlier, .before = wrote ? DID_WRITE : DID_READ, .writes = kind & USE_WRITES, .address = u->address + at,
                        .is_early = early, .has_access = access != NULL};
        if (access)
            new.access = *access;
        add_conflict(new);
        last = earlier;
        last_wrote = wrote;
    }
    if (!last && is_unordered(u->allocated_by, USE_READS))
        add_conflict((Conflict){.earlier = u->allocated_by, .before = DID_ALLOCATE, .address = address});
    if (u->freed_by)
        add_conflict((Conflict){.earlier = u->freed_by, .before = DID_FREE, .address = address});
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
    sim_set_uses(kind & USE_WRITES ? &u->all.written : &u->all.read, u->bytes, first, end, entry);
    if (u->required_protection)
        sim_protect_after_op(u, first, end, kind & USE_WRITES);
    sim_set_number(kind & USE_WRITES ? &u->writer : &u->reader, 0, op);
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

static const char *early_hint(void)
{
    return sim_has_waited()
               ? "call cudaGridDependencySynchronize() (griddepcontrol.wait) before this access, in its thread or before a barrier of its block\n"
                 "note: the attribute cudaLaunchAttributeProgrammaticStreamSerialization lets the kernel begin before the earlier one has ended"
               : "call cudaGridDependencySynchronize() (griddepcontrol.wait) before this access; no thread of the kernel calls it\n"
                 "note: the attribute cudaLaunchAttributeProgrammaticStreamSerialization lets the kernel begin before the earlier one has ended";
}

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
        const FindingLocation locations[] = {sim_op_location(c->earlier), c->is_early && c->has_access ? c->access : sim_op_location(sim_current_op())};
        const bool is_staged = sim_is_staged_copy(c->earlier);
        snprintf(hint, sizeof hint, "%s",
                 is_staged ? STAGED_HINT
                 : c->is_early ? early_hint()
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
    // Whether uses of allocations made before the first stream are recorded, too, and late uses of those made before the first early launch.
    static bool all_recorded, all_late_recorded;
    op_running = true;
    const bool record_all = !all_recorded && sim_ops_may_overlap(), record_late = !all_late_recorded && sim_expects_early_launches();
    for (Allocation *a = record_all || record_late ? sim_allocation_above(0) : NULL; a; a = sim_allocation_above(a->address)) {
        sim_begin_uses(a);
        if (record_late && uses_of(a))
            sim_allocate_tables(&uses_of(a)->late, a->bytes);
    }
    all_recorded |= record_all;
    all_late_recorded |= record_late;
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

// An EntryPredicate: another operation has made the use or, if `kind` is plain, the current one by an atomic access.
static bool is_other_use(uint32_t entry, UseKind kind)
{
    return (kind & USE_ATOMIC ? entry & NUMBER_MASK : entry) != sim_current_op();
}

// True if the current operation was the last to use each of these bytes in this way.
static bool is_recorded(const Uses *u, uint64_t address, size_t bytes, UseKind kind)
{
    const uint64_t first = address - u->address;
    return !sim_any_use(kind & USE_WRITES ? &u->all.written : &u->all.read, first, first + bytes, kind, is_other_use);
}

void sim_prepare_use_fast_path(const Launch *launch, const Allocation *a, bool writes, FastPath *fast_path)
{
    fast_path->users = !uses_of(a) || !launch->records_host_shared_accesses ? NULL : writes ? uses_of(a)->all.written.lines : uses_of(a)->all.read.lines;
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
static void sync_with_writer(Warp *w, const Instr *i, uint64_t address)
{
    const Uses *u = uses_of(w->last_allocation);
    const uint32_t entry = sim_last_use(&u->all.written, address - u->address);
    const uint32_t op = entry & NUMBER_MASK;
    const bool ordered = sim_op_ordered(op, sim_current_op()),
               early = sim_is_early_launch() && !sim_op_ordered_early(op) && sim_both_have_device_fences(op);
    if (!(entry & ATOMIC_BIT) || (ordered && !early) || !is_used(w, i))
        return;
    sim_wait_for_earlier_blocks(w->block);
    if (early)
        sim_acquire_from_previous(w);
    if (!ordered)
        sim_order_after(op);
}

static void note_thread_conflict(Warp *w, const Instr *i, const Access *access, int lane, size_t bytes, UseKind kind)
{
    char text[60];
    snprintf(text, sizeof text, "%zu-byte %s", access->bytes, access->kind == ACCESS_ATOMIC ? "atomic update" : kind & USE_WRITES ? "write" : "read");
    sim_wait_for_earlier_blocks(w->block); // not from a speculative run
    const FindingLocation location = sim_lane_location(w, lane, i, text, kind & USE_WRITES ? OTHER_ROLE : READS);
    sim_note_conflict(w->last_allocation, access->address[lane], bytes, kind, &location);
}

void sim_note_shared_use(Warp *w, const Instr *i, const Access *access, uint32_t mask)
{
    const bool writes = writes_memory(access->kind);
    const bool atomically = access->kind == ACCESS_ATOMIC || i->semantics != WEAK;
    if (i->semantics >= RELEASE && i->scope >= DEVICE_SCOPE)
        sim_release_writes(w->block);
    while (mask) {
        const int lane = __builtin_ctz(mask);
        const uint64_t address = access->address[lane];
        const size_t bytes = pop_consecutive(access, &mask);
        if (atomically && (!writes || access->kind == ACCESS_ATOMIC))
            sync_with_writer(w, i, address);
        const UseKind kind = (writes ? USE_WRITES : USE_READS) | (atomically ? USE_ATOMIC : 0) | sim_dependency_bits(w);
        if (!(kind & (USE_EARLY | USE_LATE)) && is_recorded(uses_of(w->last_allocation), address, bytes, kind))
            continue;
        if (sim_use_conflicts(w->last_allocation, address, bytes, kind))
            note_thread_conflict(w, i, access, lane, bytes, kind);
        sim_note_use(w->last_allocation, address, bytes, kind);
        if (kind & USE_LATE)
            sim_note_late_use(w->last_allocation, address, bytes, kind);
        else if (writes && sim_expects_early_launches())
            sim_note_unreleased(w, w->last_allocation, address, bytes, kind & (USE_WRITES | USE_ATOMIC));
    }
}
