// device_runtime.c: kernels that launch kernels: the functions that they call (CUDA's dynamic parallelism 2), and how
// what they launch runs.
//
// No kernel can wait for what it has launched, and CUDA promises nowhere that a child runs beside its parent. So a
// grid that is launched waits until its parent has ended. Then the children run in the order in which they were
// launched, which is that of their streams and events; each with all of its own before the next; and behind them all
// those of the tail stream. Blocks of a kernel that launches run one after the other, so this order is always the same.
#include "runtime/work/device_runtime.h"
#include "checker/check_family.h"
#include "checker/check_host.h"
#include "runtime/work/limits.h"
#include "runtime/work/properties.h"
#include "runtime/work/work.h"

#include <stdarg.h>
#include <string.h>

typedef struct Family {
    Arena arena;
    const Module *module;
    size_t stack_bytes;
    size_t pending; // grids that have not begun
    uint32_t streams, handles;
    int told; // errors with their text
    struct Text { // that the program knows as a string on the device
        char *text;
        struct Text *next;
    } *texts;
} Family;

typedef struct DeviceStream { // of a grid
    uint64_t handle;
    uint64_t block; // of the default stream, which each block has for itself
    uint32_t stream, count; // its number in the family; operations
    const Waits *waits;
    bool ended;
    struct DeviceStream *next;
} DeviceStream;

typedef struct DeviceEvent {
    uint64_t handle;
    const Waits *waits; // NULL: not recorded as yet
    struct DeviceEvent *next;
} DeviceEvent;

typedef struct ThreadError { // a thread's last error, which it has not asked for
    uint64_t block;
    uint32_t thread;
    cudaError_t error;
    const char *what; // NULL: it has asked, or enough has been said
    const Instr *from;
    struct ThreadError *next;
} ThreadError;

enum { MOST_TOLD = 1000 }; // so many errors of a family have a text
enum { MOST_DEPTH = 24, TAIL_STREAM = 3, LONELY_STREAM = 4, FIRST_HANDLE = 1 << 20 };

// ---- A call of a lane

typedef struct Call {
    Warp *w;
    const Instr *i;
    int lane;
    Grid *grid;
} Call;

static uint64_t argument(const Call *c, int index, size_t bytes)
{
    uint64_t value = 0;
    sim_call_argument(c->w, c->i, c->lane, index, &value, bytes);
    return value;
}

static dim3 size_argument(const Call *c, int index)
{
    dim3 size = {0, 0, 0};
    sim_call_argument(c->w, c->i, c->lane, index, &size, sizeof size);
    return size;
}

static uint32_t thread_of(const Call *c)
{
    return (uint32_t)(c->w->number * LANES + c->lane);
}

// Writes where the program's pointer says, a piece at a time.
static void give(const Call *c, uint64_t address, const void *value, size_t bytes)
{
    const size_t piece = bytes % 8 == 0 && address % 8 == 0 ? 8 : 4;
    for (size_t k = 0; k < bytes; k += piece)
        memcpy(sim_access_lane(c->w, c->i, c->lane, GENERIC, address + k, piece, piece, ACCESS_WRITE),
               (const char *)value + k, piece);
}

// ---- Errors: each thread has its last one

// Those of a block follow each other, but where blocks take turns.
static ThreadError **error_of(const Call *c)
{
    const Block *b = c->w->block;
    ThreadError **link = &c->grid->errors;
    while (*link && ((*link)->block != b->number || (*link)->thread != thread_of(c)))
        link = (*link)->block == b->number || b->launch->together ? &(*link)->next : &c->grid->no_error;
    return link;
}

__attribute__((format(printf, 3, 4)))
static cudaError_t fail(const Call *c, cudaError_t error, const char *format, ...)
{
    Grid *g = c->grid;
    ThreadError *e = *error_of(c);
    if (!e) {
        e = sim_allocate(&g->family->arena, sizeof *e);
        e->next = g->errors;
        g->errors = e;
    }
    *e = (ThreadError){c->w->block->number, thread_of(c), error, NULL, c->i, e->next};
    if (g->family->told == MOST_TOLD)
        return error;
    g->family->told++;
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    e->what = strcpy(sim_allocate(&g->family->arena, strlen(what) + 1), what);
    return error;
}

static cudaError_t last_error(const Call *c, bool forget)
{
    ThreadError **link = error_of(c);
    const cudaError_t error = *link ? (*link)->error : cudaSuccess;
    if (*link)
        (*link)->what = NULL;
    if (*link && forget)
        *link = (*link)->next;
    return error;
}

static void say_what_nobody_asked(const Grid *g)
{
    for (const ThreadError *e = sim_checks() ? g->errors : NULL; e; e = e->next) {
        char title[400];
        if (!e->what)
            continue;
        snprintf(title, sizeof title, "%s: %s (%s), and the thread never asked", e->what, sim_error_text(e->error),
                 sim_error_name(e->error));
        const Place place = sim_place_of(&g->launch, e->block, e->thread, e->from, "calls the device's runtime");
        sim_add_finding(UNCHECKED_ERROR, title, &place, 1,
                        e->error == cudaErrorLaunchOutOfResources
                            ? "before the first launch cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ...) "
                              "makes room for more"
                            : "");
    }
}

// ---- Streams and events

static DeviceStream *new_stream(Grid *g, uint64_t handle, uint64_t block)
{
    DeviceStream *s = sim_allocate(&g->family->arena, sizeof *s);
    *s = (DeviceStream){.handle = handle, .block = block, .stream = g->family->streams++, .next = g->streams};
    return g->streams = s;
}

// NULL: there is none of this handle.
static DeviceStream *stream_of(const Call *c, uint64_t handle)
{
    const uint64_t block = handle < FIRST_HANDLE && handle != TAIL_STREAM ? c->w->block->number : 0;
    const uint64_t key = handle == 1 || handle == 2 ? 0 : handle; // other names of the default stream
    if (handle == LONELY_STREAM)
        return new_stream(c->grid, handle, block);
    for (DeviceStream *s = c->grid->streams; s; s = s->next)
        if (s->handle == key && s->block == block && !s->ended)
            return s;
    return handle < FIRST_HANDLE && handle <= TAIL_STREAM ? new_stream(c->grid, key, block) : NULL;
}

static const Waits *joined(Grid *g, const Waits *one, const Waits *two, const DeviceStream *reached)
{
    const int first = one ? one->count : 0, second = two ? two->count : 0;
    Waits *all = sim_allocate(&g->family->arena, sizeof *all + (size_t)(first + second + 1) * sizeof *all->of);
    if (first)
        memcpy(all->of, one->of, (size_t)first * sizeof *all->of);
    if (second)
        memcpy(all->of + first, two->of, (size_t)second * sizeof *all->of);
    all->count = first + second;
    if (reached)
        all->of[all->count++] = (Reached){reached->stream, reached->count};
    return all;
}

static cudaError_t create_stream(const Call *c)
{
    if (argument(c, 1, 4) != cudaStreamNonBlocking)
        return fail(c, cudaErrorInvalidValue, "cudaStreamCreateWithFlags needs cudaStreamNonBlocking on the device");
    const uint64_t handle = FIRST_HANDLE + c->grid->family->handles++;
    new_stream(c->grid, handle, 0);
    give(c, argument(c, 0, 8), &handle, sizeof handle);
    return cudaSuccess;
}

static cudaError_t destroy_stream(const Call *c)
{
    const uint64_t handle = argument(c, 0, 8);
    DeviceStream *s = handle < FIRST_HANDLE ? NULL : stream_of(c, handle);
    if (!s)
        return fail(c, cudaErrorInvalidResourceHandle, "cudaStreamDestroy: no stream of this grid");
    s->ended = true; // what it was given still runs
    return cudaSuccess;
}

static DeviceEvent **event_of(const Call *c, uint64_t handle)
{
    DeviceEvent **link = &c->grid->events;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

static cudaError_t create_event(const Call *c)
{
    if (!(argument(c, 1, 4) & cudaEventDisableTiming))
        return fail(c, cudaErrorInvalidValue, "cudaEventCreateWithFlags needs cudaEventDisableTiming on the device");
    DeviceEvent *e = sim_allocate(&c->grid->family->arena, sizeof *e);
    *e = (DeviceEvent){.handle = FIRST_HANDLE + c->grid->family->handles++, .next = c->grid->events};
    c->grid->events = e;
    give(c, argument(c, 0, 8), &e->handle, sizeof e->handle);
    return cudaSuccess;
}

static cudaError_t destroy_event(const Call *c)
{
    DeviceEvent **link = event_of(c, argument(c, 0, 8));
    if (!*link)
        return fail(c, cudaErrorInvalidResourceHandle, "cudaEventDestroy: no event of this grid");
    *link = (*link)->next;
    return cudaSuccess;
}

static cudaError_t record_event(const Call *c)
{
    DeviceEvent *e = *event_of(c, argument(c, 0, 8));
    const uint64_t handle = argument(c, 1, 8);
    const DeviceStream *s = handle == TAIL_STREAM || handle == LONELY_STREAM ? NULL : stream_of(c, handle);
    if (!e || !s)
        return fail(c, cudaErrorInvalidResourceHandle, "cudaEventRecord: no event or no stream of this grid");
    e->waits = joined(c->grid, s->waits, NULL, s);
    return cudaSuccess;
}

static cudaError_t await_event(const Call *c)
{
    const uint64_t handle = argument(c, 0, 8);
    DeviceStream *s = handle == TAIL_STREAM || handle == LONELY_STREAM ? NULL : stream_of(c, handle);
    const DeviceEvent *e = *event_of(c, argument(c, 1, 8));
    if (!e || !s)
        return fail(c, cudaErrorInvalidResourceHandle, "cudaStreamWaitEvent: no event or no stream of this grid");
    if (e->waits)
        s->waits = joined(c->grid, s->waits, e->waits, NULL);
    return cudaSuccess;
}

// ---- Launches

static Grid *new_grid(Grid *parent, const Call *c)
{
    Grid *g = sim_allocate(&parent->family->arena, sizeof *g);
    g->family = parent->family;
    g->parent = parent;
    g->depth = parent->depth + 1;
    g->level = parent->level + 1;
    g->family_check = parent->family_check;
    g->block = c->w->block->number;
    g->thread = thread_of(c);
    g->from = c->i;
    return g;
}

static cudaError_t queue(const Call *c, Grid *g, uint64_t handle)
{
    Grid *parent = c->grid;
    DeviceStream *s = stream_of(c, handle);
    if (!s)
        return fail(c, cudaErrorInvalidResourceHandle, "a launch in what is no stream of this grid");
    g->tail = handle == TAIL_STREAM;
    g->depth = g->tail ? parent->depth : g->depth; // it takes its parent's place
    g->stream = s->stream;
    g->number = s->count++;
    g->waits = s->waits;
    if (g->family_check)
        g->knower = sim_remember(&g->family->arena, c->w, c->lane);
    Grid **first = g->tail ? &parent->first_tail : &parent->first;
    Grid **last = g->tail ? &parent->last_tail : &parent->last;
    *(*first ? &(*last)->next : first) = g;
    *last = g;
    g->family->pending++;
    return cudaSuccess;
}

static cudaError_t no_room(const Call *c, const char *what)
{
    const size_t most = sim_limit(cudaLimitDevRuntimePendingLaunchCount);
    if (c->grid->family->pending < most)
        return cudaSuccess;
    return fail(c, cudaErrorLaunchOutOfResources, "%s did not run: %zu launches of kernels wait already", what, most);
}

// Of a launch <<<grid, block, bytes>>>: where its arguments go, behind which a second call launches it; or NULL.
static uint64_t get_parameter_buffer(const Call *c)
{
    const uint64_t code = argument(c, 0, 8);
    const dim3 grid = size_argument(c, 1), block = size_argument(c, 2);
    const size_t dynamic_bytes = argument(c, 3, 4);
    const Kernel *kernel = sim_kernel_of_code(c->grid->family->module, code);
    const Function *f = (const Function *)(uintptr_t)code;
    char name[200], what[280];
    if (!kernel) {
        fail(c, cudaErrorInvalidDeviceFunction, "a kernel's launch by a kernel");
        return 0;
    }
    sim_readable_name(f->name, name, sizeof name);
    snprintf(what, sizeof what, "kernel %s<<<(%u,%u,%u), (%u,%u,%u), %zu>>>", name, grid.x, grid.y, grid.z, block.x,
             block.y, block.z, dynamic_bytes);
    const cudaError_t error = sim_check_configuration(kernel, f, grid, block, dynamic_bytes);
    if (error)
        fail(c, error, "%s did not run", what);
    else if (c->grid->depth >= MOST_DEPTH)
        fail(c, cudaErrorLaunchMaxDepthExceeded, "%s did not run: kernels launch kernels %d deep", what, MOST_DEPTH);
    if (error || c->grid->depth >= MOST_DEPTH || no_room(c, what))
        return 0;
    Grid *g = new_grid(c->grid, c);
    g->launch = (Launch){.module = c->grid->family->module, .kernel = f, .grid = grid, .block = block,
                         .dynamic_bytes = dynamic_bytes};
    g->arguments = sim_allocate(&g->family->arena, f->kernel_param_bytes + 16);
    sim_register_memory(g->arguments, f->kernel_param_bytes + 16, PARAMETER_MEMORY);
    g->next = c->grid->prepared;
    c->grid->prepared = g;
    return (uint64_t)(uintptr_t)g->arguments;
}

static cudaError_t launch(const Call *c)
{
    const uint64_t buffer = argument(c, 0, 8);
    Grid **link = &c->grid->prepared;
    while (*link && (uint64_t)(uintptr_t)(*link)->arguments != buffer)
        link = &(*link)->next;
    Grid *g = *link;
    if (!g)
        return fail(c, cudaErrorInvalidValue, "cudaLaunchDevice: no buffer of cudaGetParameterBuffer");
    *link = g->next;
    g->next = NULL;
    const cudaError_t error = queue(c, g, argument(c, 1, 8));
    if (error)
        sim_unregister_memory(g->arguments);
    return error;
}

// ---- Copies and fills

static bool lies_in_memory(uint64_t address, size_t pitch, size_t width, size_t height)
{
    const Allocation *a = sim_allocation_at(address);
    const size_t bytes = width && height ? pitch * (height - 1) + width : 0;
    return bytes == 0 || (a && address - a->address < a->bytes && bytes <= a->bytes - (address - a->address));
}

static cudaError_t queue_copy(const Call *c, DeviceCopy copy, GridKind kind, uint64_t stream)
{
    static const char *const NAMES[] = {[COPY_GRID] = "cudaMemcpyAsync", [FILL_GRID] = "cudaMemsetAsync"};
    if (!lies_in_memory(copy.to, copy.to_pitch, copy.width, copy.height) ||
        (kind == COPY_GRID && !lies_in_memory(copy.from, copy.from_pitch, copy.width, copy.height)))
        sim_fault(c->w, c->i, c->lane, cudaErrorIllegalAddress, "%s on the device: not all of it is device memory",
                  NAMES[kind]);
    const cudaError_t error = no_room(c, NAMES[kind]);
    if (error)
        return error;
    Grid *g = new_grid(c->grid, c);
    g->kind = kind;
    g->copy = copy;
    return queue(c, g, stream);
}

static cudaError_t copy(const Call *c)
{
    const size_t bytes = argument(c, 2, 8);
    return queue_copy(c, (DeviceCopy){argument(c, 0, 8), argument(c, 1, 8), bytes, bytes, bytes, 1, 0}, COPY_GRID,
                      argument(c, 4, 8));
}

static cudaError_t copy_rows(const Call *c)
{
    return queue_copy(c,
                      (DeviceCopy){argument(c, 0, 8), argument(c, 2, 8), argument(c, 1, 8), argument(c, 3, 8),
                                   argument(c, 4, 8), argument(c, 5, 8), 0},
                      COPY_GRID, argument(c, 7, 8));
}

static cudaError_t fill(const Call *c)
{
    const size_t bytes = argument(c, 2, 8);
    return queue_copy(c, (DeviceCopy){argument(c, 0, 8), 0, bytes, 0, bytes, 1, (int)argument(c, 1, 4)}, FILL_GRID,
                      argument(c, 3, 8));
}

static cudaError_t fill_rows(const Call *c)
{
    return queue_copy(c,
                      (DeviceCopy){argument(c, 0, 8), 0, argument(c, 1, 8), 0, argument(c, 3, 8), argument(c, 4, 8),
                                   (int)argument(c, 2, 4)},
                      FILL_GRID, argument(c, 5, 8));
}

static void run_copy(Grid *g)
{
    const DeviceCopy *copy = &g->copy;
    for (size_t row = 0; row < copy->height; row++) {
        void *to = (void *)(uintptr_t)(copy->to + row * copy->to_pitch);
        const void *from = (const void *)(uintptr_t)(copy->from + row * copy->from_pitch);
        if (g->kind == COPY_GRID)
            sim_move_bytes(to, from, copy->width);
        else
            sim_set_bytes(to, copy->value, copy->width);
        if (g->kind == COPY_GRID)
            sim_note_family_copy(g, (uint64_t)(uintptr_t)from, copy->width, false);
        sim_note_family_copy(g, (uint64_t)(uintptr_t)to, copy->width, true);
    }
}

// ---- Questions

static cudaError_t answer(const Call *c, cudaError_t error, const void *value, size_t bytes)
{
    if (error)
        return fail(c, error, "a question to the device's runtime");
    give(c, argument(c, 0, 8), value, bytes);
    return cudaSuccess;
}

static cudaError_t get_attribute(const Call *c)
{
    const enum cudaDeviceAttr attribute = (enum cudaDeviceAttr)argument(c, 1, 4);
    const int value = sim_device_attribute(attribute);
    const cudaError_t error = !sim_is_device_attribute(attribute)          ? cudaErrorInvalidValue
                              : !sim_is_device((int)argument(c, 2, 4)) ? cudaErrorInvalidDevice
                                                                       : cudaSuccess;
    return answer(c, error, &value, sizeof value);
}

static cudaError_t get_limit(const Call *c)
{
    const enum cudaLimit limit = (enum cudaLimit)argument(c, 1, 4);
    const size_t value = sim_is_limit(limit) ? sim_limit(limit) : 0;
    return answer(c, sim_is_limit(limit) ? cudaSuccess : cudaErrorUnsupportedLimit, &value, sizeof value);
}

static cudaError_t get_device(const Call *c)
{
    return answer(c, cudaSuccess, &sim_current_device, sizeof sim_current_device);
}

static cudaError_t get_device_count(const Call *c)
{
    const int count = sim_device_count();
    return answer(c, cudaSuccess, &count, sizeof count);
}

static cudaError_t get_version(const Call *c)
{
    const int version = CUDART_VERSION;
    return answer(c, cudaSuccess, &version, sizeof version);
}

// The kernel that an argument names, and its code; or why there is none.
static cudaError_t kernel_argument(const Call *c, Kernel **kernel, const Function **f)
{
    *kernel = sim_kernel_of_code(c->grid->family->module, argument(c, 1, 8));
    return *kernel ? sim_find_kernel((*kernel)->host, kernel, f) : cudaErrorInvalidDeviceFunction;
}

static cudaError_t get_function_attributes(const Call *c)
{
    struct cudaFuncAttributes attributes;
    Kernel *kernel;
    const Function *f;
    const cudaError_t error = kernel_argument(c, &kernel, &f);
    if (!error)
        sim_describe_kernel(&attributes, kernel, f);
    return answer(c, error, &attributes, sizeof attributes);
}

static cudaError_t get_occupancy(const Call *c)
{
    int blocks = 0;
    Kernel *kernel;
    const Function *f;
    const int threads = (int)argument(c, 2, 4);
    cudaError_t error = kernel_argument(c, &kernel, &f);
    if (!error && threads < 1)
        error = cudaErrorInvalidValue;
    if (!error && threads <= MAX_THREADS)
        blocks = sim_blocks_per_sm(f, threads, argument(c, 3, 8));
    return answer(c, error, &blocks, sizeof blocks);
}

// A string of the host's, as one on the device.
static uint64_t device_text(Family *f, const char *text)
{
    struct Text *t = f->texts;
    while (t && strcmp(t->text, text) != 0)
        t = t->next;
    if (t)
        return (uint64_t)(uintptr_t)t->text;
    t = sim_allocate(&f->arena, sizeof *t);
    t->text = sim_allocate(&f->arena, strlen(text) + 1);
    t->next = f->texts;
    f->texts = t;
    strcpy(t->text, text);
    sim_register_memory(t->text, strlen(text) + 1, PARAMETER_MEMORY);
    return (uint64_t)(uintptr_t)t->text;
}

static uint64_t error_name(const Call *c)
{
    return device_text(c->grid->family, sim_error_name((cudaError_t)argument(c, 0, 4)));
}

static uint64_t error_text(const Call *c)
{
    return device_text(c->grid->family, sim_error_text((cudaError_t)argument(c, 0, 4)));
}

static cudaError_t ask_last_error(const Call *c)
{
    return last_error(c, true);
}

static cudaError_t peek_at_last_error(const Call *c)
{
    return last_error(c, false);
}

// cudaMalloc and cudaFree in a kernel are malloc and free.
static cudaError_t allocate_memory(const Call *c)
{
    void *memory;
    sim_new_allocation(argument(c, 1, 8), HEAP_MEMORY, &memory);
    if (!memory && argument(c, 1, 8))
        return fail(c, cudaErrorMemoryAllocation, "cudaMalloc in a kernel");
    give(c, argument(c, 0, 8), &memory, sizeof memory);
    return cudaSuccess;
}

static cudaError_t free_memory(const Call *c)
{
    for (int n = 0; n < c->w->block->warp_count; n++)
        c->w->block->warps[n].near = NULL; // it may be gone
    if (sim_end_allocation((void *)(uintptr_t)argument(c, 0, 8), HEAP_MEMORY) != cudaSuccess)
        return fail(c, cudaErrorInvalidValue, "cudaFree in a kernel, of what cudaMalloc in a kernel did not give");
    return cudaSuccess;
}

// ---- All calls

static const struct {
    const char *name; // behind __cudaCDP2
    int arguments;
    cudaError_t (*run)(const Call *c);
    uint64_t (*point)(const Call *c); // one that returns a pointer
    bool launches;
} CALLS[] = {{"GetParameterBufferV2", 4, .point = get_parameter_buffer},
             {"LaunchDeviceV2", 2, .run = launch, .launches = true},
             {"MemcpyAsync", 5, .run = copy, .launches = true},
             {"Memcpy2DAsync", 8, .run = copy_rows, .launches = true},
             {"MemsetAsync", 4, .run = fill, .launches = true},
             {"Memset2DAsync", 6, .run = fill_rows, .launches = true},
             {"StreamCreateWithFlags", 2, .run = create_stream},
             {"StreamDestroy", 1, .run = destroy_stream},
             {"StreamWaitEvent", 3, .run = await_event},
             {"EventCreateWithFlags", 2, .run = create_event},
             {"EventRecord", 2, .run = record_event},
             {"EventRecordWithFlags", 3, .run = record_event},
             {"EventDestroy", 1, .run = destroy_event},
             {"GetLastError", 0, .run = ask_last_error},
             {"PeekAtLastError", 0, .run = peek_at_last_error},
             {"GetErrorName", 1, .point = error_name},
             {"GetErrorString", 1, .point = error_text},
             {"DeviceGetAttribute", 3, .run = get_attribute},
             {"DeviceGetLimit", 2, .run = get_limit},
             {"GetDevice", 1, .run = get_device},
             {"GetDeviceCount", 1, .run = get_device_count},
             {"RuntimeGetVersion", 1, .run = get_version},
             {"FuncGetAttributes", 2, .run = get_function_attributes},
             {"OccupancyMaxActiveBlocksPerMultiprocessor", 4, .run = get_occupancy},
             {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 5, .run = get_occupancy},
             {"Malloc", 2, .run = allocate_memory},
             {"Free", 1, .run = free_memory}};

static void call_runtime(Warp *w, const Instr *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const Call c = {w, i, __builtin_ctz(rest), w->block->launch->family_grid};
        if (CALLS[i->op].point) {
            const uint64_t pointer = CALLS[i->op].point(&c);
            sim_return_value(w, i, c.lane, &pointer, sizeof pointer);
        } else {
            const cudaError_t error = CALLS[i->op].run(&c);
            sim_return_value(w, i, c.lane, &error, sizeof error);
        }
    }
}

bool sim_decode_device_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i)
{
    static const char PREFIX[] = "__cudaCDP2", OF_THREAD[] = "_ptsz"; // of -default-stream per-thread
    const size_t before = strlen(PREFIX), behind = strlen(OF_THREAD);
    if (name.length <= before || memcmp(name.text, PREFIX, before) != 0)
        return false;
    Slice plain = {name.text + before, name.length - before};
    if (plain.length > behind && memcmp(plain.text + plain.length - behind, OF_THREAD, behind) == 0)
        plain.length -= behind;
    for (size_t n = 0; n < sizeof CALLS / sizeof *CALLS; n++)
        if (sim_slice_is(plain, CALLS[n].name)) {
            const size_t bytes = CALLS[n].point ? sizeof(uint64_t) : sizeof(cudaError_t);
            i->run = call_runtime;
            i->op = (uint8_t)n;
            i->effects = CALLS[n].launches ? TELLS | LAUNCHES : 0;
            return call->argument_count >= CALLS[n].arguments && call->result_count == 1 &&
                   call->results[0] + bytes <= param_bytes;
        }
    return false;
}

// ---- A family

// The next of a grid's children that may begin now, as all before it have ended; NULL if there is none left.
static Grid *next_child(Grid *g)
{
    Grid **first = g->first ? &g->first : &g->first_tail, *child = *first;
    if (child)
        *first = child->next;
    return child;
}

static cudaError_t run_grid(Grid *g)
{
    size_t count = 0;
    if (g->kind != KERNEL_GRID) {
        run_copy(g);
        return cudaSuccess;
    }
    for (const Variable *v = g->launch.kernel->params; v; v = v->next)
        count++;
    void **arguments = sim_allocate(&g->family->arena, (count + 1) * sizeof *arguments);
    count = 0;
    for (const Variable *v = g->launch.kernel->params; v; v = v->next)
        arguments[count++] = g->arguments + v->address;
    return sim_launch_grid(g->launch.module, g->launch.kernel, g->launch.grid, g->launch.block, g->launch.dynamic_bytes,
                           g->family->stack_bytes, arguments, (Grouping){0}, g, g->family_check != NULL);
}

static void forget_arguments(Grid *g)
{
    if (g->arguments)
        sim_unregister_memory(g->arguments);
    g->arguments = NULL;
}

// What the grid has not launched, and never will.
static void end_grid(Grid *g)
{
    say_what_nobody_asked(g);
    sim_free_launch_check(g->check);
    for (Grid *child = g->prepared; child; child = child->next)
        forget_arguments(child);
    for (Grid *child; (child = next_child(g));)
        forget_arguments(child);
}

cudaError_t sim_launch_family(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                              size_t stack_bytes, void **arguments, Grouping grouping)
{
    Family family = {.module = module, .stack_bytes = stack_bytes};
    Grid *running = sim_allocate(&family.arena, sizeof *running);
    running->family = &family;
    FamilyCheck *check = running->family_check = sim_start_family_check(kernel);
    running->launch = (Launch){.module = module, .kernel = kernel, .grid = grid, .block = block};
    cudaError_t error =
        sim_launch_grid(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, grouping, running,
                        check != NULL);
    while (running) {
        Grid *child = error ? NULL : next_child(running);
        if (!child) {
            end_grid(running);
            running = running->parent;
            continue;
        }
        family.pending--;
        error = run_grid(child);
        forget_arguments(child);
        running = child;
    }
    for (const struct Text *t = family.texts; t; t = t->next)
        sim_unregister_memory(t->text);
    sim_end_family_check(check);
    sim_free_arena(&family.arena);
    sim_say_findings();
    return error;
}

cudaError_t sim_launch_grouped(const Module *module, const Function *kernel, dim3 grid, dim3 block,
                               size_t dynamic_bytes, size_t stack_bytes, void **arguments, Grouping grouping)
{
    if (module->launches_kernels)
        return sim_launch_family(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, grouping);
    return sim_launch_grid(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, grouping, NULL, false);
}

cudaError_t sim_launch(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                       size_t stack_bytes, void **arguments)
{
    return sim_launch_grouped(module, kernel, grid, block, dynamic_bytes, stack_bytes, arguments, (Grouping){0});
}
