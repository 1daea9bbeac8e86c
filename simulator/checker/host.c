// host.c: findings about what the host does: wrong pointers and ranges in its calls, wrong frees, accesses of
// device memory, and, at the program's end, that nothing has happened, or what was never freed.
//
// Messages name the call and, where it is known, its line; allocations are named by the call that made them: "the 3rd
// cudaMalloc".
//
// Nothing happened: a program that ends with status 0, has kernels, has given the device memory and copied something to
// or from it, and has not tried to launch any, gets a line. A program that asks for the device's properties only,
// prints its help, skips, or has nothing to compute does none of this; one that measures copies does. Kernels that all
// ran without writing anything (no store, no atomic operation, nothing printed) while results were copied from the device
// get a line, too. Neither is a finding: a filter may have nothing to keep, and who validates nothing to complain of.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/kernel_checks.h"

#include <stdlib.h>
#include <string.h>

static const char *ending(int number) // of an ordinal number
{
    const bool teen = number / 10 % 10 == 1;
    return teen ? "th" : number % 10 == 1 ? "st" : number % 10 == 2 ? "nd" : number % 10 == 3 ? "rd" : "th";
}

// ---- Which call made an allocation

enum { MOST_CALLS = 16 };

static struct {
    const char *call;
    int count;
} counted[MOST_CALLS]; // calls that allocate, with how often they were made

static int next_number(const char *call)
{
    for (int k = 0; k < MOST_CALLS; k++) {
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

// "the 2nd cudaMalloc's 4096 bytes"
static void describe_bytes(const char *call, int number, size_t bytes, char *text, size_t space)
{
    if (call)
        snprintf(text, space, "the %d%s %s's %zu bytes", number, ending(number), call, bytes);
    else
        snprintf(text, space, "an allocation's %zu bytes", bytes);
}

void sim_describe_allocation(const Allocation *a, char *text, size_t space)
{
    if (a->kind == MODULE_MEMORY)
        snprintf(text, space, "a variable's %zu bytes", a->bytes);
    else if (a->kind == HEAP_MEMORY)
        snprintf(text, space, "%zu bytes of malloc in a kernel", a->bytes);
    else
        describe_bytes(a->call, a->call_number, a->bytes, text, space);
}

// ---- What lies at an address

enum { NULL_BYTES = 65536 }; // up to here an address is taken for an element of an array at a null pointer

static void describe_null(uint64_t address, char *text, size_t space)
{
    const int length = address ? snprintf(text, space, "%llu bytes behind a null pointer", (unsigned long long)address)
                               : snprintf(text, space, "a null pointer");
    if (failed.call && (size_t)length < space)
        snprintf(text + length, space - (size_t)length, " (the %d%s %s, of %zu bytes, has failed)", failed.number,
                 ending(failed.number), failed.call, failed.bytes);
}

// What the host has at the address; NULL if nothing.
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
        found = strstr(line, "[stack]")  ? "memory of the host (its stack: a local variable)"
                : strstr(line, "[heap]") ? "memory of the host (malloc or new)"
                : strchr(line, '/')      ? "memory of the host (a global variable, or a constant)"
                                         : "memory of the host (malloc or new)";
    }
    if (maps)
        fclose(maps);
    return found;
}

static bool holds(const Allocation *a, uint64_t address)
{
    return a && address - a->address < a->bytes;
}

// Why a device may not use a byte of reserved addresses.
static const char *why_closed(const Allocation *a, uint64_t address)
{
    if (!a->granules)
        return "";
    return a->granules[(address - a->address) / SIM_GRANULE].piece ? ", which cuMemSetAccess has not opened to this device"
                                                                   : ", where cuMemMap has mapped no memory";
}

// An address in one of the simulator's two ranges that is no allocation's: beside which one it lies.
static void describe_gap(uint64_t address, char *text, size_t space)
{
    char bytes[200];
    const Allocation *below = sim_allocation_at(address), *above = sim_allocation_above(address);
    const bool before = above && (!below || above->address - address < address - below->address - below->bytes);
    if (before)
        sim_describe_allocation(above, bytes, sizeof bytes);
    else if (below)
        sim_describe_allocation(below, bytes, sizeof bytes);
    if (before)
        snprintf(text, space, "%llu bytes before %s", (unsigned long long)(above->address - address), bytes);
    else if (below)
        snprintf(text, space, "%llu bytes behind the end of %s",
                 (unsigned long long)(address - below->address - below->bytes), bytes);
    else
        snprintf(text, space, "memory that was never allocated");
}

// Whether the next allocation's end says more of an address than what the host has there. Without pages, memory that host
// and device share is in no range: there it is told of addresses right behind it.
static bool is_gap(uint64_t address)
{
    enum { RIGHT_BEHIND = 65536 };
    const void *pointer = (const void *)(uintptr_t)address;
    const Allocation *below = sim_allocation_at(address);
    return sim_in_device_range(pointer) || sim_in_shared_range(pointer) ||
           (!sim_has_pages() && below && address - below->address - below->bytes < RIGHT_BEHIND);
}

FindingKind sim_describe_address(uint64_t address, char *text, size_t space)
{
    char bytes[200];
    const Allocation *a = sim_allocation_at(address);
    const Freed *gone = sim_freed_at(address);
    if (address < NULL_BYTES) {
        describe_null(address, text, space);
        return OUT_OF_BOUNDS;
    }
    if (holds(a, address)) {
        sim_describe_allocation(a, bytes, sizeof bytes);
        snprintf(text, space, "byte %llu of %s%s", (unsigned long long)(address - a->address), bytes, why_closed(a, address));
        return OUT_OF_BOUNDS;
    }
    if (gone) {
        describe_bytes(gone->call, gone->call_number, gone->bytes, bytes, sizeof bytes);
        snprintf(text, space, "byte %llu of %s, which %s has freed", (unsigned long long)(address - gone->address),
                 bytes, gone->freed_by);
        return USE_AFTER_FREE;
    }
    if (is_gap(address)) {
        describe_gap(address, text, space);
        return OUT_OF_BOUNDS;
    }
    const char *host = host_memory_at(address);
    snprintf(text, space, "%s", host ? host : "an address where nothing lies");
    return host ? HOST_POINTER : OUT_OF_BOUNDS;
}

// ---- Wrong pointers in calls

static void add(FindingKind kind, const char *call, const char *title, const char *hint)
{
    Place host = {.line = 0};
    if (!sim_checks())
        return;
    snprintf(host.access, sizeof host.access, "calls %s", call);
    sim_find_host_line(NULL, &host);
    sim_add_finding(kind, title, &host, 1, hint);
    sim_say_findings();
}

static void find_beyond_end(const char *call, const char *does, const Allocation *a, uint64_t address, size_t bytes)
{
    char title[400], owner[200];
    const size_t offset = address - a->address;
    sim_describe_allocation(a, owner, sizeof owner);
    snprintf(title, sizeof title, "%s %s %zu bytes from byte %zu of %s on: %zu too many", call, does, bytes, offset,
             owner, bytes - (a->bytes - offset));
    add(OUT_OF_BOUNDS, call, title, "sizes are in bytes: the number of elements times sizeof");
}

void sim_find_wrong_range(const char *call, const char *does, const void *pointer, size_t bytes, const char *side)
{
    char title[400], what[300];
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (holds(a, address) && bytes > a->bytes - (address - a->address)) {
        find_beyond_end(call, does, a, address, bytes);
        return;
    }
    const uint64_t closed = holds(a, address) ? sim_first_closed(a, sim_current_device, address, bytes, false) : address + bytes;
    if (closed != address + bytes) {
        sim_describe_address(closed, what, sizeof what);
        snprintf(title, sizeof title, "%s %s %zu bytes, and among them is %s", call, does, bytes, what);
        add(OUT_OF_BOUNDS, call, title, "cuMemMap maps memory there, and cuMemSetAccess opens it to a device");
        return;
    }
    const FindingKind kind = sim_describe_address(address, what, sizeof what);
    if (kind == HOST_POINTER && strcmp(side, "device memory") != 0) { // where it begins it is of the right side
        snprintf(title, sizeof title, "%s %s %zu bytes of %s, which ends before", call, does, bytes, what);
        add(OUT_OF_BOUNDS, call, title, "sizes are in bytes: the number of elements times sizeof");
        return;
    }
    snprintf(title, sizeof title, "%s %s %zu bytes of %s, and was given %s", call, does, bytes, side, what);
    if (kind == HOST_POINTER)
        add(HOST_POINTER, call, title, "what cudaMalloc gave is wanted here, or another direction of the copy");
    else
        add(holds(a, address) ? HOST_POINTER : kind, call, title,
            holds(a, address) ? "a pointer of the host is wanted here, or another direction of the copy" : "");
}

void sim_find_padding(const char *call, const char *does, const void *pointer, size_t pitch, size_t width, size_t rows)
{
    char title[400], owner[200];
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    if (!holds(a, address) || a->row_pitch != pitch || rows < 2)
        return;
    const size_t from = (address - a->address) % pitch;
    if (from + width <= a->row_bytes || width == pitch)
        return;
    sim_describe_allocation(a, owner, sizeof owner);
    snprintf(title, sizeof title,
             "%s %s rows of %zu bytes from byte %zu of a row on, of %s, whose rows have %zu: the rest is padding", call,
             does, width, from, owner, a->row_bytes);
    add(OUT_OF_BOUNDS, call, title,
        "the width is that of the rows, in bytes; how much padding a pitch has differs between devices");
}

void sim_find_wrong_handle(const char *call, const char *wanted)
{
    char title[400];
    snprintf(title, sizeof title, "%s gets something else than %s", call, wanted);
    add(UNINITIALISED, call, title, "a local variable holds nothing when its function is called again; static keeps it");
}

void sim_find_wrong_free(const char *call, const void *pointer)
{
    char title[400], what[300];
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    const bool begins = a && a->address == address;
    sim_describe_address(address, what, sizeof what);
    snprintf(title, sizeof title, "%s of %s", call, begins ? strstr(what, " of ") + strlen(" of ") : what);
    add(DOUBLE_FREE, call, title, begins                     ? "memory of this kind is freed by another function"
                                  : holds(a, address)        ? "only the pointer that the allocation gave can be freed"
                                  : sim_freed_at(address) ? "it is freed for the second time"
                                                             : "it frees only what CUDA has allocated");
}

// Whether the C library's free() looks there when it is given an allocation of the device.
static bool is_looked_at_by_free(uint64_t address, bool writes)
{
    const Allocation *above = sim_allocation_above(address);
    return !writes && above && above->address - address == sizeof(size_t);
}

void sim_find_host_access(uint64_t address, bool writes, const void *instruction)
{
    char title[400], what[300];
    const Allocation *a = sim_allocation_at(address);
    FindingKind kind = sim_describe_address(address, what, sizeof what);
    snprintf(title, sizeof title, "the host %s %s%s", writes ? "writes" : "reads",
             sim_in_device_range((const void *)(uintptr_t)address) ? "device memory: " : "", what);
    if (!sim_checks()) {
        fprintf(stderr, "simulator: %s\n", title);
        return;
    }
    Place host = {.line = 0};
    snprintf(host.access, sizeof host.access, "%s it", writes ? "writes" : "reads");
    sim_find_host_line(instruction, &host);
    kind = holds(a, address) ? HOST_POINTER : kind;
    sim_add_finding(kind, title, &host, 1,
                    is_looked_at_by_free(address, writes) ? "cudaFree frees it; free and delete are for the host's own"
                    : kind != HOST_POINTER     ? ""
                    : a->kind == MODULE_MEMORY ? "cudaMemcpyFromSymbol and cudaMemcpyToSymbol copy it"
                                               : "cudaMemcpy copies it");
}

// ---- Results that nobody wrote
//
// Only where a copy gets nothing else: many a program copies a buffer as a whole, and uses what it knows to be there.

static struct {
    uint64_t first; // byte that was copied
    size_t bytes;
    bool any_written;
} result; // of the current operation; no bytes: nothing has come from the device

void sim_note_result(uint64_t address, size_t bytes)
{
    if (result.bytes == 0)
        result.first = address;
    result.bytes += bytes;
    const bool told = sim_check_result(address, bytes);
    result.any_written |= told || sim_find_written(address, bytes) < bytes;
}

void sim_end_results(void)
{
    char title[400], what[300];
    if (result.bytes && !result.any_written) {
        sim_describe_address(result.first, what, sizeof what);
        snprintf(title, sizeof title,
                 "%zu bytes are copied to the host, from %s on, which no kernel, copy or fill has written",
                 result.bytes, what);
        Place host = {.access = "copies them"};
        sim_find_host_line(NULL, &host);
        sim_add_finding(UNINITIALISED, title, &host, 1, "");
        sim_say_findings();
    }
    result.bytes = 0;
    result.any_written = false;
}

// ---- The program's end

static struct {
    uint64_t copied_to, copied_from; // bytes
    int64_t kernels;                 // that it has now
    uint64_t attempts;               // to launch a kernel
    uint64_t launches;               // that ran to their end,
    uint64_t with_effect;            // and may have changed something
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
static bool may_act_otherwise(const Program *program)
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
    done.with_effect += c->global_store_requests > 0 || c->atomics > 0 || may_act_otherwise(launch->kernel->program);
}

static void say_that_nothing_happened(void)
{
    if (done.attempts == 0 && (done.copied_to || done.copied_from) && done.kernels)
        fprintf(stderr, "simulator: the program has kernels, and has copied data to or from the device, but has launched "
                        "none: kernel<<<blocks, threads>>>(...) launches one\n");
    if (done.launches && done.launches == done.attempts && done.with_effect == 0 && done.copied_from)
        fprintf(stderr, "simulator: %llu kernel%s ran, and none has written anything: no thread came to a store, so what "
                        "the program copied from the device is what it was before\n",
                (unsigned long long)done.launches, done.launches == 1 ? "" : "s");
}

static void find_leaks(void)
{
    char title[300], largest_bytes[200];
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
    snprintf(title, sizeof title, "%zu allocation%s, of %zu bytes in all, %s never freed; the largest: %s", count,
             count == 1 ? "" : "s", bytes, count == 1 ? "was" : "were", largest_bytes);
    sim_add_finding(LEAK, title, NULL, 0, "");
}

static void look_back(int status)
{
    if (status == 0)
        say_that_nothing_happened();
    if (sim_settings()->checks_leaks)
        find_leaks();
}

// After findings.c has asked for the end, so that this comes before it.
__attribute__((constructor(102))) static void prepare_look_back(void)
{
    if (sim_checks())
        sim_at_end(look_back);
}
