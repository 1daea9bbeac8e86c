// barriers.c: do the threads of a block come to a barrier as CUDA asks for? Since compute capability 7.0 it waits
// for the threads that have not ended, so that one may return before it. A mistake is one that goes past it, alive, to
// what those behind the barrier run, too, and one that comes to another barrier.
#define _GNU_SOURCE // getline
#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

static const Instr *instruction_before(const WarpSplit *p)
{
    return p->pc ? &p->frame->function->program->code[p->pc - 1] : p->frame->function->program->code;
}

// ---- Who goes past a barrier

// Whether threads that have run the instruction `from` may come to `to`; with NOWHERE, to the end without coming to
// `avoided`.
static bool leads_to(const Program *p, uint32_t from, uint32_t to, uint32_t avoided)
{
    bool *seen = calloc((size_t)p->count + 1, sizeof *seen), found = false;
    uint32_t *list = malloc(((size_t)p->count + 1) * sizeof *list), count = 0;
    if (!seen || !list)
        sim_die("out of memory for a search through a program");
    list[count++] = from;
    for (uint32_t k = 0; k < count && !found; k++) {
        const uint32_t at = list[k];
        const Instr *i = &p->code[at];
        const bool ends = i->control == RETURN || i->control == EXIT || i->control == UNKNOWN;
        const bool jumps = i->control == BRANCH || i->control == BRANCH_INDEXED;
        const uint32_t targets = i->control == BRANCH ? 1 : i->control == BRANCH_INDEXED ? (uint32_t)i->target_count : 0;
        found = ends && to == NOWHERE;
        for (uint32_t n = 0; n <= targets; n++) {
            const bool on = n == targets; // to the next one
            if (on && (ends || jumps) && i->guard == NOWHERE)
                continue;
            const uint32_t next = on ? at + 1 : i->control == BRANCH ? i->target : i->targets[n];
            if (next >= p->count) {
                found |= to == NOWHERE;
            } else if (next == to) {
                found = true;
            } else if (next != avoided && !seen[next]) {
                seen[next] = true;
                list[count++] = next;
            }
        }
    }
    free(seen);
    free(list);
    return found;
}

// Whether the source has a `return` between two instructions. Compilers make one of the same store before a return and
// at the kernel's end, and then threads that return run what stands behind the barriers.
static bool returns_between(const Block *b, uint32_t from, uint32_t to)
{
    const Instr *code = b->launch->kernel->program->code;
    const Place first = sim_place_of(b->launch, 0, 0, &code[from], ""), last = sim_place_of(b->launch, 0, 0, &code[to], "");
    FILE *file = first.line > 0 && last.line > 0 && strcmp(first.file, last.file) == 0 ? sim_open_source(first.file) : NULL;
    if (!file)
        return true; // nobody knows
    char *text = NULL;
    size_t room = 0;
    bool returns = false;
    for (int line = 1; line < last.line && getline(&text, &room, file) >= 0; line++)
        returns |= line >= first.line && strstr(text, "return");
    free(text);
    fclose(file);
    return returns;
}

// Whether a thread that ended behind the instruction `last`, and jumped from `jumped` before, has gone past the barrier:
// from there nobody comes to it any more, while all that it lets go on come there, too.
static bool goes_past(Block *b, uint32_t barrier, uint32_t last, uint32_t jumped)
{
    const Program *p = b->launch->kernel->program;
    for (size_t k = 0; k < sizeof b->passers / sizeof *b->passers; k++)
        if (b->passers[k].known && b->passers[k].barrier == barrier && b->passers[k].last == last &&
            b->passers[k].jumped == jumped)
            return b->passers[k].goes_past;
    const bool past = last < p->count && !leads_to(p, last, barrier, NOWHERE) && leads_to(p, barrier, last, NOWHERE) &&
                      !leads_to(p, barrier, NOWHERE, last) && !returns_between(b, jumped, barrier);
    b->passers[b->passer++ % (sizeof b->passers / sizeof *b->passers)] = (Passer){barrier, last, jumped, true, past};
    return past;
}

// Where in the kernel itself lanes are that are at an instruction of a call: at it, or at the call that led there.
static uint32_t place_in_kernel(const Frame *f, uint32_t at)
{
    for (; f->caller; f = f->caller)
        at = (uint32_t)(f->call - f->caller->function->program->code);
    return at;
}

void sim_note_end(Warp *w, const WarpSplit *p, uint32_t mask)
{
    const uint32_t end = p->pc - 1, before = p->jumped != NOWHERE && p->landed == end ? p->jumped : end ? end - 1 : 0;
    const uint32_t last = place_in_kernel(p->frame, before), jumped = p->jumped == NOWHERE ? last : p->jumped;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        w->last[__builtin_ctz(rest)] = last;
        w->jumped[__builtin_ctz(rest)] = p->frame->caller ? last : jumped;
    }
    sim_check_cluster_exit(w, &p->frame->function->program->code[end], mask);
}

// How many threads have ended that went past the barrier at which the path has waited.
static uint32_t count_passers(Block *b, const WarpSplit *waited)
{
    const uint32_t barrier = place_in_kernel(waited->frame, waited->pc ? waited->pc - 1 : 0);
    uint32_t count = 0;
    for (uint32_t t = 0; t < b->threads; t++) {
        const Warp *w = &b->warps[t / LANES];
        count += !(w->live >> t % LANES & 1) && goes_past(b, barrier, w->last[t % LANES], w->jumped[t % LANES]);
    }
    return count;
}

// ---- Barriers

void sim_check_arrivals(Block *b, const Barrier *barrier)
{
    const WarpSplit *first = NULL, *other = NULL;
    const Warp *of_first = NULL, *of_other = NULL;
    for (int n = 0; n < b->warp_count; n++)
        for (const WarpSplit *p = b->warps[n].splits; p; p = p->next) {
            if (!(barrier->arrived[n] & p->mask) || p->waiting != RUNS)
                continue;
            const Instr *at = instruction_before(p), *there = first ? instruction_before(first) : at;
            if (at->control == BLOCK_BARRIER && at != there &&
                at->statement->source_line != there->statement->source_line && !other) {
                other = p;
                of_other = &b->warps[n];
            }
            of_first = first ? of_first : &b->warps[n];
            first = first ? first : p;
        }
    const uint32_t passers = first && !other && barrier->count < b->threads ? count_passers(b, first) : 0;
    if (!other && passers == 0)
        return;
    const Warp *warps[] = {of_first, of_other};
    const WarpSplit *splits[] = {first, other};
    Place places[2];
    const int count = other ? 2 : 1;
    for (int k = 0; k < count; k++)
        places[k] =
            sim_place_of(b->launch, b->number, (uint32_t)(warps[k]->number * LANES + __builtin_ctz(splits[k]->mask)),
                         instruction_before(splits[k]), "waits at the barrier");
    char title[160];
    if (other)
        snprintf(title, sizeof title, "threads of a block wait at different barriers, one for the other");
    else
        snprintf(title, sizeof title, "%u of the block's %u threads never come to this barrier: they go past it, and end",
                 passers, b->threads);
    sim_await_turn(b);
    sim_add_finding(BARRIER_MISUSE, title, places, count,
                    "__syncthreads() must be reached by all threads of the block, at the same place");
}
