// repeats.c: a launch that would do again what the last one did, and that changed nothing, need not run again.
//
// Programs that measure launch a kernel hundreds of times with the same arguments. The first of these launches writes its
// results, the second one the same results over them: it changes nothing. So a third one does what the second did, if all that
// it may find is as the second found it.
//
// What a launch may find: its kernel, its shape and arguments, and the memory that kernels may touch: where it lies, what
// it holds, and for the checker which bytes of it somebody wrote. Of these there are digests, before and after the second
// launch, and before the third. So it does not matter who changed what in between, nor how: what is not the same runs.
// Textures and surfaces stay what they are until one is destroyed. Kernels that depend on more (a clock, the launch's number), or do more than write memory (print,
// allocate, launch, tell the host), always run; and so does a launch in which something was found.
//
// What a launch leaves that does not run: a row among the counters, a launch more for all who count them, and, for the
// checker, that its operation used the same bytes.
#include "checker/findings.h"
#include "checker/uses_again.h"
#include "runtime/work/repeats.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    FORMER = 1024,               // launches that are known: a power of two
    LEAST_INSTRUCTIONS = 10000,  // of warps: what takes no time may run
    BYTES_A_INSTRUCTION = 40,    // of memory, at most: a digest takes far less time than the launch
    BYTES_AN_ALLOCATION = 4096,  // more: to come to it takes time, too
    MOST_PATIENCE = 64
};

// Of each key the last launch. Under the lock of lock.c.
typedef struct Former {
    Digest key, found; // the launch; what it found
    bool idle;         // it changed nothing, and did nothing else
    UsesOfOp *uses;    // of an idle one
    Ran ran;
    unsigned patience, waits; // launches that run without being looked at: each time twice as many, if that is in vain
} Former;

static Former *formers;

static Digest key_of(const KernelLaunch *l, size_t stack)
{
    Digest key = {{0}};
    const uint64_t shape[] = {(uint64_t)(uintptr_t)l->function, l->grid.x, l->grid.y, l->grid.z,
                              l->block.x, l->block.y, l->block.z, l->cluster.x, l->cluster.y, l->cluster.z,
                              l->cooperative, l->dynamic_bytes, stack, (uint64_t)sim_current_device};
    sim_digest(&key, shape, sizeof shape);
    int index = 0;
    for (const Variable *v = l->function->params; v; v = v->next, index++)
        sim_digest(&key, l->arguments[index], v->bytes);
    return key;
}

// Whether memory is all that the kernel may find, and change.
static bool depends_on_memory_only(const KernelLaunch *l)
{
    const Program *p = l->function->program;
    return !p->does.varies && !p->does.tells_host && !p->does.launches && p->order != ONE_BY_ONE &&
           !sim_module_of(l->kernel->binary)->launches_kernels;
}

// Whether it is so little that looking at it costs less than the launch did. To find that out must not cost more, either.
static bool is_worth_it(const Former *f)
{
    const uint64_t instructions = f->ran.counters.warp_instructions, most = instructions * BYTES_A_INSTRUCTION;
    uint64_t bytes = 0;
    if (instructions < LEAST_INSTRUCTIONS)
        return false;
    for (const Allocation *a = sim_allocation_above(0); a && bytes <= most; a = sim_allocation_above(a->address)) {
        bytes += a->bytes + BYTES_AN_ALLOCATION;
        if (a->kind == RESERVED_MEMORY) // shows what lies elsewhere
            return false;
    }
    return bytes <= most;
}

// All that kernels may touch.
static Digest found_now(void)
{
    Digest found = {{0}};
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        const uint64_t about[] = {a->address, a->bytes, a->kind, (uint64_t)a->number, (uint64_t)a->device, a->open_to};
        sim_digest(&found, about, sizeof about);
        sim_digest(&found, a->memory, a->bytes);
        sim_digest_known(&found, a);
    }
    return found;
}

static Former *former_of(const Digest *key)
{
    if (!formers)
        formers = calloc(FORMER, sizeof *formers);
    return formers ? &formers[key->lanes[0] % FORMER] : NULL;
}

static void forget(Former *f)
{
    free(f->uses);
    *f = (Former){.patience = 1};
}

void sim_forget_launches(void)
{
    for (Former *f = formers; f && f < formers + FORMER; f++)
        forget(f);
}

static void say(const KernelLaunch *l, uint64_t number, uint64_t former)
{
    static bool said;
    char name[200];
    if (said)
        return;
    said = true;
    sim_readable_name(l->function->name, name, sizeof name);
    fprintf(stderr,
            "simulator: launch %" PRIu64 " of the program, of kernel %s, would do what launch %" PRIu64
            " did, which changed nothing: it is counted, and does not run, nor do others like it; SIM_REPEAT=1 runs them\n",
            number, name, former);
}

// What the launch would leave.
static void leave_out(const KernelLaunch *l, Former *f)
{
    const Module *module = sim_module_of(l->kernel->binary);
    f->patience = 1;
    say(l, sim_count_again(module, l->function, l->grid, l->block, &f->ran.counters), f->ran.number);
}

Look sim_look_before(const KernelLaunch *l, size_t stack)
{
    Look look = {.former = NULL};
    const Settings *s = sim_settings();
    if (s->repeats || s->trace || s->record || !depends_on_memory_only(l))
        return look;
    const Digest key = key_of(l, stack);
    Former *f = look.former = former_of(&key);
    if (!f)
        return look;
    if (!sim_same_digest(&f->key, &key)) {
        forget(f);
        f->key = key;
    } else if (f->waits > 0) {
        f->waits--;
    } else if (is_worth_it(f)) {
        look.looked = true;
        look.found = found_now();
        look.times_found = sim_times_found();
        look.again = f->idle && sim_same_digest(&look.found, &f->found) && sim_use_again(f->uses);
    }
    if (look.again)
        leave_out(l, f);
    return look;
}

void sim_look_behind(const Look *look, cudaError_t error)
{
    Former *f = look->former;
    if (!f)
        return;
    free(f->uses);
    f->uses = NULL;
    f->idle = false;
    if (error != cudaSuccess) {
        f->key = (Digest){{0}};
        return;
    }
    f->ran = sim_last_ran();
    if (!look->looked)
        return;
    const Digest left = found_now();
    const bool idle = sim_same_digest(&left, &look->found) && sim_times_found() == look->times_found;
    f->uses = idle ? sim_uses_of_op() : NULL;
    f->idle = f->uses != NULL;
    f->found = left;
    f->waits = f->idle ? 0 : f->patience;
    f->patience = f->patience < MOST_PATIENCE ? 2 * f->patience : MOST_PATIENCE;
}
