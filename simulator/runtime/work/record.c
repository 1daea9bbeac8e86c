// record.c: records the program's device operations, in the format of record.h.
#include "runtime/work/record.h"
#include "base/platform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;

// ---- The file

static _Noreturn void give_up(const char *why)
{
    fprintf(stderr, "simulator: cannot write the recording to %s: %s\n", sim_settings()->record, why);
    exit(EXIT_FAILURE);
}

// Whether the program is recorded; opens the file.
static bool is_recorded(void)
{
    const char *name = sim_settings()->record;
    if (name && !file) {
        file = sim_open_output(name);
        if (!file)
            give_up(strerror(errno));
        fputs("recording 1\n", file);
    }
    if (name && sim_current_device != 0)
        give_up("the program uses several devices");
    return name;
}

static void end_line(void)
{
    fputc('\n', file);
    if (ferror(file))
        give_up(strerror(errno));
}

// ---- Data, written once each

static uint64_t *known; // hashes of data already in the recording
static size_t known_count;

static bool is_known(uint64_t name)
{
    size_t k = 0;
    while (k < known_count && known[k] != name)
        k++;
    if (k < known_count)
        return true;
    known = realloc(known, (known_count + 1) * sizeof *known);
    if (!known)
        sim_die("out of memory for the recording");
    known[known_count++] = name;
    return false;
}

static uint64_t name_of(const uint8_t *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ bytes[k]) * 0x100000001b3;
    return (hash ^ count) * 0x100000001b3;
}

// Writes the bytes, if they are new; returns their hash.
static uint64_t write_bytes(const void *bytes, size_t count)
{
    const uint64_t name = name_of(bytes, count);
    if (!is_known(name)) {
        fprintf(file, "bytes %016" PRIx64 " %zu\n", name, count);
        fwrite(bytes, 1, count, file);
        end_line();
    }
    return name;
}

// ---- Binaries

enum { MAX_BINARIES = 64 };
static const Binary *binaries[MAX_BINARIES];

// The binary's number; writes its PTX on first use.
static int number_of(const Binary *binary)
{
    int number = 0;
    while (number < MAX_BINARIES && binaries[number] && binaries[number] != binary)
        number++;
    if (number == MAX_BINARIES)
        give_up("the program has too many binaries");
    for (int k = 0; !binaries[number] && k < binary->text_count; k++) {
        const size_t length = strlen(binary->texts[k]);
        fprintf(file, "ptx %d %zu\n", number, length);
        fwrite(binary->texts[k], 1, length, file);
        end_line();
    }
    binaries[number] = binary;
    return number;
}

// ---- Positions in memory

typedef struct Spot { // a position in a recorded allocation
    const Allocation *allocation;
    const Binary *binary; // of a variable; otherwise NULL
    const Variable *variable;
    uint64_t offset;
} Spot;

static bool is_shared(const Allocation *a) // pinned or managed
{
    return a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY;
}

// False for host memory, and for memory that is not recorded.
static bool find_spot(uint64_t address, Spot *spot)
{
    const Allocation *a = sim_allocation_at(address);
    if (!a || address - a->address > a->bytes)
        return false;
    *spot = (Spot){.allocation = a, .offset = address - a->address};
    if (a->kind == MODULE_MEMORY)
        return sim_find_variable_at(a->address, &spot->binary, &spot->variable);
    return a->kind == DEVICE_MEMORY || is_shared(a);
}

static void prepare_spot(const Spot *spot) // call before its line begins
{
    if (spot->binary)
        number_of(spot->binary);
}

static void write_spot(const Spot *spot)
{
    if (spot->binary)
        fprintf(file, "%d:%.*s", number_of(spot->binary), (int)spot->variable->name.length, spot->variable->name.text);
    else
        fprintf(file, "%d", spot->allocation->number);
    fprintf(file, "+%" PRIu64, spot->offset);
}

static bool is_within(const Allocation *a, uint64_t address)
{
    return a && address - a->address < a->bytes;
}

// The same for device memory only; false for memory that the host can access.
static bool find_device_spot(const void *pointer, Spot *spot)
{
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (!is_within(a, (uint64_t)(uintptr_t)pointer) || a->kind == HOST_MEMORY || is_shared(a))
        return false;
    if (!find_spot((uint64_t)(uintptr_t)pointer, spot))
        give_up("it uses memory of arrays, graphs or reserved addresses, which is not recorded");
    return true;
}

// ---- Allocations, copies, fills

void sim_record_allocation(const Allocation *a)
{
    static const char *const KINDS[] = {
        [DEVICE_MEMORY] = "device", [PINNED_MEMORY] = "pinned", [MANAGED_MEMORY] = "managed"};
    if (!is_recorded() || a->kind > MANAGED_MEMORY)
        return;
    fprintf(file, "allocate %d %s %zu %s", a->number, KINDS[a->kind], a->bytes, a->call);
    end_line();
}

void sim_record_free(const void *pointer)
{
    const Allocation *a = is_recorded() ? sim_allocation_at((uint64_t)(uintptr_t)pointer) : NULL;
    if (!a || a->address != (uint64_t)(uintptr_t)pointer || a->kind > MANAGED_MEMORY)
        return;
    fprintf(file, "free %d", a->number);
    end_line();
}

// Writes a "write" or "read" line with its data.
static void record_bytes(const char *what, const Spot *spot, const void *bytes, size_t count)
{
    prepare_spot(spot);
    const uint64_t name = write_bytes(bytes, count);
    fprintf(file, "%s ", what);
    write_spot(spot);
    fprintf(file, " %zu %016" PRIx64, count, name);
    end_line();
}

void sim_record_move(const void *to, const void *from, size_t bytes)
{
    Spot target, source;
    if (!is_recorded())
        return;
    const bool is_write = find_device_spot(to, &target), is_read = find_device_spot(from, &source);
    if (is_write && is_read) {
        prepare_spot(&target), prepare_spot(&source);
        fputs("copy ", file);
        write_spot(&target);
        fputc(' ', file);
        write_spot(&source);
        fprintf(file, " %zu", bytes);
        end_line();
    } else if (is_write) {
        record_bytes("write", &target, sim_memory_at(to), bytes);
    } else if (is_read) {
        record_bytes("read", &source, sim_memory_at(from), bytes);
    }
}

void sim_record_fill(const void *pointer, int value, size_t bytes)
{
    Spot spot;
    if (!is_recorded() || !find_device_spot(pointer, &spot))
        return;
    prepare_spot(&spot);
    fputs("fill ", file);
    write_spot(&spot);
    fprintf(file, " %zu %d", bytes, value & 0xff);
    end_line();
}

// ---- Memory that host and device share

typedef struct SavedContent { // an allocation's content as last recorded
    int number;
    uint64_t bytes_name;
} SavedContent;

static SavedContent *seen;
static size_t seen_count;

static SavedContent *seen_of(int number)
{
    for (size_t k = 0; k < seen_count; k++)
        if (seen[k].number == number)
            return &seen[k];
    seen = realloc(seen, (seen_count + 1) * sizeof *seen);
    if (!seen)
        sim_die("out of memory for the recording");
    seen[seen_count] = (SavedContent){number, 0};
    return &seen[seen_count++];
}

// Records changes of shared memory: by the host ("write"), or by a kernel ("read").
static void record_shared(const char *what)
{
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        if (!is_shared(a))
            continue;
        SavedContent *last = seen_of(a->number);
        const uint64_t name = name_of(a->memory, a->bytes);
        if (name != last->bytes_name)
            record_bytes(what, &(Spot){.allocation = a}, a->memory, a->bytes);
        last->bytes_name = name;
    }
}

// ---- Launches

static void write_argument(const uint8_t *bytes, size_t count)
{
    for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
        const size_t length = count - at < sizeof(uint64_t) ? count - at : sizeof(uint64_t);
        uint64_t word = 0;
        Spot spot;
        memcpy(&word, bytes + at, length);
        fputc(at ? ',' : ' ', file);
        if (length == sizeof word && find_spot(word, &spot)) {
            fputc('@', file);
            write_spot(&spot);
        } else if (length == sizeof word && is_within(sim_allocation_at(word), word)) {
            give_up("a kernel is given a pointer to memory that is not recorded, such as cudaHostRegister's");
        } else {
            fprintf(file, "%0*" PRIx64, (int)(2 * length), word);
        }
    }
}

// Writes the PTX of variables that arguments point to before the launch's line.
static void prepare_variables(void)
{
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        Spot spot;
        if (a->kind == MODULE_MEMORY && find_spot(a->address, &spot))
            prepare_spot(&spot);
    }
}

void sim_record_launch(const KernelLaunch *l)
{
    if (!is_recorded())
        return;
    record_shared("write");
    prepare_variables();
    const int binary = number_of(l->kernel->binary);
    fprintf(file, "launch %d %s %u,%u,%u %u,%u,%u %zu %u,%u,%u %d", binary, l->kernel->name, l->grid.x, l->grid.y,
            l->grid.z, l->block.x, l->block.y, l->block.z, l->dynamic_bytes, l->cluster.x, l->cluster.y, l->cluster.z,
            l->cooperative);
    int k = 0;
    for (const Variable *v = l->function->params; v; v = v->next)
        write_argument(l->arguments[k++], v->bytes);
    end_line();
}

void sim_record_texture(void)
{
    if (is_recorded())
        give_up("it uses textures or surfaces, which are not recorded");
}

void sim_record_end_of_launch(void)
{
    if (!is_recorded())
        return;
    record_shared("read");
    if (fflush(file) != 0)
        give_up(strerror(errno));
}
