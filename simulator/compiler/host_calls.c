// host_calls.c: CUDA runtime functions in evaluated host code.
#include "compiler/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/intrinsics.h"
#include "compiler/mangle.h"

enum { INVALID_VALUE = 1, MEMORY_ALLOCATION = 2 }; // values of cudaError_t
static const uint64_t MAX_ALLOCATION_BYTES = (uint64_t)1 << 32;
static const uint64_t MAX_WRITTEN_BYTES = (uint64_t)256 << 20;

bool host_fail(const HostCall *call, const char *help, const char *format, ...)
{
    char text[400];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!call->v->reason)
        call->host->help = help;
    return evaluate_fail(call->v, call->e, compile_copy_text(call->host->compiler, text, strlen(text)));
}

static bool fail_with(Constant *value, Host *h, int error)
{
    h->last_error = error;
    *value = (Constant){.integer = error};
    return true;
}

// ---- Device memory

static bool is_variable_on_device(const Variable *variable)
{
    return variable->name && (variable->space == SPACE_DEVICE || variable->space == SPACE_CONSTANT || variable->space == SPACE_MANAGED);
}

static bool is_allocation(const Host *h, const Variable *variable)
{
    return !variable->name && variable->space == SPACE_DEVICE && variable->order < h->allocation_count && h->allocations[variable->order].memory == variable;
}

bool host_is_on_device(const Host *h, const Constant *pointer, uint64_t bytes, uint64_t *bytes_there)
{
    const Variable *variable = pointer->variable;
    if (!variable || !(is_allocation(h, variable) || is_variable_on_device(variable)))
        return false;
    const uint64_t size = variable->type->size;
    const bool is_inside = pointer->integer >= 0 && (uint64_t)pointer->integer <= size;
    *bytes_there = is_inside ? size - (uint64_t)pointer->integer : 0;
    return is_inside && bytes <= *bytes_there;
}

void host_write_position(Host *h, const Constant *pointer)
{
    if (is_allocation(h, pointer->variable))
        fprintf(h->calls, "%u+%" PRId64, pointer->variable->order, pointer->integer);
    else
        fprintf(h->calls, "0:%s+%" PRId64, mangle_variable(h->compiler, pointer->variable), pointer->integer);
}

// Determines whether a pointer is to device memory; fails if it is but the bytes are out of bounds.
static bool check_device_range(const HostCall *call, const Constant *pointer, uint64_t bytes, bool *is_on_device)
{
    uint64_t there = 0;
    *is_on_device = host_is_on_device(call->host, pointer, bytes, &there);
    const Variable *variable = pointer->variable;
    if (*is_on_device || !variable || !(is_allocation(call->host, variable) || is_variable_on_device(variable)))
        return true;
    return host_fail(call, NULL, "this call needs %" PRIu64 " bytes of device memory, and there are %" PRIu64, bytes, there);
}

static uint64_t hash_of(const unsigned char *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ bytes[k]) * 0x100000001b3;
    return (hash ^ count) * 0x100000001b3;
}

uint64_t host_write_bytes(Host *h, const void *bytes, size_t count)
{
    const uint64_t hash = hash_of(bytes, count);
    fprintf(h->data, "bytes %016" PRIx64 " %zu\n", hash, count);
    fwrite(bytes, 1, count, h->data);
    fputc('\n', h->data);
    h->bytes_written += count;
    return hash;
}

static bool run_malloc(const HostCall *call, Constant *value) // void **pointer, size_t bytes
{
    Host *h = call->host;
    Compiler *c = h->compiler;
    const uint64_t bytes = (uint64_t)call->arguments[1].integer;
    Type *pointer_type = type_pointer(c, type_basic(c, TYPE_VOID));
    Constant pointer = {0};
    *value = (Constant){0};
    if (bytes > MAX_ALLOCATION_BYTES)
        return host_fail(call, NULL, "cudaMalloc of %" PRIu64 " bytes: that is more than the page's device has", bytes);
    if (bytes) {
        Variable *memory = compile_new(c, Variable);
        *memory = (Variable){.type = type_array(c, type_basic(c, TYPE_UNSIGNED_CHAR), bytes), .space = SPACE_DEVICE, .order = h->allocation_count};
        fprintf(h->calls, "allocate %u device %" PRIu64 " cudaMalloc\n", memory->order, bytes);
        *compile_push(c, h->allocations, h->allocation_count, h->allocation_capacity) = (HostAllocation){memory, false};
        pointer.variable = memory;
    }
    return evaluate_write(call->v, call->e, call->arguments[0], pointer_type, &pointer);
}

static bool run_free(const HostCall *call, Constant *value)
{
    Host *h = call->host;
    const Constant *pointer = &call->arguments[0];
    *value = (Constant){0};
    if (!pointer->variable && !pointer->integer)
        return true;
    if (!pointer->variable || pointer->integer || !is_allocation(h, pointer->variable) || h->allocations[pointer->variable->order].is_freed)
        return host_fail(call, NULL, "cudaFree of what cudaMalloc has not returned, or of what was freed before");
    h->allocations[pointer->variable->order].is_freed = true;
    fprintf(h->calls, "free %u\n", pointer->variable->order);
    return true;
}

static bool run_memset(const HostCall *call, Constant *value)
{
    const uint64_t bytes = (uint64_t)call->arguments[2].integer;
    bool is_on_device;
    *value = (Constant){0};
    if (bytes == 0)
        return true;
    if (!check_device_range(call, &call->arguments[0], bytes, &is_on_device))
        return false;
    if (!is_on_device)
        return host_fail(call, NULL, "cudaMemset needs a pointer to device memory");
    fputs("fill ", call->host->calls);
    host_write_position(call->host, &call->arguments[0]);
    fprintf(call->host->calls, " %" PRIu64 " %d\n", bytes, (int)(call->arguments[1].integer & 0xff));
    return true;
}

// Writes a line `verb`: "write" for bytes that the host copies to the device, "read" for those that it expects there.
static bool write_host_bytes(const HostCall *call, const char *verb, uint64_t bytes)
{
    Host *h = call->host;
    const Constant *from = &call->arguments[1];
    if (!from->variable || !host_fill_variable(call->v, from->variable) || !from->variable->bytes || from->integer < 0 ||
        (uint64_t)from->integer + bytes > from->variable->type->size)
        return host_fail(call, NULL, "a copy of %" PRIu64 " bytes: the host has fewer there", bytes);
    if (h->bytes_written + bytes > MAX_WRITTEN_BYTES)
        return host_fail(call, NULL, "the host copies more to the device than the page can hold");
    const uint64_t name = host_write_bytes(h, from->variable->bytes + from->integer, bytes);
    fprintf(h->calls, "%s ", verb);
    host_write_position(h, &call->arguments[0]);
    fprintf(h->calls, " %" PRIu64 " %016" PRIx64 "\n", bytes, name);
    return true;
}

static bool run_expected(const HostCall *call, Constant *value) // from, the host's values, bytes
{
    const uint64_t bytes = (uint64_t)call->arguments[2].integer;
    bool is_on_device;
    *value = (Constant){0};
    return check_device_range(call, &call->arguments[0], bytes, &is_on_device) && write_host_bytes(call, "read", bytes);
}

static bool run_memcpy(const HostCall *call, Constant *value) // to, from, bytes, kind
{
    Host *h = call->host;
    const uint64_t bytes = (uint64_t)call->arguments[2].integer;
    bool to_device, from_device;
    *value = (Constant){0};
    if (bytes == 0)
        return true;
    if (!check_device_range(call, &call->arguments[0], bytes, &to_device) || !check_device_range(call, &call->arguments[1], bytes, &from_device))
        return false;
    if (to_device && !from_device)
        return write_host_bytes(call, "write", bytes);
    if (!to_device && from_device)
        return host_fail(call, "let the kernel decide, or the next launch",
                         "the page runs the kernels after the host code, so the host cannot read a kernel's result here");
    if (!to_device)
        return host_fail(call, NULL, "cudaMemcpy between two places of the host: use a loop");
    fputs("copy ", h->calls);
    host_write_position(h, &call->arguments[0]);
    fputc(' ', h->calls);
    host_write_position(h, &call->arguments[1]);
    fprintf(h->calls, " %" PRIu64 "\n", bytes);
    return true;
}

// ---- Queries

static bool write_int(const HostCall *call, Constant address, int64_t number)
{
    const Constant value = {.integer = number};
    return evaluate_write(call->v, call->e, address, type_basic(call->host->compiler, TYPE_INT), &value);
}

static const char *kernel_name(const HostCall *call, uint32_t argument)
{
    Function *f = call->arguments[argument].function;
    return f && f->is_kernel ? mangle_function(call->host->compiler, f) : NULL;
}

static bool run_get_attribute(const HostCall *call, Constant *value)
{
    const HostDevice *device = call->host->compiler->options->device;
    *value = (Constant){0};
    return write_int(call, call->arguments[0], device->attribute(device->context, (int)call->arguments[1].integer));
}

static bool run_occupancy(const HostCall *call, Constant *value) // blocks, kernel, threads, bytes
{
    const HostDevice *device = call->host->compiler->options->device;
    const char *name = kernel_name(call, 1);
    const int64_t threads = call->arguments[2].integer;
    if (!name || threads < 1)
        return fail_with(value, call->host, INVALID_VALUE);
    *value = (Constant){0};
    return write_int(call, call->arguments[0], device->resident_blocks(device->context, name, (int)threads, (uint64_t)call->arguments[3].integer));
}

static bool run_function_attributes(const HostCall *call, Constant *value)
{
    const HostDevice *device = call->host->compiler->options->device;
    const char *name = kernel_name(call, 1);
    HostKernelFacts facts;
    if (!name || !device->describe(device->context, name, &facts))
        return fail_with(value, call->host, INVALID_VALUE);
    const uint64_t sizes[] = {facts.shared_bytes, 0, facts.local_bytes}; // as in struct cudaFuncAttributes
    const int numbers[] = {facts.max_threads, facts.registers, facts.ptx_version, facts.ptx_version};
    Constant at = call->arguments[0];
    *value = (Constant){0};
    if (!at.variable || !at.variable->bytes || at.variable->type->size < (uint64_t)at.integer + sizeof sizes + sizeof numbers)
        return host_fail(call, NULL, "cudaFuncGetAttributes needs the address of a cudaFuncAttributes");
    memcpy(at.variable->bytes + at.integer, sizes, sizeof sizes);
    memcpy(at.variable->bytes + at.integer + sizeof sizes, numbers, sizeof numbers);
    return true;
}

static bool run_set_function_attribute(const HostCall *call, Constant *value) // kernel, attribute, value
{
    enum { DYNAMIC_SHARED_BYTES = 8, LARGE_CLUSTERS = 14, SHARED_OPTIN = 97 };
    const HostDevice *device = call->host->compiler->options->device;
    const Function *f = call->arguments[0].function;
    const char *name = kernel_name(call, 0);
    HostKernelFacts facts;
    if (!name || !device->describe(device->context, name, &facts))
        return fail_with(value, call->host, INVALID_VALUE);
    const int64_t number = call->arguments[2].integer, limit = device->attribute(device->context, SHARED_OPTIN) - (int64_t)facts.shared_bytes;
    HostKernel *kernel = host_kernel(call->host, f);
    *value = (Constant){0};
    if (call->arguments[1].integer == LARGE_CLUSTERS)
        kernel->non_portable_clusters = number != 0;
    if (call->arguments[1].integer != DYNAMIC_SHARED_BYTES)
        return true;
    if (number < 0 || number > limit)
        return fail_with(value, call->host, INVALID_VALUE);
    kernel->dynamic_shared_bytes = number;
    return true;
}

static bool run_last_error(const HostCall *call, Constant *value)
{
    *value = (Constant){.integer = call->host->last_error};
    call->host->last_error = 0;
    return true;
}

static bool run_peek_error(const HostCall *call, Constant *value)
{
    *value = (Constant){.integer = call->host->last_error};
    return true;
}

// ---- C library functions, and functions of the harness

static bool run_nothing(const HostCall *call, Constant *value)
{
    (void)call;
    *value = (Constant){0};
    return true;
}

static bool run_exit(const HostCall *call, Constant *value)
{
    *value = (Constant){0};
    return host_fail(call, NULL, "the host code ends the program here: exit(%d)", (int)call->arguments[0].integer);
}

static const char *text_at(const Constant *pointer)
{
    const Variable *variable = pointer->variable;
    return variable && variable->bytes && pointer->integer >= 0 && (uint64_t)pointer->integer < variable->type->size
               ? (const char *)variable->bytes + pointer->integer : "";
}

static bool run_check(const HostCall *call, Constant *value) // error, call
{
    *value = (Constant){0};
    const int error = (int)call->arguments[0].integer;
    return error == 0 || host_fail(call, NULL, "%s returns the error %d (%s)", text_at(&call->arguments[1]), error,
                                   error == MEMORY_ALLOCATION ? "out of memory" : "invalid argument");
}

// A message that begins with a function's name is reported at that function.
static bool run_require(const HostCall *call, Constant *value) // condition, message
{
    Evaluator *v = call->v;
    const char *message = text_at(&call->arguments[1]);
    *value = (Constant){0};
    if (call->arguments[0].integer)
        return true;
    host_fail(call, NULL, "%s", message);
    const Function *subject = host_function_of_source(v->compiler, compile_copy_text(v->compiler, message, strcspn(message, "(")));
    if (subject) {
        v->at = subject->position;
        v->length = subject->name->length;
    }
    return false;
}

HostFunction *host_function_named(const char *name)
{
    static const struct {
        const char *name;
        HostFunction *run;
    } functions[] = {
        {"cudaMalloc", run_malloc}, {"cudaFree", run_free}, {"cudaMemset", run_memset}, {"cudaMemcpy", run_memcpy},
        {"cudaDeviceGetAttribute", run_get_attribute}, {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", run_occupancy},
        {"cudaOccupancyMaxActiveClusters", host_max_clusters},
        {"cudaFuncGetAttributes", run_function_attributes}, {"cudaFuncSetAttribute", run_set_function_attribute},
        {"cudaGetLastError", run_last_error}, {"cudaPeekAtLastError", run_peek_error}, {"cudaLaunchKernelEx", host_launch_ex},
        {"fprintf", run_nothing}, {"printf", run_nothing}, {"exit", run_exit}, {"host_check", run_check}, {"host_require", run_require},
        {"host_sum_data", host_sum_data}, {"host_sum_expected", host_sum_expected}, {"host_scan_data", host_scan_data},
        {"host_scan_expected", host_scan_expected}, {"host_expected", run_expected},
    };
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, name))
            return functions[k].run;
    return NULL;
}

// ---- Calls

// Minima and maxima, the only intrinsics that host code may call.
static bool run_intrinsic(const HostCall *call, const Intrinsic *row, Constant *value)
{
    const bool is_min = !strncmp(row->name, "__i_min_of", 10) || !strncmp(row->name, "fmin", 4);
    if (!is_min && strncmp(row->name, "__i_max_of", 10) && strncmp(row->name, "fmax", 4))
        return host_fail(call, NULL, "the host code of a page cannot call this function");
    const Constant *a = &call->arguments[0], *b = &call->arguments[1];
    const Type *type = call->e->type;
    const bool a_is_less = type_is_real(type) ? a->real < b->real || isnan(b->real)
                           : type_is_signed(type) ? a->integer < b->integer : (uint64_t)a->integer < (uint64_t)b->integer;
    *value = a_is_less == is_min ? *a : *b;
    return true;
}

static bool evaluate_argument(Evaluator *v, const Function *f, uint32_t k, Expression *e, Constant *value)
{
    const Type *type = k < f->type->parameter_count ? f->type->parameters[k] : e->type;
    return type_is_any_reference(type) || type->kind == TYPE_RECORD ? evaluate_lvalue(v, expression_lvalue(v->compiler, e), value)
                                                                    : evaluate_scalar(v, e, value);
}

bool host_call(Evaluator *v, Expression *e, Constant *value)
{
    Function *f = e->function;
    const HostCall call = {.v = v, .host = v->host, .e = e, .count = e->argument_count,
                           .arguments = compile_allocate(v->compiler, (e->argument_count + 1) * sizeof(Constant))};
    const SourceFile *file = source_file_at(v->compiler, f->position);
    const bool is_own = !f->intrinsic && file && !file->built_in;
    HostFunction *run = is_own || !f->name ? NULL : host_function_named(f->name->text);
    if (is_own)
        return host_fail(&call, compile_format(v->compiler, "define %s", function_readable(v->compiler, f)),
                         "the function '%s' is declared with these parameters, but not defined", f->name->text);
    for (uint32_t k = 0; k < e->argument_count; k++)
        if (!evaluate_argument(v, f, k, e->arguments[k], &call.arguments[k]))
            return false;
    if (run)
        return run(&call, value);
    if (f->intrinsic)
        return run_intrinsic(&call, f->intrinsic, value);
    return host_fail(&call, NULL, "the host code of a page cannot call '%s'", f->name ? f->name->text : "this function");
}
