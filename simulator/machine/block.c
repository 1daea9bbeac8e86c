// block.c: a launch: its blocks, spread over the host's threads.
//
// Blocks begin in the order of their numbers, or in one that $SIM_BLOCK_ORDER shuffles, as it does their warps' turns; a
// block's place is the one it has in that order. Each runs on the next host thread that is free. In a kernel
// whose blocks may tell each other something (by atomic operations on device memory, fences) a block
// runs ahead until it first writes to device memory or asks for what others wrote; then it waits for
// its turn, until all blocks before it have ended. If these wrote where it had read, it starts again.
// Kernels that print or allocate run their blocks one by one. Blocks that wait for others on purpose run
// together: as many as the device holds take turns in one thread. So results never depend on the host.
#include "machine/observer.h"
#include "base/platform.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_WORKERS = 64, RESERVED_BYTES = 1024, WORKSPACE_BYTES = 16 };
enum { CANNOT_RUN = 77 }; // the program's exit status, where it waits for what cannot come here
enum { FUTILE = 16 }; // so many restarts in a launch, and no block runs ahead any more
typedef enum Departure { NONE, FAULT, RESTART, ABANDONED, WAITS_FOR_LATER } Departure; // how a block's run was left

// ---- What goes wrong

// "file:line", the end of a long name; whether these are known.
static bool line_of_source(const Module *m, int file, int line, char *text, size_t space)
{
    if (line <= 0 || file < 0 || file >= m->file_count || !m->files[file].text)
        return false;
    const Slice name = m->files[file];
    const int length = (int)(name.length < 200 ? name.length : 200);
    snprintf(text, space, "%.*s:%d", length, name.text + name.length - length, line);
    return true;
}

static void say_where(Block *b, char *text, size_t space, const Instr *i, const Warp *w, int lane)
{
    const Launch *launch = b->launch;
    char name[200];
    sim_readable_name(launch->kernel->name, name, sizeof name);
    int used =
        snprintf(text, space, "simulator: kernel %s, block (%u,%u,%u)", name, b->index.x, b->index.y, b->index.z);
    if (lane >= 0) {
        const unsigned thread = (unsigned)(w->number * LANES + lane);
        used += snprintf(text + used, space - (size_t)used, ", thread (%u,%u,%u)", thread % launch->block.x,
                         thread / launch->block.x % launch->block.y, thread / launch->block.x / launch->block.y);
    }
    const Statement *s = i ? i->statement : NULL;
    if (s) {
        const int opcode = (int)(s->opcode.length < 60 ? s->opcode.length : 60);
        used += snprintf(text + used, space - (size_t)used, ", %.*s, PTX line %d", opcode, s->opcode.text, s->line);
        char line[256], own[256];
        const bool known = line_of_source(launch->module, s->source_file, s->source_line, line, sizeof line);
        const bool inlined = s->own_file != s->source_file &&
                             line_of_source(launch->module, s->own_file, s->own_line, own, sizeof own);
        if (known)
            used += snprintf(text + used, space - (size_t)used, " (%s%s%s)", line, inlined ? ", inlined into " : "",
                             inlined ? own : "");
    }
    snprintf(text + used, space - (size_t)used, ": ");
}

static void note_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, va_list arguments)
{
    Block *b = w->block;
    sim_await_turn(b); // is it a fault of the block, or of its running ahead?
    if (b->error != cudaSuccess)
        return;
    b->error = error;
    say_where(b, b->message, sizeof b->message, i, w, lane);
    const size_t used = strlen(b->message);
    b->fault = (Fault){b->fault.kind, i, lane < 0 ? -1 : w->number * LANES + lane, b->number, used, false};
    vsnprintf(b->message + used, sizeof b->message - used, format, arguments);
}

void sim_note_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_fault(w, i, lane, error, format, arguments);
    va_end(arguments);
}

_Noreturn void sim_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    note_fault(w, i, lane, error, format, arguments);
    va_end(arguments);
    longjmp(w->block->on_fault, FAULT);
}

static _Noreturn void report_deadlock(Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        for (Path *p = b->warps[n].paths; p; p = p->next) {
            if (p->waiting != WAITS_AT_BARRIER && p->waiting != WAITS_AT_CLUSTER && p->waiting != WAITS_FOR_LANES)
                continue;
            const Instr *code = p->frame->function->program->code;
            if (p->waiting == WAITS_AT_CLUSTER)
                sim_fault(&b->warps[n], &code[p->pc - 1], __builtin_ctz(p->mask), cudaErrorLaunchTimeout,
                          "%d threads of a warp wait at the cluster's barrier, which others of the cluster never reach",
                          __builtin_popcount(p->mask));
            const bool barrier = p->waiting == WAITS_AT_BARRIER;
            sim_fault(&b->warps[n], &code[p->pc - (barrier ? 1 : 0)], __builtin_ctz(p->mask), cudaErrorLaunchTimeout,
                      barrier
                          ? "%u threads wait at barrier %d, which others of the %u threads still alive never reach"
                          : "%u lanes wait for others of their warp, which never come (lanes 0x%x; %u threads alive)",
                      barrier ? b->barriers[p->barrier].count : (unsigned)__builtin_popcount(p->mask),
                      barrier ? (unsigned)p->barrier : p->mask, b->live);
        }
    sim_fault(&b->warps[0], NULL, -1, cudaErrorLaunchTimeout, "no thread can go on");
}

// ---- Blocks

uint64_t sim_next_random(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

void sim_use_local(Block *b, size_t bytes)
{
    const size_t of_thread = b->launch->local_bytes;
    if (bytes <= b->local_used)
        return;
    for (size_t t = 0; t < b->threads; t++)
        memset(b->local + t * of_thread + b->local_used, 0xff, bytes - b->local_used);
    for (size_t t = 0; b->local_written && t < b->threads; t++)
        memset(b->local_written + t * of_thread + b->local_used, 0, bytes - b->local_used);
    b->local_used = bytes;
}

// The order in which the block's warps have their turns: that of their numbers, or one that $SIM_BLOCK_ORDER shuffles,
// in which none has the turn that its number would give it.
static void order_warps(Block *b)
{
    const bool shuffles = sim_settings()->shuffles;
    b->series = sim_settings()->block_order ^ (b->number + 1) * 0xd1b54a32d192ed03;
    for (int n = 0; n < b->warp_count; n++) { // the new one takes the place of an earlier one, and that the last
        const uint64_t place = shuffles && n > 0 ? sim_next_random(&b->series) % (uint64_t)n : (uint64_t)n;
        b->turns[n] = b->turns[place];
        b->turns[place] = (uint8_t)n;
    }
}

static void start_block(Block *b, uint64_t place)
{
    const Launch *launch = b->launch;
    const uint64_t number = launch->shuffled ? launch->shuffled[place] : place;
    b->place = place;
    b->number = number;
    b->fault.kind = -1;
    b->origins = NULL;
    b->rank = (uint32_t)(place % launch->cluster_blocks);
    b->traced = sim_is_traced(launch, number);
    b->index.x = (unsigned)(number % launch->grid.x);
    b->index.y = (unsigned)(number / launch->grid.x % launch->grid.y);
    b->index.z = (unsigned)(number / launch->grid.x / launch->grid.y);
    b->live = b->threads;
    b->patience = SIM_PATIENCE;
    order_warps(b);
    b->meetings = 0;
    b->round = (Round){0};
    memset(b->barriers, 0, sizeof b->barriers);
    memset(b->shared, 0xff, launch->shared_bytes); // what nobody wrote is NaN, the same in every run
    if (b->clocks)
        sim_observer.begin_block(b);
    b->local_used = 0;
    sim_use_local(b, launch->kernel->local_bytes);
    for (int n = 0; n < b->warp_count; n++) {
        const uint32_t rest = b->threads - (uint32_t)n * LANES;
        b->warps[n].instructions = b->warps[n].unfair = 0;
        b->warps[n].awaited.expected = 0;
        sim_start_warp(&b->warps[n], rest >= LANES ? ALL_LANES : (1u << rest) - 1);
    }
}

// ---- Blocks that do not get on

// Whether a path waits at a barrier of the block or of the cluster.
static bool is_at_barrier(const Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        for (const Path *p = b->warps[n].paths; p; p = p->next)
            if (p->waiting == WAITS_AT_BARRIER || p->waiting == WAITS_AT_CLUSTER)
                return true;
    return false;
}

// Lets lanes go on that wait at a join, where those that they wait for wait for them: at a barrier perhaps for any of
// them, else for those that an operation between lanes names. False if there are none.
static bool open_joins(Block *b)
{
    const bool any = is_at_barrier(b);
    bool opened = false;
    for (int n = 0; n < b->warp_count; n++)
        opened |= sim_open_join(&b->warps[n], any ? ALL_LANES : sim_wanted_lanes(&b->warps[n]));
    return opened;
}

static bool waits_for_cluster(const Block *b)
{
    for (int n = 0; n < b->warp_count; n++)
        for (const Path *p = b->warps[n].paths; p; p = p->next)
            if (p->waiting == WAITS_AT_CLUSTER)
                return true;
    return false;
}

// Whether a warp goes round a loop, or waits for other blocks, and all others wait or do the same: for what only other
// blocks could bring.
static bool is_stuck(const Block *b)
{
    bool turns = false;
    for (int n = 0; n < b->warp_count; n++) {
        if (!sim_is_stuck(&b->warps[n]))
            return false;
        turns |= sim_next_path(&b->warps[n]) != NULL;
    }
    return turns || waits_for_cluster(b);
}

// Lets other lanes of its warps run, where there are some.
static bool give_way(Block *b)
{
    bool gave = false;
    for (int n = 0; n < b->warp_count; n++)
        gave |= sim_give_way(&b->warps[n]);
    return gave;
}

// The warp that has run most of those that could go on.
static Warp *busiest_warp(Block *b)
{
    Warp *busiest = &b->warps[0];
    for (int n = 0; n < b->warp_count; n++)
        if (sim_next_path(&b->warps[n]) &&
            (!sim_next_path(busiest) || b->warps[n].instructions > busiest->instructions))
            busiest = &b->warps[n];
    return busiest;
}

// A kernel runs to its end before the host goes on. So what waits for the host never ends here, and is right on a GPU.
static void refuse_waiting_for_host(Block *b)
{
    for (int n = 0; b->error == cudaSuccess && n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        const Path *p = sim_awaits_host(w) ? sim_next_path(w) : NULL;
        if (!p)
            continue;
        sim_note_fault(w, sim_loop_around(p), __builtin_ctz(p->mask), cudaErrorNotSupported,
                       "this loop asks memory that the host may write, and does not end: a kernel that waits for the host "
                       "while it runs cannot be run here, where each ends before the host goes on");
        b->fault.awaits_host = true;
        longjmp(b->on_fault, FAULT);
    }
}

// Names the branch that turns the loop.
static _Noreturn void report_endless(Block *b, const char *what)
{
    refuse_waiting_for_host(b);
    Warp *w = busiest_warp(b);
    const Path *p = sim_next_path(w);
    char waits[120] = "", bytes[40] = "";
    if (w->awaited.expected && w->awaited.bytes)
        snprintf(bytes, sizeof bytes, ", and %lld bytes", (long long)w->awaited.bytes);
    if (w->awaited.expected)
        snprintf(waits, sizeof waits, "; it waits at an mbarrier, for %u of %u arrivals%s", w->awaited.missing,
                 w->awaited.expected, bytes);
    sim_fault(w, p ? sim_loop_around(p) : NULL, p ? __builtin_ctz(p->mask) : -1, cudaErrorLaunchTimeout, "%s%s", what,
              waits);
}

// Whether blocks behind this one may bring what it waits for.
static bool may_wait_for_later(const Block *b)
{
    const Launch *launch = b->launch;
    return !launch->together && launch->order != FREE && b->place + 1 < launch->blocks;
}

// Where nobody else has done anything that the block could not have seen, it goes on where it is, and those behind it
// take turns with it. CUDA promises that only for cooperative launches.
static void go_on_together(Block *b)
{
    sim_await_turn(b);
    if (may_wait_for_later(b))
        longjmp(b->on_fault, WAITS_FOR_LATER);
}

static _Noreturn void report_stuck(Block *b)
{
    go_on_together(b);
    if (!sim_next_path(busiest_warp(b)))
        report_deadlock(b);
    report_endless(b, "an endless loop turns here: all that could end it waits, or turns in such a loop as well");
}

static _Noreturn void report_limit(Block *b, uint64_t instructions)
{
    char what[160];
    snprintf(what, sizeof what,
             "%llu warp instructions and no end: an endless loop? ($SIM_MAX_INSTRUCTIONS sets the limit)",
             (unsigned long long)instructions);
    report_endless(b, what);
}

// Each of the block's warps has a turn.
static void run_warps(Block *b)
{
    bool progress = false;
    uint64_t instructions = 0;
    for (int n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[b->turns[n]];
        progress |= w->paths && sim_run_warp(w);
        instructions += w->instructions;
    }
    if (b->launch->ended >= b->place) // what it has read by now may keep it from ever getting on
        sim_await_turn(b);
    const bool others_may_help = b->launch->together && waits_for_cluster(b);
    if (!progress && !others_may_help && !open_joins(b))
        report_deadlock(b);
    if (progress && b->live > 0 && !b->launch->together && is_stuck(b) && !give_way(b))
        report_stuck(b);
    if (may_wait_for_later(b) && sim_comes_round(b))
        go_on_together(b);
    const uint64_t most = sim_settings()->max_instructions;
    if (b->watch->in_vain > most / 100)
        go_on_together(b);
    if (instructions > most || b->watch->in_vain > most / 10)
        report_limit(b, instructions > most ? instructions : b->watch->in_vain);
}

static void run_block(Block *b, uint64_t place)
{
    start_block(b, place);
    if (b->launch->restarts >= FUTILE || b->traced) // what is in the trace never starts again
        sim_await_turn(b);
    while (b->live > 0)
        run_warps(b);
    sim_await_turn(b);
    if (b->error != cudaSuccess) // of threads that ended before the others
        longjmp(b->on_fault, FAULT);
}

// ---- The host's threads

static Lock launch_lock;
static Waiters block_ended;

static bool take_block(Launch *launch, Block *b, uint64_t *place)
{
    sim_lock(&launch_lock);
    *place = launch->next_block;
    const bool taken = *place < launch->blocks && *place < launch->fault_block;
    if (taken)
        launch->next_block++;
    b->ahead = launch->order == IN_TURN && *place > launch->ended;
    b->seen = launch->ended;
    b->read_count = 0;
    sim_unlock(&launch_lock);
    return taken;
}

static void end_turn(Launch *launch)
{
    if (launch->order != IN_TURN)
        return;
    sim_lock(&launch_lock);
    launch->ended++;
    sim_wake_all(&block_ended);
    sim_unlock(&launch_lock);
}

void sim_await_turn(Block *b)
{
    Launch *launch = b->launch;
    if (!b->ahead)
        return;
    sim_lock(&launch_lock);
    while (launch->ended < b->place)
        sim_wait(&block_ended, &launch_lock);
    const bool abandoned = launch->fault_block < b->place;
    sim_unlock(&launch_lock);
    b->ahead = false;
    if (abandoned)
        longjmp(b->on_fault, ABANDONED);
    for (int k = 0; k < b->read_count; k++)
        if (b->read[k]->writer > b->seen)
            longjmp(b->on_fault, RESTART);
}

// Forgets what the block had begun to do.
static void clear_block(Block *b, const Counters *counters)
{
    b->counters = *counters;
    sim_free_arena(&b->arena);
    b->free_frames = NULL;
    b->free_paths = NULL;
    b->free_copies = NULL;
    b->free_sources = NULL;
    b->origins = NULL;
    for (int n = 0; n < b->warp_count; n++)
        b->warps[n] = (Warp){.block = b, .number = n};
}

static void record_fault(Launch *launch, const Block *b)
{
    sim_lock(&launch_lock);
    if (b->place < launch->fault_block) {
        launch->fault_block = b->place;
        launch->error = b->error;
        memcpy(launch->message, b->message, sizeof launch->message);
        launch->fault = b->fault;
    }
    sim_unlock(&launch_lock);
}

// The block waits for later ones: no other begins any more, and those ahead of their turn forget what they did.
static void hold_block(Launch *launch, Block *b)
{
    sim_lock(&launch_lock);
    launch->held = b;
    launch->fault_block = b->place;
    sim_unlock(&launch_lock);
}

static void add_counters(Counters *sum, const Counters *part)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)part;
    for (size_t k = 0; k < sizeof *sum / sizeof *to; k++)
        to[k] += from[k];
}

// Runs the block to its end: again, if what it had read ahead of its turn has changed. False if it waits for later ones.
static bool finish_block(Launch *launch, Block *b, uint64_t place)
{
    const Counters before = b->counters;
    switch (setjmp(b->on_fault)) {
    case RESTART:
        launch->restarts++;
        clear_block(b, &before);
        // fall through
    case NONE:
        run_block(b, place);
        break;
    case FAULT:
        record_fault(launch, b);
        break;
    case ABANDONED:
        clear_block(b, &before);
        break;
    case WAITS_FOR_LATER:
        hold_block(launch, b);
        end_turn(launch);
        return false;
    }
    end_turn(launch);
    return true;
}

// Memory for a block that a host thread runs; NULL where there is none left.
static Block *new_block(Launch *launch)
{
    Block *b = calloc(1, sizeof *b);
    const size_t threads = (size_t)launch->block.x * launch->block.y * launch->block.z;
    const size_t warps = (threads + LANES - 1) / LANES;
    if (!b)
        return NULL;
    b->launch = launch;
    b->threads = (uint32_t)threads;
    b->warp_count = (int)warps;
    b->watch = launch->together ? &launch->watch : &b->own_watch;
    b->shared = aligned_alloc(1024, (launch->shared_bytes + 1024) / 1024 * 1024);
    b->local = malloc((warps * LANES + 1) * (launch->local_bytes ? launch->local_bytes : 1));
    const bool observed = !launch->clocks || sim_observer.make_block(b);
    if (!b->shared || !b->local || !observed) {
        if (launch->clocks)
            sim_observer.free_block(b);
        free(b->shared);
        free(b->local);
        free(b);
        return NULL;
    }
    b->alone = b;
    b->cluster = &b->alone;
    for (size_t n = 0; n < warps; n++)
        b->warps[n] = (Warp){.block = b, .number = (int)n};
    return b;
}

// Gives the block back, and the launch what it has counted.
static void free_block(Launch *launch, Block *b)
{
    if (!b)
        return;
    sim_lock(&launch_lock);
    add_counters(&launch->counters, &b->counters);
    sim_unlock(&launch_lock);
    sim_free_arena(&b->arena);
    if (b->clocks)
        sim_observer.free_block(b);
    free(b->shared);
    free(b->local);
    free(b);
}

static void *work(void *argument)
{
    Launch *launch = argument;
    Block *b = new_block(launch);
    uint64_t place;
    bool held = false;
    while (b && !held && take_block(launch, b, &place))
        held = !finish_block(launch, b, place);
    if (!held)
        free_block(launch, b);
    return NULL;
}

static void report_memory(Launch *launch)
{
    char name[200];
    sim_readable_name(launch->kernel->name, name, sizeof name);
    launch->error = cudaErrorMemoryAllocation;
    snprintf(
        launch->message, sizeof launch->message,
        "simulator: kernel %s: no memory for a block's %zu bytes of shared memory and %zu of local memory a thread",
        name, launch->shared_bytes, launch->local_bytes);
}

static int worker_count(const Launch *launch)
{
    const uint64_t wanted = sim_settings()->threads, cores = wanted ? wanted : (uint64_t)sim_core_count();
    const bool alone = launch->order == ONE_BY_ONE || launch->watched || (launch->traced && sim_traces_all());
    const uint64_t most = alone ? 1 : launch->blocks;
    const uint64_t workers = cores > MAX_WORKERS ? MAX_WORKERS : cores;
    return (int)(workers < most ? workers : most);
}

static void run_blocks(Launch *launch)
{
    Thread threads[MAX_WORKERS];
    const int workers = worker_count(launch);
    int started = 0;
    while (started < workers - 1 && sim_start_thread(&threads[started], work, launch))
        started++;
    work(launch);
    for (int k = 0; k < started; k++)
        sim_join_thread(threads[k]);
    if (launch->error == cudaSuccess && !launch->held && launch->next_block < launch->blocks)
        report_memory(launch); // one host thread that had memory would have done
}

// ---- Blocks that take turns

static bool has_cluster_ended(const Block *b)
{
    for (uint32_t k = 0; k < b->launch->cluster_blocks; k++)
        if (b->cluster[k]->live > 0)
            return false;
    return true;
}

static void start_cluster(Launch *launch, Block *const *blocks)
{
    for (uint32_t k = 0; k < launch->cluster_blocks; k++)
        start_block(blocks[k], launch->next_block++);
}

// Each of the block's warps has a turn. Where it was the last of its cluster that ended, the next cluster begins;
// false if there is none.
static bool have_turn(Block *b)
{
    Launch *launch = b->launch;
    if (setjmp(b->on_fault) != NONE) {
        record_fault(launch, b);
        return false;
    }
    for (int n = 0; n < b->warp_count; n++)
        b->warps[n].near = NULL; // another block may have freed it
    run_warps(b);
    if (b->live > 0)
        return true;
    if (b->error != cudaSuccess)
        record_fault(launch, b);
    if (b->error != cudaSuccess)
        return false;
    if (!has_cluster_ended(b))
        return true;
    if (launch->next_block == launch->blocks)
        return false;
    start_cluster(launch, b->cluster);
    return true;
}

// Where none of the blocks gets on, lets other lanes of their warps run; where there are none, ends the launch.
static void free_stuck_blocks(Block **blocks, uint64_t count)
{
    bool gave = false;
    Block *first = NULL;
    for (uint64_t k = 0; k < count; k++)
        if (blocks[k]->live > 0 && !is_stuck(blocks[k]))
            return;
    for (uint64_t k = count; k-- > 0;)
        if (blocks[k]->live > 0) {
            gave |= give_way(blocks[k]);
            first = blocks[k];
        }
    if (gave)
        return;
    if (setjmp(first->on_fault) == NONE)
        report_stuck(first);
    record_fault(first->launch, first);
}

// Whether the block lets this turn pass: in a shuffled order now and then a block stands still for a while, as it may
// on a GPU.
static bool pauses(Block *b, uint64_t *series)
{
    enum { ONE_IN = 16, MOST_TURNS = 64 };
    if (b->pause == 0 && sim_next_random(series) % ONE_IN == 0)
        b->pause = (uint32_t)(sim_next_random(series) % MOST_TURNS);
    else if (b->pause > 0)
        b->pause--;
    return b->pause > 0;
}

// Runs as many whole clusters at once as the device holds. The first that goes wrong ends the launch.
static void run_together(Launch *launch)
{
    const int threads = (int)(launch->block.x * launch->block.y * launch->block.z);
    const uint64_t per_sm = (uint64_t)sim_blocks_per_sm(launch->kernel, threads, launch->dynamic_bytes);
    const uint64_t size = launch->cluster_blocks, most = per_sm * (uint64_t)sim_device()->sm_count / size * size;
    const uint64_t left = launch->blocks - (launch->held ? launch->held->place : 0), held = most < left ? most : left;
    Block **blocks = calloc(held, sizeof *blocks);
    for (uint64_t k = 0; blocks && k < held; k++)
        if (!(blocks[k] = k == 0 && launch->held ? launch->held : new_block(launch)))
            launch->error = cudaErrorMemoryAllocation;
    if (!blocks || launch->error != cudaSuccess)
        report_memory(launch);
    for (uint64_t k = 0; k < held && launch->error == cudaSuccess; k++)
        blocks[k]->cluster = &blocks[k / size * size];
    for (uint64_t k = launch->held ? 1 : 0; k < held && launch->error == cudaSuccess; k += size)
        start_cluster(launch, &blocks[k]);
    uint64_t alive = held / size, series = launch->shuffled ? launch->shuffled[0] : 0; // alive: clusters
    for (uint64_t k = 0; alive > 0 && launch->error == cudaSuccess; k = (k + 1) % held) {
        if (launch->shuffled && blocks[k]->live > 0 && pauses(blocks[k], &series))
            continue;
        if (blocks[k]->live > 0 && !have_turn(blocks[k]))
            alive--;
        if (alive > 0 && launch->error == cudaSuccess && is_stuck(blocks[k]))
            free_stuck_blocks(blocks, held);
    }
    for (uint64_t k = 0; blocks && k < held; k++)
        free_block(launch, blocks[k]);
    free(blocks);
}

// One of the blocks waits for later ones: it goes on, and they take turns with it.
static void go_on_from_held(Launch *launch)
{
    Block *const b = launch->held;
    launch->together = launch->on_one_thread = true;
    launch->fault_block = UINT64_MAX;
    launch->next_block = b->place + 1;
    b->watch = &launch->watch;
    for (int n = 0; n < b->warp_count; n++)
        for (Path *p = b->warps[n].paths; p; p = p->next)
            p->loop = NULL;
    run_together(launch);
}

// Says so, once for each of the first kernels.
static void say_together(const Launch *launch)
{
    static const Function *told[8];
    for (size_t k = 0; k < sizeof told / sizeof *told; k++) {
        if (told[k] == launch->kernel)
            return;
        if (told[k])
            continue;
        told[k] = launch->kernel;
        char name[200];
        sim_readable_name(launch->kernel->name, name, sizeof name);
        fprintf(stderr, "simulator: kernel %s: its blocks wait for later ones, so they run together; CUDA promises that for "
                "cooperative launches only\n", name);
        return;
    }
}

// ---- Launches

// The numbers of the blocks as $SIM_BLOCK_ORDER shuffles them; NULL if it is not set.
static uint64_t *shuffled_blocks(uint64_t count)
{
    if (!sim_settings()->shuffles)
        return NULL;
    uint64_t seed = sim_settings()->block_order;
    uint64_t *numbers = malloc(count * sizeof *numbers);
    if (!numbers)
        sim_die("out of memory for an order of blocks");
    for (uint64_t k = 0; k < count; k++) { // the new one takes any place, and what was there the last
        const uint64_t place = sim_next_random(&seed) % (k + 1);
        numbers[k] = numbers[place];
        numbers[place] = k;
    }
    return numbers;
}

// The number of the block that has a rank in a cluster with this number.
static uint64_t block_in_cluster(const Launch *launch, uint64_t cluster, uint32_t rank)
{
    const dim3 grid = launch->grid, size = launch->cluster;
    const uint64_t across = grid.x / size.x, down = grid.y / size.y;
    const uint64_t x = cluster % across * size.x + rank % size.x;
    const uint64_t y = cluster / across % down * size.y + rank / size.x % size.y;
    const uint64_t z = cluster / across / down * size.z + rank / size.x / size.y;
    return x + grid.x * (y + grid.y * z);
}

// The order in which blocks begin: a cluster's side by side, by their ranks. NULL: that of their numbers.
static uint64_t *order_of_blocks(const Launch *launch)
{
    const uint32_t size = launch->cluster_blocks;
    uint64_t *clusters = shuffled_blocks(launch->blocks / size);
    if (size == 1)
        return clusters;
    uint64_t *numbers = malloc(launch->blocks * sizeof *numbers);
    if (!numbers)
        sim_die("out of memory for an order of clusters");
    for (uint64_t place = 0; place < launch->blocks; place++)
        numbers[place] =
            block_in_cluster(launch, clusters ? clusters[place / size] : place / size, (uint32_t)(place % size));
    free(clusters);
    return numbers;
}

static bool wants_together(const Launch *launch)
{
    return launch->workspace || launch->cluster_blocks > 1 || (sim_settings()->together && launch->order != FREE);
}

// Dynamic shared memory lies behind the kernel's own; where that has gaps for the checker, behind one more, in its
// usual banks.
static void place_dynamic_shared(Launch *launch)
{
    const size_t fixed = launch->kernel->shared_bytes, extent = launch->kernel->shared_extent,
                 align = launch->module->dynamic_align;
    const size_t unit = align > LINE_BYTES ? align : LINE_BYTES, usual = (fixed + align - 1) / align * align;
    launch->dynamic_shared = (uint32_t)(extent == fixed && !sim_checks() ? usual : extent == 0 ? 0
                                        : (extent + LINE_BYTES + unit - 1) / unit * unit + usual % unit);
    launch->shared_bytes = launch->dynamic_bytes ? launch->dynamic_shared + launch->dynamic_bytes : extent;
    launch->asked_shared = launch->dynamic_bytes ? usual + launch->dynamic_bytes : fixed;
    if (launch->module->uses_reserved_shared) {
        const size_t apart = sim_checks() ? LINE_BYTES : 16; // a line of the checker's holds one array
        launch->reserved_shared = (uint32_t)((launch->shared_bytes + apart - 1) / apart * apart);
        launch->shared_bytes = launch->reserved_shared + RESERVED_BYTES;
        launch->asked_shared = (launch->asked_shared + 15) / 16 * 16 + RESERVED_BYTES;
    }
}

static size_t local_bytes_of(const Function *kernel, size_t stack)
{
    const size_t own = (kernel->local_bytes + 15) / 16 * 16;
    return kernel->program->calls ? own + stack : own;
}

static _Atomic uint64_t launches; // of the program

cudaError_t sim_launch_grid(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                            size_t stack_bytes, void **arguments, Grouping grouping, Grid *family_grid, bool watched)
{
    Launch launch = {.module = module,
                     .family_grid = family_grid,
                     .device = sim_current_device,
                     .kernel = kernel,
                     .grid = grid,
                     .block = block,
                     .dynamic_bytes = dynamic_bytes};
    const dim3 cluster = grouping.cluster.x ? grouping.cluster : kernel->cluster;
    launch.explicit_cluster = cluster.x > 0;
    launch.cluster = launch.explicit_cluster ? cluster : (dim3){1, 1, 1};
    launch.cluster_blocks = launch.cluster.x * launch.cluster.y * launch.cluster.z;
    place_dynamic_shared(&launch);
    launch.local_bytes = local_bytes_of(kernel, stack_bytes);
    launch.blocks = (uint64_t)grid.x * grid.y * grid.z;
    launch.number = ++launches;
    launch.fault_block = UINT64_MAX;
    launch.order = kernel->program->order;
    const size_t behind = (kernel->kernel_param_bytes + 15) / 16 * 16; // the workspace lies behind the arguments
    launch.watched = watched;
    launch.params = calloc(1, behind + WORKSPACE_BYTES);
    if (!launch.params)
        return cudaErrorMemoryAllocation;
    launch.workspace = grouping.cooperative ? launch.params + behind : NULL;
    launch.together = wants_together(&launch);
    launch.shuffled = order_of_blocks(&launch);
    int index = 0;
    for (const Variable *v = kernel->params; v; v = v->next, index++)
        memcpy(launch.params + v->address, arguments[index], v->bytes);
    sim_register_memory(launch.params, behind + WORKSPACE_BYTES, PARAMETER_MEMORY);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    sim_forget_writers();
    launch.traced = sim_trace_launch(&launch);
    launch.on_one_thread = launch.together || worker_count(&launch) == 1;
    launch.clocks = sim_observer.begin_launch ? sim_observer.begin_launch(&launch) : NULL;
    launch.noted = !kernel->program->does.tells_host;
    (launch.together ? run_together : run_blocks)(&launch);
    if (launch.held)
        go_on_from_held(&launch);
    if (launch.traced)
        sim_end_trace_of_launch();
    clock_gettime(CLOCK_MONOTONIC, &end);
    sim_unregister_memory(launch.params);
    free(launch.params);
    free(launch.shuffled);
    fflush(stdout);
    if (launch.error != cudaSuccess && (!launch.clocks || launch.fault.awaits_host))
        fprintf(stderr, "%s\n", launch.message);
    if (sim_observer.end_launch)
        sim_observer.end_launch(&launch);
    if (launch.fault.awaits_host)
        exit(CANNOT_RUN);
    if (launch.error == cudaSuccess)
        sim_count_launch(&launch, (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    if (launch.error == cudaSuccess && launch.held)
        say_together(&launch);
    return launch.error;
}
