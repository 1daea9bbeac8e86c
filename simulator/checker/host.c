// host.c: findings about what the host does: wrong pointers and ranges in its calls, invalid frees, accesses of device memory, and,
// at the program's end, memory leaks and kernels that had no effect.
//
// Two messages are no findings: a program that ends with status 0, has kernels and has copied data, but has launched none; and
// kernels that all ran without writing anything while results were copied from the device. A filter may have nothing to keep.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/kernel_checks.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *ending(int number) // of an ordinal number
{
    const bool teen = number / 10 % 10 == 1;
    return teen ? "th" : number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

// ---- Allocations

enum { MAX_CALLS = 16 };

static struct {
    const char *call;
    int count;
} counted[MAX_CALLS]; // allocating functions, and how often each was called

static int next_number(const char *call)
{
    for (int k = 0; k < MAX_CALLS; k++) {
        if (!counted[k].call)
            counted[k].call = call;
        if (strcmp(counted[k].call, call) == 0)
            return ++counted[k].count;
    }
    return 0;
}

void sim_note_allocation(Allocation *a, const char *call)
{
    a->call = call;
    a->call_number = next_number(call);
    a->allocation_stack = sim_checker_enabled() ? sim_call_stack_id() : 0;
}

void sim_note_free(const void *pointer)
{
    Allocation *a = sim_checker_enabled() ? sim_allocation_at((uint64_t)(uintptr_t)pointer) : NULL;
    if (a && a->address == (uint64_t)(uintptr_t)pointer)
        a->free_stack = sim_call_stack_id();
}

static struct {
    const char *call; // NULL: none has failed
    int number;
    size_t bytes;
} failed; // the last allocation that failed

void sim_note_failed_allocation(const char *call, size_t bytes)
{
    failed.call = call;
    failed.number = next_number(call);
    failed.bytes = bytes;
}

void sim_describe_allocation(const Allocation *a, char *text, size_t space)
{
    const char *what = a->kind == MODULE_MEMORY ? "device variable" : a->kind == HEAP_MEMORY ? "allocation of a kernel's malloc()" : "allocation";
    snprintf(text, space, "a %zu-byte %s", a->bytes, what);
}

// Appends a line to a hint.
static void add_line(char *hint, const char *format, ...)
{
    va_list arguments;
    char line[HINT_BYTES];
    const size_t used = strlen(hint);
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    snprintf(hint + used, HINT_BYTES - used, "%s%s", used && line[0] ? "\n" : "", line);
}

// ", at a.cu:17"; empty if the line is not known.
static void describe_site(int site, char *text, size_t space)
{
    Place p = {.line = 0};
    text[0] = 0;
    if (site && sim_set_line_of_stack(site, &p) && p.line > 0)
        snprintf(text, space, ", at %s:%d", sim_relative_name(p.file), p.line);
}

static void add_allocated_note(const char *call, int number, int site, char *hint)
{
    char at[450];
    describe_site(site, at, sizeof at);
    if (call)
        add_line(hint, "note: allocated by the %d%s %s%s", number, ending(number), call, at);
}

void sim_add_allocation_note(const Allocation *a, char *hint)
{
    add_allocated_note(a->call, a->call_number, a->allocation_stack, hint);
}

// ---- What lies at an address

enum { NULL_BYTES = 65536 }; // up to here an address is taken for an element of an array at a null pointer
static const uint64_t FAR_BYTES = 1ull << 36; // no allocation is named from further away
static const int64_t TWO_31 = 1ll << 31;

static void describe_null(uint64_t address, AddressText *d)
{
    if (address)
        snprintf(d->text, sizeof d->text, "%llu bytes past a null pointer", (unsigned long long)address);
    else
        snprintf(d->text, sizeof d->text, "a null pointer");
    add_line(d->hint, failed.call ? "check whether the allocation has failed" : "allocate the memory first, or check the pointer");
    if (failed.call)
        add_line(d->hint, "note: the %d%s %s, of %zu bytes, failed", failed.number, ending(failed.number), failed.call, failed.bytes);
}

// What the host has at the address; NULL: nothing.
static const char *host_memory_at(uint64_t address)
{
    FILE *maps = sim_open_maps();
    const char *found = NULL;
    char line[4400];
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long long begin, end;
        char rights[8];
        if (sscanf(line, "%llx-%llx %7s", &begin, &end, rights) != 3 || address < begin || address >= end ||
            rights[0] != 'r')
            continue;
        found = strstr(line, "[stack]")  ? "host memory (a local variable)"
                : strstr(line, "[heap]") ? "host memory (malloc or new)"
                : strchr(line, '/')      ? "host memory (a global variable or a constant)"
                                         : "host memory (malloc or new)";
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool holds(const Allocation *a, uint64_t address)
{
    return a && address - a->address < a->bytes;
}

// Why the device may not access a byte of reserved addresses.
static const char *why_closed(const Allocation *a, uint64_t address)
{
    if (!a->granules)
        return "";
    return a->granules[(address - a->address) / SIM_GRANULE].physical ? ", to which cuMemSetAccess has not given this device access"
                                                                   : ", to which cuMemMap has mapped no memory";
}

static bool is_named(const Allocation *a)
{
    return a && a->kind != PARAMETER_MEMORY;
}

// The distance of an address outside of an allocation.
static void describe_distance(uint64_t address, const Allocation *a, AddressText *d)
{
    char bytes[100];
    sim_describe_allocation(a, bytes, sizeof bytes);
    if (address < a->address)
        snprintf(d->text, sizeof d->text, "%llu bytes before %s", (unsigned long long)(a->address - address), bytes);
    else
        snprintf(d->text, sizeof d->text, "%llu bytes past the end of %s", (unsigned long long)(address - a->address - a->bytes), bytes);
}

// The allocation that begins or ends nearest to an address that none holds; NULL if there is none within FAR_BYTES.
static const Allocation *nearest_to(uint64_t address)
{
    const Allocation *below = sim_allocation_at(address), *above = sim_allocation_above(address);
    while (below && !is_named(below))
        below = below->address ? sim_allocation_at(below->address - 1) : NULL;
    while (above && !is_named(above))
        above = sim_allocation_above(above->address);
    const uint64_t after = below ? address - below->address - below->bytes : UINT64_MAX,
                   before = above ? above->address - address : UINT64_MAX;
    return (before < after ? before : after) < FAR_BYTES ? before < after ? above : below : NULL;
}

// Whether the nearest allocation says more about an address than what the host has there. Without pages, memory that host and device
// share is in no range of its own: there the bytes right after an allocation count.
static bool is_gap(uint64_t address)
{
    enum { RIGHT_AFTER = 65536 };
    const void *pointer = (const void *)(uintptr_t)address;
    const Allocation *below = sim_allocation_at(address);
    return sim_in_device_range(pointer) || sim_in_shared_range(pointer) ||
           (!sim_has_pages() && below && address - below->address - below->bytes < RIGHT_AFTER);
}

static void describe_unallocated(uint64_t address, AddressText *d)
{
    const Allocation *near = nearest_to(address);
    if (!near) {
        snprintf(d->text, sizeof d->text, "an unallocated address");
        return;
    }
    describe_distance(address, near, d);
    add_line(d->hint, "check the index before the access");
    sim_add_allocation_note(near, d->hint);
}

static void add_freed_notes(const FreedAllocation *f, char *hint)
{
    char at[450];
    add_allocated_note(f->call, f->call_number, f->allocation_stack, hint);
    describe_site(f->free_stack, at, sizeof at);
    add_line(hint, "note: freed by %s%s", f->freed_by, at);
}

FindingKind sim_describe_address(uint64_t address, AddressText *d)
{
    char bytes[100];
    const Allocation *a = sim_allocation_at(address);
    const FreedAllocation *gone = sim_freed_at(address);
    *d = (AddressText){.text = ""};
    if (address < NULL_BYTES) {
        describe_null(address, d);
        return OUT_OF_BOUNDS;
    }
    if (holds(a, address)) {
        sim_describe_allocation(a, bytes, sizeof bytes);
        snprintf(d->text, sizeof d->text, "byte %llu of %s%s", (unsigned long long)(address - a->address), bytes, why_closed(a, address));
        sim_add_allocation_note(a, d->hint);
        return OUT_OF_BOUNDS;
    }
    if (gone) {
        snprintf(d->text, sizeof d->text, "byte %llu of a freed %zu-byte allocation", (unsigned long long)(address - gone->address),
                 gone->bytes);
        add_line(d->hint, "free it after its last use");
        add_freed_notes(gone, d->hint);
        return USE_AFTER_FREE;
    }
    const char *host = is_gap(address) ? NULL : host_memory_at(address);
    if (host) {
        snprintf(d->text, sizeof d->text, "%s", host);
        add_line(d->hint, "use a pointer from cudaMalloc or cudaMallocManaged");
        return HOST_POINTER;
    }
    describe_unallocated(address, d);
    return OUT_OF_BOUNDS;
}

// ---- Where the pointer of a kernel's access came from, as far as the arguments show it

static uint64_t argument_at(const Launch *launch, size_t offset)
{
    uint64_t value;
    memcpy(&value, launch->params + offset, sizeof value);
    return value;
}

// Whether an argument, or a member of one, points into a freed allocation.
static bool points_into(const Launch *launch, const FreedAllocation *f)
{
    for (size_t k = 0; k + 8 <= launch->kernel->kernel_param_bytes; k += 8)
        if (argument_at(launch, k) - f->address < f->bytes)
            return true;
    return false;
}

// Whether an index of 32 bits that overflowed leads from the pointer to the address: with 2^32 added it is in the allocation, or it
// has just passed 2^31.
static bool is_overflow(const Allocation *a, uint64_t pointer, uint64_t address, int64_t element)
{
    const int64_t distance = (int64_t)(address - pointer), index = distance / element, just_passed = 1 << 28;
    if (distance % element || index >= 0 || index < -TWO_31)
        return false;
    const uint64_t meant = pointer + (uint64_t)((index + 2 * TWO_31) * element);
    return index < -TWO_31 + just_passed || meant - a->address < a->bytes;
}

// The allocation that an overflowed index has left; NULL: it was no such index.
static const Allocation *overflowed(const Launch *launch, uint64_t address, const Instr *i)
{
    const int64_t sizes[] = {(int64_t)i->bytes * (i->kind == LOAD || i->kind == STORE ? i->count : 1), i->bytes, 1};
    for (size_t k = 0; k + 8 <= launch->kernel->kernel_param_bytes; k += 8) {
        const uint64_t pointer = argument_at(launch, k);
        const Allocation *a = sim_allocation_at(pointer);
        for (int n = 0; n < 3 && holds(a, pointer) && is_named(a); n++)
            if (sizes[n] > 0 && is_overflow(a, pointer, address, sizes[n]))
                return a;
    }
    return NULL;
}

FindingKind sim_describe_access(const Launch *launch, const Instr *i, uint64_t address, AddressText *d)
{
    const Allocation *overflow = address < NULL_BYTES || holds(sim_allocation_at(address), address) ? NULL : overflowed(launch, address, i);
    const FreedAllocation *gone = sim_freed_at(address);
    if (overflow) {
        *d = (AddressText){.text = ""};
        describe_distance(address, overflow, d);
        add_line(d->hint, "compute the index in 64 bits (size_t or long long): a 32-bit integer overflows at 2^31");
        sim_add_allocation_note(overflow, d->hint);
        return OUT_OF_BOUNDS;
    }
    const FindingKind kind = sim_describe_address(address, d);
    if (kind != USE_AFTER_FREE || points_into(launch, gone))
        return kind;
    d->hint[0] = 0;
    describe_unallocated(address, d);
    add_line(d->hint, "note: a freed %zu-byte allocation was here, but no argument points to it", gone->bytes);
    add_freed_notes(gone, d->hint);
    return OUT_OF_BOUNDS;
}

// ---- Wrong pointers in calls

static const char BYTES_HINT[] = "pass the size in bytes: the number of elements times sizeof the element";

// access: "cudaMemcpy" or "cudaMemcpy of 400 bytes"
static void add(FindingKind kind, const char *access, const char *title, const char *hint)
{
    Place host = {.line = 0};
    if (!sim_checker_enabled())
        return;
    snprintf(host.access, sizeof host.access, "%s, called by the host", access);
    sim_set_host_line(NULL, &host);
    sim_add_finding(kind, title, &host, 1, hint);
    sim_print_findings();
}

static void find_beyond_end(const char *call, const char *does, const Allocation *a, uint64_t address, size_t bytes)
{
    char title[400], owner[100], hint[HINT_BYTES];
    const size_t offset = address - a->address;
    sim_describe_allocation(a, owner, sizeof owner);
    snprintf(title, sizeof title, "%s %s %zu bytes at offset %zu of %s: %zu bytes past the end", call, does, bytes, offset,
             owner, bytes - (a->bytes - offset));
    snprintf(hint, sizeof hint, "%s", BYTES_HINT);
    sim_add_allocation_note(a, hint);
    add(OUT_OF_BOUNDS, call, title, hint);
}

// A host pointer instead of a device pointer, or the reverse.
static void report_wrong_memory(const char *call, bool writes, size_t bytes, const char *side, const char *what, bool is_device)
{
    char title[400], access[100];
    snprintf(title, sizeof title, "the %s of %s must be %s, but it is %s%s", writes ? "destination" : "source", call, side,
             is_device ? "device memory: " : "", what);
    snprintf(access, sizeof access, "%s of %zu bytes", call, bytes);
    add(HOST_POINTER, access, title,
        is_device ? "pass a host pointer, or change the direction of the copy"
                  : "pass a pointer from cudaMalloc, or change the direction of the copy");
}

void sim_report_bad_range(const char *call, const char *does, const void *pointer, size_t bytes, const char *side)
{
    char title[500];
    AddressText at;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    const bool writes = strcmp(does, "writes") == 0;
    if (holds(a, address) && bytes > a->bytes - (address - a->address)) {
        find_beyond_end(call, does, a, address, bytes);
        return;
    }
    const uint64_t closed = holds(a, address) ? sim_first_inaccessible(a, sim_current_device, address, bytes, false) : address + bytes;
    if (closed != address + bytes) {
        sim_describe_address(closed, &at);
        snprintf(title, sizeof title, "%s %s %zu bytes, among them %s", call, does, bytes, at.text);
        add(OUT_OF_BOUNDS, call, title, "map memory there with cuMemMap, and give the device access with cuMemSetAccess");
        return;
    }
    const FindingKind kind = sim_describe_address(address, &at);
    if (kind == HOST_POINTER && strcmp(side, "device memory") != 0) { // its first byte is on the right side
        snprintf(title, sizeof title, "%s %s %zu bytes of %s, which ends before", call, does, bytes, at.text);
        add(OUT_OF_BOUNDS, call, title, BYTES_HINT);
    } else if (kind == HOST_POINTER || holds(a, address)) {
        report_wrong_memory(call, writes, bytes, side, at.text, holds(a, address));
    } else {
        snprintf(title, sizeof title, "%s %s %zu bytes at %s", call, does, bytes, at.text);
        add(kind, call, title, at.hint);
    }
}

void sim_check_padding_copy(const char *call, const char *does, const void *pointer, size_t pitch, size_t width, size_t rows)
{
    char title[400], owner[100], hint[HINT_BYTES];
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (!holds(a, address) || a->row_pitch != pitch || rows < 2)
        return;
    const size_t from = (address - a->address) % pitch;
    if (from + width <= a->row_bytes || width == pitch)
        return;
    sim_describe_allocation(a, owner, sizeof owner);
    snprintf(title, sizeof title, "%s %s rows of %zu bytes at byte %zu of a row, in %s with rows of %zu bytes: the rest is padding",
             call, does, width, from, owner, a->row_bytes);
    snprintf(hint, sizeof hint, "pass the width of a row in bytes, without its padding");
    add_line(hint, "note: the size of the padding differs between devices");
    sim_add_allocation_note(a, hint);
    add(OUT_OF_BOUNDS, call, title, hint);
}

void sim_report_invalid_handle(const char *call, const char *wanted)
{
    char title[400];
    snprintf(title, sizeof title, "the handle that %s gets is not %s", call, wanted);
    add(UNINITIALISED, call, title, "create the handle before the call; to keep it from call to call, make the variable static");
}

void sim_report_invalid_free(const char *call, const void *pointer)
{
    char title[400], hint[HINT_BYTES] = "";
    AddressText at;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    const FreedAllocation *gone = sim_freed_at(address);
    const bool begins = a && a->address == address, twice = !holds(a, address) && gone && gone->address == address;
    sim_describe_address(address, &at);
    if (begins)
        snprintf(title, sizeof title, "%s of %s that another function has to free", call, strstr(at.text, " of ") + strlen(" of "));
    else
        snprintf(title, sizeof title, "%s of %s", call, at.text);
    add_line(hint, "%s", begins              ? "free it with the function that belongs to its allocation"
                         : holds(a, address) ? "free the pointer that the allocation returned, not one into the middle"
                         : twice             ? "free each allocation once"
                                             : "free only pointers from CUDA's allocation functions");
    if (holds(a, address))
        sim_add_allocation_note(a, hint);
    else if (gone)
        add_freed_notes(gone, hint);
    add(INVALID_FREE, call, title, hint);
}

// Whether the C library's free() reads there if it is passed a pointer from cudaMalloc.
static bool is_read_by_free(uint64_t address, bool writes)
{
    const Allocation *above = sim_allocation_above(address);
    return !writes && above && above->address - address == sizeof(size_t);
}

void sim_report_host_access(uint64_t address, bool writes, const void *instruction)
{
    char title[400], hint[HINT_BYTES] = "";
    AddressText at;
    const Allocation *a = sim_allocation_at(address);
    FindingKind kind = sim_describe_address(address, &at);
    snprintf(title, sizeof title, "the host %s %s%s", writes ? "writes" : "reads",
             sim_in_device_range((const void *)(uintptr_t)address) ? "device memory: " : "", at.text);
    if (!sim_checker_enabled()) {
        fprintf(stderr, "simulator: %s\n", title);
        return;
    }
    Place host = {.line = 0};
    snprintf(host.access, sizeof host.access, "%s by the host", writes ? "write" : "read");
    sim_set_host_line(instruction, &host);
    kind = holds(a, address) ? HOST_POINTER : kind;
    if (is_read_by_free(address, writes))
        add_line(hint, "free it with cudaFree(): free() and delete are for host memory");
    else if (kind == HOST_POINTER)
        add_line(hint, "%s", a->kind == MODULE_MEMORY ? "copy it with cudaMemcpyFromSymbol() or cudaMemcpyToSymbol()"
                                                      : "copy it with cudaMemcpy()");
    add_line(hint, "%s", at.hint);
    sim_add_finding(kind, title, &host, 1, hint);
}

// ---- Results that were never written
//
// Only if nothing of what is copied was written: programs often copy a whole buffer and use the part that they know to be set.

static struct {
    uint64_t first; // address of the first copied byte
    size_t bytes;
    bool any_written;
} result; // of the current operation; no bytes: it has copied nothing from the device

void sim_note_result(uint64_t address, size_t bytes)
{
    if (result.bytes == 0)
        result.first = address;
    result.bytes += bytes;
    const bool reported = sim_check_result(address, bytes);
    result.any_written |= reported || sim_find_written(address, bytes) < bytes;
}

void sim_check_results(void)
{
    char title[400], hint[HINT_BYTES] = "write it in a kernel, or with cudaMemcpy() or cudaMemset(), before the copy";
    AddressText at;
    if (result.bytes && !result.any_written) {
        sim_describe_address(result.first, &at);
        snprintf(title, sizeof title, "%zu bytes copied to the host, from %s on, have not been written", result.bytes, at.text);
        add_line(hint, "%s", at.hint);
        Place host = {.access = "read by a copy, called by the host"};
        sim_set_host_line(NULL, &host);
        sim_add_finding(UNINITIALISED, title, &host, 1, hint);
        sim_print_findings();
    }
    result.bytes = 0;
    result.any_written = false;
}

// ---- The program's end

static struct {
    uint64_t copied_to, copied_from; // bytes to and from the device
    int64_t kernels;                 // kernels in loaded modules
    uint64_t attempts;               // launches, also refused ones
    uint64_t launches;               // launches that ran to their end
    uint64_t with_effect;            // launches that may have written something
} done;

void sim_note_copy(bool from_device, size_t bytes)
{
    *(from_device ? &done.copied_from : &done.copied_to) += bytes;
}

void sim_note_kernels(int more)
{
    done.kernels += more;
}

void sim_note_launch_attempt(void)
{
    done.attempts++;
}

// Whether the kernel has instructions whose effects are not counted as stores or atomic operations.
static bool has_other_effects(const Program *program)
{
    for (uint32_t k = 0; k < program->count; k++)
        if (program->code[k].effects & UNCOUNTED)
            return true;
    return program->calls;
}

void sim_note_launch(const Launch *launch)
{
    const Counters *c = &launch->counters;
    done.launches++;
    done.with_effect += c->global_store_requests > 0 || c->atomics > 0 || has_other_effects(launch->kernel->program);
}

static void warn_of_no_effect(void)
{
    if (done.attempts == 0 && (done.copied_to || done.copied_from) && done.kernels)
        fprintf(stderr, "simulator: the program has kernels and copies data to or from the device, but launches no kernel; "
                        "kernel<<<blocks, threads>>>(...) launches one\n");
    if (done.launches && done.launches == done.attempts && done.with_effect == 0 && done.copied_from)
        fprintf(stderr, "simulator: %llu kernel%s ran without writing anything: no thread executed a store, so the program "
                        "copied unchanged data from the device\n",
                (unsigned long long)done.launches, done.launches == 1 ? "" : "s");
}

static void find_leaks(void)
{
    char title[300], largest_bytes[100], hint[HINT_BYTES] = "call cudaFree()";
    size_t count = 0, bytes = 0;
    const Allocation *largest = NULL;
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        if (!a->call)
            continue;
        count++;
        bytes += a->bytes;
        largest = largest && largest->bytes >= a->bytes ? largest : a;
    }
    if (!largest)
        return;
    sim_describe_allocation(largest, largest_bytes, sizeof largest_bytes);
    snprintf(title, sizeof title, "%zu allocation%s of %zu bytes in total %s never freed; the largest is %s", count,
             count == 1 ? "" : "s", bytes, count == 1 ? "was" : "were", largest_bytes);
    sim_add_allocation_note(largest, hint);
    sim_add_finding(LEAK, title, NULL, 0, hint);
}

static void check_at_end(int status)
{
    if (status == 0)
        warn_of_no_effect();
    if (sim_settings()->checks_leaks)
        find_leaks();
}

// Registered after findings.c's function, so that it runs before it.
__attribute__((constructor(102))) static void prepare_check_at_end(void)
{
    if (sim_checker_enabled())
        sim_on_exit(check_at_end);
}
