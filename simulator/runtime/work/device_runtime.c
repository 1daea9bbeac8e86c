// device_runtime.c: the functions of the device runtime.
#include "runtime/work/device_call.h"
#include "runtime/work/limits.h"
#include "runtime/work/properties.h"
#include "runtime/work/work.h"

#include <string.h>

// ---- Queries

static cudaError_t store_answer(const Call *c, cudaError_t error, const void *value, size_t bytes)
{
    if (error)
        return sim_set_device_error(c, error, "a question to the device's runtime");
    sim_store_for_lane(c, sim_argument(c, 0, 8), value, bytes);
    return cudaSuccess;
}

static cudaError_t get_attribute(const Call *c)
{
    const enum cudaDeviceAttr attribute = (enum cudaDeviceAttr)sim_argument(c, 1, 4);
    const int value = sim_device_attribute(attribute);
    const cudaError_t error = !sim_is_device_attribute(attribute)          ? cudaErrorInvalidValue
                              : !sim_is_device((int)sim_argument(c, 2, 4)) ? cudaErrorInvalidDevice
                                                                       : cudaSuccess;
    return store_answer(c, error, &value, sizeof value);
}

static cudaError_t get_limit(const Call *c)
{
    const enum cudaLimit limit = (enum cudaLimit)sim_argument(c, 1, 4);
    const size_t value = sim_is_limit(limit) ? sim_limit(limit) : 0;
    return store_answer(c, sim_is_limit(limit) ? cudaSuccess : cudaErrorUnsupportedLimit, &value, sizeof value);
}

static cudaError_t get_device(const Call *c)
{
    return store_answer(c, cudaSuccess, &sim_current_device, sizeof sim_current_device);
}

static cudaError_t get_device_count(const Call *c)
{
    const int count = sim_device_count();
    return store_answer(c, cudaSuccess, &count, sizeof count);
}

static cudaError_t get_version(const Call *c)
{
    const int version = CUDART_VERSION;
    return store_answer(c, cudaSuccess, &version, sizeof version);
}

// Finds the kernel of an argument, and its function.
static cudaError_t kernel_argument(const Call *c, Kernel **kernel, const Function **f)
{
    const uint64_t code = sim_argument(c, 1, 8);
    *kernel = sim_kernel_of_code(c->grid->nested_launch->module, code);
    *f = (const Function *)(uintptr_t)code;
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

static cudaError_t get_function_attributes(const Call *c)
{
    struct cudaFuncAttributes attributes;
    Kernel *kernel;
    const Function *f;
    const cudaError_t error = kernel_argument(c, &kernel, &f);
    if (!error)
        sim_describe_kernel(&attributes, kernel, f);
    return store_answer(c, error, &attributes, sizeof attributes);
}

static cudaError_t get_occupancy(const Call *c)
{
    int blocks = 0;
    Kernel *kernel;
    const Function *f;
    const int threads = (int)sim_argument(c, 2, 4);
    cudaError_t error = kernel_argument(c, &kernel, &f);
    if (!error && threads < 1)
        error = cudaErrorInvalidValue;
    if (!error && threads <= MAX_THREADS)
        blocks = sim_blocks_per_sm(f, threads, sim_argument(c, 3, 8));
    return store_answer(c, error, &blocks, sizeof blocks);
}

// Copies a string to device memory; returns its address.
static uint64_t copy_text_to_device(NestedLaunch *f, const char *text)
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
    return copy_text_to_device(c->grid->nested_launch, sim_error_name((cudaError_t)sim_argument(c, 0, 4)));
}

static uint64_t error_text(const Call *c)
{
    return copy_text_to_device(c->grid->nested_launch, sim_error_text((cudaError_t)sim_argument(c, 0, 4)));
}

static cudaError_t get_last_error(const Call *c)
{
    return sim_get_device_error(c, true);
}

static cudaError_t peek_at_last_error(const Call *c)
{
    return sim_get_device_error(c, false);
}

// cudaMalloc and cudaFree in a kernel are malloc and free.
static cudaError_t allocate_memory(const Call *c)
{
    void *memory;
    sim_new_allocation(sim_argument(c, 1, 8), HEAP_MEMORY, &memory);
    if (!memory && sim_argument(c, 1, 8))
        return sim_set_device_error(c, cudaErrorMemoryAllocation, "cudaMalloc in a kernel");
    sim_store_for_lane(c, sim_argument(c, 0, 8), &memory, sizeof memory);
    return cudaSuccess;
}

static cudaError_t free_memory(const Call *c)
{
    for (int n = 0; n < c->w->block->warp_count; n++)
        c->w->block->warps[n].last_allocation = NULL; // the allocation may be freed below
    if (sim_free_allocation((void *)(uintptr_t)sim_argument(c, 0, 8), HEAP_MEMORY) != cudaSuccess)
        return sim_set_device_error(
            c, cudaErrorInvalidValue,
            "cudaFree in a kernel, of what cudaMalloc in a kernel did not give");
    return cudaSuccess;
}

// ---- The table of calls

static const struct {
    const char *name; // after the prefix __cudaCDP2
    int arguments;
    cudaError_t (*run)(const Call *c);
    uint64_t (*return_pointer)(const Call *c); // a call that returns a pointer
    bool launches;
} CALLS[] = {{"GetParameterBufferV2", 4, .return_pointer = sim_device_parameter_buffer},
             {"LaunchDeviceV2", 2, .run = sim_device_launch, .launches = true},
             {"MemcpyAsync", 5, .run = sim_device_copy, .launches = true},
             {"Memcpy2DAsync", 8, .run = sim_device_copy_rows, .launches = true},
             {"MemsetAsync", 4, .run = sim_device_fill, .launches = true},
             {"Memset2DAsync", 6, .run = sim_device_fill_rows, .launches = true},
             {"StreamCreateWithFlags", 2, .run = sim_device_create_stream},
             {"StreamDestroy", 1, .run = sim_device_destroy_stream},
             {"StreamWaitEvent", 3, .run = sim_device_await_event},
             {"EventCreateWithFlags", 2, .run = sim_device_create_event},
             {"EventRecord", 2, .run = sim_device_record_event},
             {"EventRecordWithFlags", 3, .run = sim_device_record_event},
             {"EventDestroy", 1, .run = sim_device_destroy_event},
             {"GetLastError", 0, .run = get_last_error},
             {"PeekAtLastError", 0, .run = peek_at_last_error},
             {"GetErrorName", 1, .return_pointer = error_name},
             {"GetErrorString", 1, .return_pointer = error_text},
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
        const Call c = {w, i, __builtin_ctz(rest), w->block->launch->nested_grid};
        if (CALLS[i->op].return_pointer) {
            const uint64_t pointer = CALLS[i->op].return_pointer(&c);
            sim_return_value(w, i, c.lane, &pointer, sizeof pointer);
        } else {
            const cudaError_t error = CALLS[i->op].run(&c);
            sim_return_value(w, i, c.lane, &error, sizeof error);
        }
    }
}

bool sim_decode_device_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i)
{
    static const char PREFIX[] = "__cudaCDP2", PER_THREAD_SUFFIX[] = "_ptsz"; // suffix with -default-stream per-thread
    const size_t prefix_length = strlen(PREFIX), suffix_length = strlen(PER_THREAD_SUFFIX);
    if (name.length <= prefix_length || memcmp(name.text, PREFIX, prefix_length) != 0)
        return false;
    Slice base_name = {name.text + prefix_length, name.length - prefix_length};
    if (base_name.length > suffix_length && memcmp(base_name.text + base_name.length - suffix_length, PER_THREAD_SUFFIX, suffix_length) == 0)
        base_name.length -= suffix_length;
    for (size_t n = 0; n < sizeof CALLS / sizeof *CALLS; n++)
        if (sim_slice_is(base_name, CALLS[n].name)) {
            const size_t bytes = CALLS[n].return_pointer ? sizeof(uint64_t) : sizeof(cudaError_t);
            i->run = call_runtime;
            i->op = (uint8_t)n;
            i->effects = CALLS[n].launches ? PUBLISHES | LAUNCHES : 0;
            return call->argument_count >= CALLS[n].arguments && call->result_count == 1 &&
                   call->results[0] + bytes <= param_bytes;
        }
    return false;
}
