// memoized_uses.c: the checker's part of launches that are skipped because they would repeat an earlier launch.
#include "checker/memoized_uses.h"
#include "checker/kernel_checks.h"
#include "checker/order.h"
#include "checker/shadow.h"
#include "checker/uses.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANGES = 4096 };

typedef struct UsedRange { // consecutive bytes used in the same way
    uint64_t address;
    size_t bytes;
    UseKind kind;
} UsedRange;

struct UsesOfOp {
    size_t count;
    UsedRange ranges[MAX_RANGES + 1];
};

void sim_digest_tracking(Digest *digest, const Allocation *a)
{
    const uint64_t tracked = uses_of(a) != NULL;
    sim_digest(digest, &tracked, sizeof tracked);
}

// ---- Written bytes

static size_t lines_of(size_t bytes)
{
    return (bytes + LINE_BYTES - 1) / LINE_BYTES;
}

void sim_digest_written(Digest *digest, const Allocation *a, size_t first, size_t bytes)
{
    const ShadowLine *lines = lines_if_any(a);
    const bool tracked = sim_checker_enabled() && sim_starts_uninitialised(a); // even without lines, if nothing has been written
    for (size_t k = first / LINE_BYTES; tracked && k < (first + bytes + LINE_BYTES - 1) / LINE_BYTES; k++)
        for (size_t half = 0; half < 2; half++) {
            const uint64_t written = !lines ? 0 : a->check->fully_written[k] ? ~0ull : lines[k].written[half];
            uint64_t *lane = &digest->lanes[(2 * k + half) % DIGEST_LANES];
            *lane = sim_mix_word(*lane, written);
        }
}

size_t sim_written_size(const Allocation *a, size_t bytes)
{
    const ShadowLine *lines = lines_if_any(a);
    return lines ? lines_of(bytes) * sizeof lines->written : 0;
}

void sim_get_written(const Allocation *a, size_t first, size_t bytes, uint64_t (*written)[2])
{
    const ShadowLine *lines = lines_if_any(a);
    for (size_t k = 0; lines && k < lines_of(bytes); k++)
        memcpy(written[k], lines[first / LINE_BYTES + k].written, sizeof written[k]);
}

void sim_set_written(Allocation *a, size_t first, size_t bytes, const uint64_t (*written)[2])
{
    ShadowLine *lines = written ? sim_lines_of(a) : NULL;
    for (size_t k = 0; lines && k < lines_of(bytes); k++) {
        memcpy(lines[first / LINE_BYTES + k].written, written[k], sizeof written[k]);
        sim_update_fully_written(a, first / LINE_BYTES + k);
    }
}

// ---- Uses of an operation

static UseKind kind_of(uint32_t entry, UseKind kind)
{
    return entry & ~SIM_USE_NUMBER ? kind | USE_ATOMIC : kind;
}

static void add(UsesOfOp *uses, uint64_t address, size_t bytes, UseKind kind)
{
    UsedRange *last = uses->count ? &uses->ranges[uses->count - 1] : NULL;
    if (last && last->kind == kind && last->address + last->bytes == address)
        last->bytes += bytes;
    else if (uses->count <= MAX_RANGES)
        uses->ranges[uses->count++] = (UsedRange){address, bytes, kind};
}

// Adds the current operation's entries of a table for bytes [first, end) of an allocation. `unit`: bytes of an entry.
static void add_entries(UsesOfOp *uses, const Uses *u, const atomic_uint *entries, size_t unit, uint64_t first, uint64_t end,
                        UseKind kind)
{
    const uint32_t op = sim_current_op();
    for (uint64_t at = first; entries && at < end; at += unit) {
        const uint32_t entry = entries[at / unit];
        if ((entry & SIM_USE_NUMBER) == op)
            add(uses, u->address + at, unit < u->bytes - at ? unit : u->bytes - at, kind_of(entry, kind));
    }
}

static void add_table(UsesOfOp *uses, const Uses *u, const UseTable *t, UseKind kind)
{
    const uint32_t op = sim_current_op();
    add_entries(uses, u, t->lines, SIM_USE_LINE, 0, u->bytes, kind);
    for (uint64_t at = 0; at < u->bytes; at += SIM_USE_LINE) {
        const uint64_t end = at + SIM_USE_LINE < u->bytes ? at + SIM_USE_LINE : u->bytes;
        if ((t->parts[at / SIM_USE_LINE] & SIM_USE_NUMBER) != op)
            continue;
        add_entries(uses, u, t->words, SIM_USE_WORD, at, end, kind);
        add_entries(uses, u, t->bytes, 1, at, end, kind);
    }
}

UsesOfOp *sim_uses_of_op(void)
{
    UsesOfOp *uses = malloc(sizeof *uses);
    if (!uses)
        return NULL;
    uses->count = 0;
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        if (uses_of(a) && uses_of(a)->reader == sim_current_op())
            add_table(uses, uses_of(a), &uses_of(a)->all.read, USE_READS);
        if (uses_of(a) && uses_of(a)->writer == sim_current_op())
            add_table(uses, uses_of(a), &uses_of(a)->all.written, USE_WRITES);
    }
    if (uses->count > MAX_RANGES)
        return free(uses), NULL;
    UsesOfOp *fitting = realloc(uses, offsetof(UsesOfOp, ranges) + uses->count * sizeof *uses->ranges);
    return fitting ? fitting : uses;
}

bool sim_repeat_uses(const UsesOfOp *uses)
{
    const UsedRange *const end = uses->ranges + uses->count;
    for (const UsedRange *r = uses->ranges; r < end; r++)
        if (sim_use_conflicts(sim_allocation_at(r->address), r->address, r->bytes, r->kind))
            return false;
    for (const UsedRange *r = uses->ranges; r < end; r++)
        sim_note_use(sim_allocation_at(r->address), r->address, r->bytes, r->kind);
    return true;
}
