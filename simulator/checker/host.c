// host.c: checks of the host: invalid pointers and ranges in its calls, invalid frees, accesses to device memory.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

static const char *ordinal_suffix(int number) // "st", "nd", "rd" or "th"
{
    const bool teen = number / 10 % 10 == 1;
    return teen ? "th" : number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

// ---- Allocations

enum { MAX_CALLS = 16 };

static struct {
    const char *call;
    int count;
} call_counts[MAX_CALLS]; // calls of the functions that allocate

static int count_call(const char *call)
{
    for (int k = 0; k < MAX_CALLS; k++) {
        if (!call_counts[k].call)
            call_counts[k].call = call;
        if (strcmp(call_counts[k].call, call) == 0)
            return ++call_counts[k].count;
    }
    return 0;
}

void sim_note_allocation(Allocation *a, const char *call)
{
    a->call = call;
    a->call_number = count_call(call);
    a->allocation_stack = sim_checker_enabled() ? sim_call_stack_id() : 0;
}

void sim_note_free(const void *pointer)
{
    Allocation *a = sim_checker_enabled() ? sim_allocation_at((uint64_t)(uintptr_t)pointer) : NULL;
    if (a && a->address == (uint64_t)(uintptr_t)pointer)
        a->free_stack = sim_call_stack_id();
}

static struct {
    const char *call; // NULL: no allocation has failed
    int number;
    size_t bytes;
} failed_allocation; // the last allocation that failed

void sim_note_failed_allocation(const char *call, size_t bytes)
{
    failed_allocation.call = call;
    failed_allocation.number = count_call(call);
    failed_allocation.bytes = bytes;
}

void sim_describe_allocation(const Allocation *a, char *text, size_t space)
{
    const char *noun = a->kind == MODULE_MEMORY ? "device variable" : a->kind == HEAP_MEMORY ? "allocation of a kernel's malloc()" : "allocation";
    snprintf(text, space, "a %zu-byte %s", a->bytes, noun);
}

// Describes a call stack as ", at a.cu:17"; empty if the line is unknown.
static void describe_stack(int stack_id, char *text, size_t space)
{
    FindingLocation p = {.line = 0};
    text[0] = 0;
    if (stack_id && sim_set_line_of_stack(stack_id, &p) && p.line > 0)
        snprintf(text, space, ", at %s:%d", sim_relative_name(p.file), p.line);
}

static void add_allocated_note(const char *call, int number, int stack_id, char *hint)
{
    char at[450];
    describe_stack(stack_id, at, sizeof at);
    if (call)
        sim_add_hint_line(hint, "note: allocated by the %d%s %s%s", number, ordinal_suffix(number), call, at);
}

void sim_add_allocation_note(const Allocation *a, char *hint)
{
    add_allocated_note(a->call, a->call_number, a->allocation_stack, hint);
}

// ---- Description of addresses

enum { NULL_BYTES = 65536 }; // lower addresses count as elements of an array at a null pointer
static const uint64_t FAR_BYTES = 1ull << 36; // addresses further away are not described relative to an allocation
static const int64_t TWO_POW_31 = 1ll << 31;

static void describe_null(uint64_t address, AddressText *d)
{
    if (address)
        snprintf(d->text, sizeof d->text, "%llu bytes past a null pointer", (unsigned long long)address);
    else
        snprintf(d->text, sizeof d->text, "a null pointer");
    sim_add_hint_line(d->hint, failed_allocation.call ? "check whether the allocation has failed" : "allocate the memory first, or check the pointer");
    if (failed_allocation.call)
        sim_add_hint_line(d->hint, "note: the %d%s %s, of %zu bytes, failed", failed_allocation.number, ordinal_suffix(failed_allocation.number),
                 failed_allocation.call, failed_allocation.bytes);
}

// The kind of host memory at the address; NULL: it is not mapped.
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

static bool contains_address(const Allocation *a, uint64_t address)
{
    return a && address - a->address < a->bytes;
}

// Why the device must not access a byte of a reserved address range.
static const char *access_denial(const Allocation *a, uint64_t address)
{
    if (!a->granules)
        return "";
    return a->granules[(address - a->address) / SIM_GRANULE].physical ? ", to which cuMemSetAccess has not given this device access"
                                                                   : ", to which cuMemMap has mapped no memory";
}

static bool is_reportable(const Allocation *a)
{
    return a && a->kind != PARAMETER_MEMORY;
}

// Describes an address outside an allocation by its distance.
static void describe_distance(uint64_t address, const Allocation *a, AddressText *d)
{
    char bytes[100];
    sim_describe_allocation(a, bytes, sizeof bytes);
    if (address < a->address)
        snprintf(d->text, sizeof d->text, "%llu bytes before %s", (unsigned long long)(a->address - address), bytes);
    else
        snprintf(d->text, sizeof d->text, "%llu bytes past the end of %s", (unsigned long long)(address - a->address - a->bytes), bytes);
}

// The allocation nearest to an address that is in no allocation; NULL if none is within FAR_BYTES.
static const Allocation *nearest_to(uint64_t address)
{
    const Allocation *below = sim_allocation_at(address), *above = sim_allocation_above(address);
    while (below && !is_reportable(below))
        below = below->address ? sim_allocation_at(below->address - 1) : NULL;
    while (above && !is_reportable(above))
        above = sim_allocation_above(above->address);
    const uint64_t after = below ? address - below->address - below->bytes : UINT64_MAX,
                   before = above ? above->address - address : UINT64_MAX;
    return (before < after ? before : after) < FAR_BYTES ? before < after ? above : below : NULL;
}

// Whether to describe an address by the nearest allocation rather than by the host memory there. Without page protection, shared
// memory of host and device has no address range of its own; then the bytes right after an allocation count.
static bool is_near_allocation(uint64_t address)
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
    sim_add_hint_line(d->hint, "check the index before the access");
    sim_add_allocation_note(near, d->hint);
}

static void add_freed_notes(const FreedAllocation *f, char *hint)
{
    char at[450];
    add_allocated_note(f->call, f->call_number, f->allocation_stack, hint);
    describe_stack(f->free_stack, at, sizeof at);
    sim_add_hint_line(hint, "note: freed by %s%s", f->freed_by, at);
}

FindingKind sim_describe_address(uint64_t address, AddressText *d)
{
    char bytes[100];
    const Allocation *a = sim_allocation_at(address);
    const FreedAllocation *freed = sim_freed_at(address);
    *d = (AddressText){.text = ""};
    if (address < NULL_BYTES) {
        describe_null(address, d);
        return OUT_OF_BOUNDS;
    }
    if (contains_address(a, address)) {
        sim_describe_allocation(a, bytes, sizeof bytes);
        snprintf(d->text, sizeof d->text, "byte %llu of %s%s", (unsigned long long)(address - a->address), bytes, access_denial(a, address));
        sim_add_allocation_note(a, d->hint);
        return OUT_OF_BOUNDS;
    }
    if (freed) {
        snprintf(d->text, sizeof d->text, "byte %llu of a freed %zu-byte allocation", (unsigned long long)(address - freed->address),
                 freed->bytes);
        sim_add_hint_line(d->hint, "free it after its last use");
        add_freed_notes(freed, d->hint);
        return USE_AFTER_FREE;
    }
    const char *host = is_near_allocation(address) ? NULL : host_memory_at(address);
    if (host) {
        snprintf(d->text, sizeof d->text, "%s", host);
        sim_add_hint_line(d->hint, "use a pointer from cudaMalloc or cudaMallocManaged");
        return HOST_POINTER;
    }
    describe_unallocated(address, d);
    return OUT_OF_BOUNDS;
}

// ---- The origin of the pointer of a kernel's access, as far as the arguments show it

static uint64_t argument_at(const Launch *launch, size_t offset)
{
    uint64_t value;
    memcpy(&value, launch->params + offset, sizeof value);
    return value;
}

// Whether the kernel has a pointer into a freed allocation: what kernels allocated, or else an argument or a member of one.
static bool has_pointer_into(const Launch *launch, const FreedAllocation *f)
{
    if (f->kind == HEAP_MEMORY)
        return true;
    for (size_t k = 0; k + 8 <= launch->kernel->kernel_param_bytes; k += 8)
        if (argument_at(launch, k) - f->address < f->bytes)
            return true;
    return false;
}

// Whether a 32-bit index that overflowed leads from the pointer to the address: the index plus 2^32 is in the allocation, or is a
// little above 2^31.
static bool is_overflow(const Allocation *a, uint64_t pointer, uint64_t address, int64_t element)
{
    const int64_t distance = (int64_t)(address - pointer), index = distance / element, tolerance = 1 << 28;
    if (distance % element || index >= 0 || index < -TWO_POW_31)
        return false;
    const uint64_t intended = pointer + (uint64_t)((index + 2 * TWO_POW_31) * element);
    return index < -TWO_POW_31 + tolerance || intended - a->address < a->bytes;
}

// The allocation whose overflowed index explains the address; NULL: there is none.
static const Allocation *overflowed_allocation(const Launch *launch, uint64_t address, const Instr *i)
{
    const int64_t sizes[] = {(int64_t)i->bytes * (i->kind == LOAD || i->kind == STORE ? i->count : 1), i->bytes, 1};
    for (size_t k = 0; k + 8 <= launch->kernel->kernel_param_bytes; k += 8) {
        const uint64_t pointer = argument_at(launch, k);
        const Allocation *a = sim_allocation_at(pointer);
        for (int n = 0; n < 3 && contains_address(a, pointer) && is_reportable(a); n++)
            if (sizes[n] > 0 && is_overflow(a, pointer, address, sizes[n]))
                return a;
    }
    return NULL;
}

FindingKind sim_describe_access(const Launch *launch, const Instr *i, uint64_t address, AddressText *d)
{
    const Allocation *overflow = address < NULL_BYTES || contains_address(sim_allocation_at(address), address) ? NULL : overflowed_allocation(launch, address, i);
    const FreedAllocation *freed = sim_freed_at(address);
    if (overflow) {
        *d = (AddressText){.text = ""};
        describe_distance(address, overflow, d);
        sim_add_hint_line(d->hint, "compute the index in 64 bits (size_t or long long): a 32-bit integer overflows at 2^31");
        sim_add_allocation_note(overflow, d->hint);
        return OUT_OF_BOUNDS;
    }
    const FindingKind kind = sim_describe_address(address, d);
    if (kind != USE_AFTER_FREE || has_pointer_into(launch, freed))
        return kind;
    d->hint[0] = 0;
    describe_unallocated(address, d);
    sim_add_hint_line(d->hint, "note: a freed %zu-byte allocation was here, but no argument points to it", freed->bytes);
    add_freed_notes(freed, d->hint);
    return OUT_OF_BOUNDS;
}

// ---- Invalid pointers in calls

static const char BYTES_HINT[] = "pass the size in bytes: the number of elements times sizeof the element";

// The location of the host's current call. `access`: "cudaMemcpy" or "cudaMemcpy of 400 bytes".
static FindingLocation call_location(const char *access, LocationRole role)
{
    FindingLocation host = {.role = role};
    snprintf(host.access, sizeof host.access, "%s, called by the host", access);
    sim_set_host_line(NULL, &host);
    return host;
}

static const char *verb_of(bool writes)
{
    return writes ? "writes" : "reads";
}

// Adds and prints a finding at the host's current call.
static void report_call(FindingKind kind, LocationRole role, const char *access, const char *title, const char *hint)
{
    if (!sim_checker_enabled())
        return;
    const FindingLocation host = call_location(access, role);
    sim_add_finding(kind, title, &host, 1, hint);
    sim_print_findings();
}

static void report_past_end(const char *call, bool writes, const Allocation *a, uint64_t address, size_t bytes)
{
    char title[400], owner[100], hint[HINT_BYTES];
    const size_t offset = address - a->address;
    sim_describe_allocation(a, owner, sizeof owner);
    snprintf(title, sizeof title, "%s %s %zu bytes at offset %zu of %s: %zu bytes past the end", call, verb_of(writes), bytes, offset,
             owner, bytes - (a->bytes - offset));
    snprintf(hint, sizeof hint, "%s", BYTES_HINT);
    sim_add_allocation_note(a, hint);
    report_call(OUT_OF_BOUNDS, HOST_CALL, call, title, hint);
}

// A host pointer instead of a device pointer, or the reverse.
static void report_wrong_memory(const char *call, bool writes, size_t bytes, MemorySide side, LocationRole role, const char *actual, bool is_device)
{
    static const char *const NAMES[] = {[ON_HOST] = "host memory", [ON_DEVICE] = "device memory", [ON_EITHER] = "allocated memory"};
    char title[400], access[100];
    snprintf(title, sizeof title, "the %s of %s must be %s, but it is %s%s", writes ? "destination" : "source", call, NAMES[side],
             is_device ? "device memory: " : "", actual);
    snprintf(access, sizeof access, "%s of %zu bytes", call, bytes);
    report_call(HOST_POINTER, role, access, title,
        is_device ? "pass a host pointer, or change the direction of the copy"
                  : "pass a pointer from cudaMalloc, or change the direction of the copy");
}

void sim_report_bad_range(const char *call, LocationRole role, bool writes, const void *pointer, size_t bytes, MemorySide side)
{
    char title[500];
    AddressText at;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (contains_address(a, address) && bytes > a->bytes - (address - a->address)) {
        report_past_end(call, writes, a, address, bytes);
        return;
    }
    const uint64_t inaccessible = contains_address(a, address) ? sim_first_inaccessible(a, sim_current_device, address, bytes, false) : address + bytes;
    if (inaccessible != address + bytes) {
        sim_describe_address(inaccessible, &at);
        snprintf(title, sizeof title, "%s %s %zu bytes, among them %s", call, verb_of(writes), bytes, at.text);
        report_call(OUT_OF_BOUNDS, HOST_CALL, call, title, "map memory there with cuMemMap, and give the device access with cuMemSetAccess");
        return;
    }
    const FindingKind kind = sim_describe_address(address, &at);
    if (kind == HOST_POINTER && side != ON_DEVICE) { // its first byte is in the right memory
        snprintf(title, sizeof title, "%s %s %zu bytes of %s, which ends before", call, verb_of(writes), bytes, at.text);
        report_call(OUT_OF_BOUNDS, HOST_CALL, call, title, BYTES_HINT);
    } else if (kind == HOST_POINTER || contains_address(a, address)) {
        report_wrong_memory(call, writes, bytes, side, role, at.text, contains_address(a, address));
    } else {
        snprintf(title, sizeof title, "%s %s %zu bytes at %s", call, verb_of(writes), bytes, at.text);
        report_call(kind, role, call, title, at.hint);
    }
}

void sim_report_host_overrun(const char *call, bool writes, size_t bytes, size_t block_bytes)
{
    char title[300], hint[HINT_BYTES];
    snprintf(title, sizeof title, "%s %s %zu bytes of host memory, of which malloc or new has allocated %zu bytes: %zu bytes past the end", call,
             writes ? "writes" : "reads", bytes, block_bytes, bytes - block_bytes);
    snprintf(hint, sizeof hint, "%s%s", BYTES_HINT, writes ? "\nnote: the copy is not made, since it would damage the heap" : "");
    report_call(OUT_OF_BOUNDS, HOST_CALL, call, title, hint);
}

void sim_report_freed_host_block(const char *call, bool writes, size_t bytes)
{
    char title[300];
    snprintf(title, sizeof title, "%s, in a graph, %s %zu bytes of host memory that was freed after the node was added", call,
             writes ? "writes" : "reads", bytes);
    report_call(USE_AFTER_FREE, HOST_CALL, call, title, "keep the host memory of a graph's copies until the last launch of the graph");
}

void sim_warn_of_direction(const char *call, bool writes, const void *pointer, size_t bytes)
{
    char title[400], access[100];
    AddressText at;
    if (!sim_checker_enabled() || bytes == 0)
        return;
    sim_describe_address((uint64_t)(uintptr_t)pointer, &at);
    snprintf(title, sizeof title, "the %s of %s should be host memory, but it is device memory: %s", writes ? "destination" : "source", call,
             at.text);
    snprintf(access, sizeof access, "%s of %zu bytes", call, bytes);
    const FindingLocation host = call_location(access, HOST_COPY);
    sim_add_warning(HOST_POINTER, title, &host, 1,
                    "pass cudaMemcpyDeviceToDevice or cudaMemcpyDefault\n"
                    "note: the copy was made, as on an H200; the CUDA documentation calls the result undefined");
    sim_print_findings();
}

void sim_check_padding_copy(const char *call, const char *verb, const void *pointer, size_t pitch, size_t width, size_t rows)
{
    char title[400], owner[100], hint[HINT_BYTES];
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (!contains_address(a, address) || a->row_pitch != pitch || rows < 2)
        return;
    const size_t offset = (address - a->address) % pitch;
    if (offset + width <= a->row_bytes || width == pitch)
        return;
    sim_describe_allocation(a, owner, sizeof owner);
    snprintf(title, sizeof title, "%s %s rows of %zu bytes at byte %zu of a row, in %s with rows of %zu bytes: the rest is padding",
             call, verb, width, offset, owner, a->row_bytes);
    snprintf(hint, sizeof hint, "pass the width of a row in bytes, without its padding");
    sim_add_hint_line(hint, "note: the size of the padding differs between devices");
    sim_add_allocation_note(a, hint);
    report_call(OUT_OF_BOUNDS, HOST_CALL, call, title, hint);
}

void sim_report_invalid_handle(const char *call, const char *expected)
{
    char title[400];
    snprintf(title, sizeof title, "the handle that %s gets is not %s", call, expected);
    report_call(UNINITIALISED, HOST_CALL, call, title, "create the handle before the call; to keep it from call to call, make the variable static");
}

void sim_report_invalid_free(const char *call, const void *pointer)
{
    char title[400], hint[HINT_BYTES] = "";
    AddressText at;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    const FreedAllocation *freed = sim_freed_at(address);
    const bool is_start = a && a->address == address, was_freed = !contains_address(a, address) && freed && freed->address == address;
    sim_describe_address(address, &at);
    if (is_start)
        sim_describe_allocation(a, at.text, sizeof at.text);
    snprintf(title, sizeof title, "%s of %s%s", call, at.text, is_start ? " that another function has to free" : "");
    sim_add_hint_line(hint, "%s", is_start              ? "free it with the function that belongs to its allocation"
                         : contains_address(a, address) ? "free the pointer that the allocation returned, not one into the middle"
                         : was_freed             ? "free each allocation once"
                                             : "free only pointers from CUDA's allocation functions");
    if (contains_address(a, address))
        sim_add_allocation_note(a, hint);
    else if (freed)
        add_freed_notes(freed, hint);
    report_call(INVALID_FREE, HOST_CALL, call, title, hint);
}

// Whether the C library's free() reads at this address when it is passed a pointer from cudaMalloc.
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
    FindingLocation host = {.role = writes ? OTHER_ROLE : READS};
    snprintf(host.access, sizeof host.access, "%s by the host", writes ? "write" : "read");
    sim_set_host_line(instruction, &host);
    kind = contains_address(a, address) ? HOST_POINTER : kind;
    if (is_read_by_free(address, writes))
        sim_add_hint_line(hint, "free it with cudaFree(): free() and delete are for host memory");
    else if (kind == HOST_POINTER)
        sim_add_hint_line(hint, "%s", a->kind == MODULE_MEMORY ? "copy it with cudaMemcpyFromSymbol() or cudaMemcpyToSymbol()"
                                                      : "copy it with cudaMemcpy()");
    sim_add_hint_line(hint, "%s", at.hint);
    sim_add_finding(kind, title, &host, 1, hint);
}

// ---- Results that were never written
//
// Reported only if none of the copied bytes was written: programs often copy a whole buffer and use only the part that is set.

static struct {
    uint64_t first; // address of the first copied byte
    size_t bytes;
    bool any_written;
} copied_result; // bytes that the current operation has copied from the device; bytes == 0: none

void sim_note_result(uint64_t address, size_t bytes)
{
    if (copied_result.bytes == 0)
        copied_result.first = address;
    copied_result.bytes += bytes;
    const bool reported = sim_report_undefined_copies(address, bytes);
    copied_result.any_written |= reported || sim_find_written(address, bytes) < bytes;
}

void sim_report_unwritten_results(void)
{
    char title[400], hint[HINT_BYTES] = "write it in a kernel, or with cudaMemcpy() or cudaMemset(), before the copy";
    AddressText at;
    if (copied_result.bytes && !copied_result.any_written) {
        sim_describe_address(copied_result.first, &at);
        snprintf(title, sizeof title, "%zu bytes copied to the host, from %s on, have not been written", copied_result.bytes, at.text);
        sim_add_hint_line(hint, "%s", at.hint);
        FindingLocation host = {.access = "read by a copy, called by the host", .role = READS};
        sim_set_host_line(NULL, &host);
        sim_add_finding(UNINITIALISED, title, &host, 1, hint);
        sim_print_findings();
    }
    copied_result.bytes = 0;
    copied_result.any_written = false;
}
