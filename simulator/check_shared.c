// check_shared.c: whether the host reads or writes memory that it shares with the device, managed or pinned, while an
// operation of a stream that it has not waited for may still use it.
//
// Of each word of such memory the last operations are known that read and wrote it: kernels, copies, fills. Allocations
// that operations have used for which the host has not waited are closed: to all accesses if something was written, to
// writes if it was only read. Who touches such a page is stopped (ranges.c has the handler). If an operation that may
// not be over has used the very word, that is a race; else the page is open until the next operation, and the program
// goes on. So a second access of a page may be missed, and no race is invented.
//
// Kernels with stores, atomic operations or fences at the scope of the system, or volatile ones, may tell the host
// themselves how far they are: what they use is not noted. Nor are parts of words.
#define _GNU_SOURCE // memmem
#include "check_shared.h"
#include "calls.h"
#include "check_host.h"

#include <sys/mman.h>
#include <unistd.h>

enum { WORD = 4, ALL = PROT_READ | PROT_WRITE };

typedef struct Pending { // the last operation of a timeline that used an allocation, if the host has not waited for it
    uint32_t op;
    bool writes;
    struct Pending *next;
} Pending;

typedef struct Uses { // of an allocation
    uint64_t address;
    size_t bytes;
    uint32_t *read, *written;       // by which operation each word was last; 0: by none
    atomic_uint reader, writer;     // of all words
    Pending *pending;
    int allowed;                    // to the host: of ALL
    struct Uses *next;
} Uses;

static Uses *all_uses;
static bool opened; // an operation runs

// ---- Allocations

static uint32_t *new_table(size_t bytes)
{
    void *table = mmap(NULL, bytes / WORD * sizeof(uint32_t) + 1, ALL, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        abort();
    return table;
}

void sim_begin_uses(Allocation *a)
{
    Uses *u = calloc(1, sizeof *u);
    if (!u)
        abort();
    *u = (Uses){.address = a->address, .bytes = a->bytes, .allowed = ALL, .next = all_uses};
    u->read = new_table(a->bytes);
    u->written = new_table(a->bytes);
    all_uses = a->uses = u;
}

// Lets the host do so much with all of it, or what is closed again if some pages were opened before.
static void allow(Uses *u, int allowed)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (u->allowed != allowed)
        mprotect((void *)(uintptr_t)u->address, (u->bytes + page - 1) / page * page, allowed);
    u->allowed = allowed;
}

static void drop(Uses *u, bool all) // or what the host has waited for
{
    for (Pending **link = &u->pending; *link;) {
        Pending *p = *link;
        if (all || sim_host_has_awaited(p->op)) {
            *link = p->next;
            free(p);
        } else {
            link = &p->next;
        }
    }
}

void sim_end_uses(Allocation *a)
{
    Uses *u = a->uses;
    for (Uses **link = &all_uses; *link; link = &(*link)->next)
        if (*link == u) {
            *link = u->next;
            break;
        }
    allow(u, ALL);
    drop(u, true);
    munmap(u->read, u->bytes / WORD * sizeof(uint32_t) + 1);
    munmap(u->written, u->bytes / WORD * sizeof(uint32_t) + 1);
    free(u);
    a->uses = NULL;
}

// ---- Operations

void sim_note_use(const Allocation *a, uint64_t address, size_t bytes, bool writes)
{
    Uses *u = a->uses;
    const uint32_t op = sim_current_op();
    const uint64_t begin = address - u->address;
    uint32_t *table = writes ? u->written : u->read;
    for (uint64_t k = (begin + WORD - 1) / WORD; k < (begin + bytes) / WORD; k++)
        table[k] = op;
    atomic_uint *last = writes ? &u->writer : &u->reader;
    if (atomic_load_explicit(last, memory_order_relaxed) != op)
        atomic_store_explicit(last, op, memory_order_relaxed);
}

static bool tells_the_host(const Instr *i)
{
    const Slice opcode = i->statement ? i->statement->opcode : (Slice){"", 0};
    return i->scope == SYSTEM_SCOPE || memmem(opcode.text, opcode.length, ".sys", 4) || i->control == CALL;
}

bool sim_tells_the_host(const Program *program)
{
    for (uint32_t k = 0; k < program->count; k++)
        if (tells_the_host(&program->code[k]))
            return true;
    return false;
}

void sim_open_shared(void)
{
    opened = true;
    for (Uses *u = all_uses; u; u = u->next)
        allow(u, ALL);
}

static void add_pending(Uses *u, uint32_t op, bool writes)
{
    for (Pending *p = u->pending; p; p = p->next)
        if (p->writes == writes && sim_timeline_of(p->op) == sim_timeline_of(op)) {
            p->op = op;
            return;
        }
    Pending *p = malloc(sizeof *p);
    if (!p)
        abort();
    *p = (Pending){op, writes, u->pending};
    u->pending = p;
}

void sim_review_shared(void)
{
    for (Uses *u = all_uses; u && !opened; u = u->next) {
        int allowed = ALL;
        drop(u, false);
        for (const Pending *p = u->pending; p; p = p->next)
            allowed &= p->writes ? PROT_NONE : PROT_READ;
        allow(u, allowed);
    }
}

void sim_close_shared(void)
{
    const uint32_t op = sim_current_op();
    opened = false;
    for (Uses *u = all_uses; u; u = u->next) {
        if (u->reader == op)
            add_pending(u, op, false);
        if (u->writer == op)
            add_pending(u, op, true);
    }
    sim_review_shared();
}

// ---- The host's accesses

static void find_race(uint64_t address, uint32_t op, bool host_writes, bool op_writes)
{
    char title[800], what[300], operation[300];
    Place host = {.line = 0};
    sim_describe_address(address, what, sizeof what);
    sim_describe_op(op, operation, sizeof operation);
    snprintf(title, sizeof title, "the host %s %s, which %s may %s", host_writes ? "writes" : "reads", what, operation,
             !op_writes ? "still read" : host_writes ? "still write" : "not have written yet");
    snprintf(host.access, sizeof host.access, "%s it", host_writes ? "writes" : "reads");
    sim_add_finding(RACE_HOST, title, &host, 1,
                    "nothing orders them: a cudaDeviceSynchronize() or cudaStreamSynchronize() is missing between them");
    sim_say_findings();
}

bool sim_explain_shared(uint64_t address, bool writes)
{
    HOLD_MEMORY();
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    Uses *u = all_uses;
    while (u && address - u->address >= (u->bytes + page - 1) / page * page)
        u = u->next;
    if (!u)
        return false;
    const uint64_t word = (address - u->address) / WORD;
    const bool inside = word < u->bytes / WORD;
    const uint32_t writer = inside ? u->written[word] : 0, reader = inside ? u->read[word] : 0;
    const bool after_write = !sim_host_has_awaited(writer), after_read = writes && !sim_host_has_awaited(reader);
    if (after_write || after_read) {
        find_race(address, after_write ? writer : reader, writes, after_write);
        drop(u, true); // once is enough
        allow(u, ALL);
    } else {
        mprotect((void *)(uintptr_t)(address / page * page), page, ALL);
        u->allowed = -1; // to be set anew
    }
    return true;
}
