// record.c: records the program's device operations in the format of record.h.
#include "runtime/work/record.h"
#include "base/platform.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;

// ---- The file

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "simulator: cannot write the recording to %s: %s\n", sim_settings()->record, why);
    exit(EXIT_FAILURE);
}

// True if the program is recorded. Opens the file at the first call.
static bool open_recording(void)
{
    const char *path = sim_settings()->record;
    if (path && !file) {
        file = sim_open_output(path);
        if (!file)
            fail(strerror(errno));
        fputs("recording 1\n", file);
    }
    if (path && sim_current_device != 0)
        fail("the program uses several devices");
    return path;
}

static void end_line(void)
{
    fputc('\n', file);
    if (ferror(file))
        fail(strerror(errno));
}

// ---- Data; equal data is written once

static uint64_t *written_hashes; // hashes of data that the recording already contains
static size_t written_count;

static bool is_written_before(uint64_t hash)
{
    size_t k = 0;
    while (k < written_count && written_hashes[k] != hash)
        k++;
    if (k < written_count)
        return true;
    written_hashes = realloc(written_hashes, (written_count + 1) * sizeof *written_hashes);
    if (!written_hashes)
        sim_die("out of memory: recording");
    written_hashes[written_count++] = hash;
    return false;
}

static uint64_t hash_of(const uint8_t *bytes, size_t count)
{
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (size_t k = 0; k < count; k++)
        hash = (hash ^ bytes[k]) * 0x100000001b3;
    return (hash ^ count) * 0x100000001b3;
}

// Writes the bytes unless the recording contains them; returns their hash.
static uint64_t write_bytes(const void *bytes, size_t count)
{
    const uint64_t hash = hash_of(bytes, count);
    if (!is_written_before(hash)) {
        fprintf(file, "bytes %016" PRIx64 " %zu\n", hash, count);
        fwrite(bytes, 1, count, file);
        end_line();
    }
    return hash;
}

// ---- Binaries

enum { MAX_BINARIES = 64 };
static const Binary *binaries[MAX_BINARIES];

// Writes the binary's PTX on first use; returns its number.
static int write_binary(const Binary *binary)
{
    int number = 0;
    while (number < MAX_BINARIES && binaries[number] && binaries[number] != binary)
        number++;
    if (number == MAX_BINARIES)
        fail("the program has too many binaries");
    for (int k = 0; !binaries[number] && k < binary->ptx_count; k++) {
        const size_t length = strlen(binary->ptx[k]);
        fprintf(file, "ptx %d %zu\n", number, length);
        fwrite(binary->ptx[k], 1, length, file);
        end_line();
    }
    binaries[number] = binary;
    return number;
}

// ---- Positions in memory

typedef struct Position { // a position in a recorded allocation
    const Allocation *allocation;
    const Binary *binary; // of a variable; otherwise NULL
    const Variable *variable;
    uint64_t offset;
} Position;

static bool is_host_shared(const Allocation *a) // pinned or managed
{
    return a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY;
}

// Finds a position in a recorded allocation; false for other memory.
static bool find_position(uint64_t address, Position *position)
{
    const Allocation *a = sim_allocation_at(address);
    if (!a || address - a->address > a->bytes)
        return false;
    *position = (Position){.allocation = a, .offset = address - a->address};
    if (a->kind == MODULE_MEMORY)
        return sim_find_variable_at(a->address, &position->binary, &position->variable);
    return a->kind == DEVICE_MEMORY || is_host_shared(a);
}

static void prepare_position(const Position *position) // called before the line that uses the position
{
    if (position->binary)
        write_binary(position->binary);
}

static void write_position(const Position *position)
{
    if (position->binary)
        fprintf(file, "%d:%.*s", write_binary(position->binary), (int)position->variable->name.length, position->variable->name.text);
    else
        fprintf(file, "%d", position->allocation->number);
    fprintf(file, "+%" PRIu64, position->offset);
}

static bool is_within(const Allocation *a, uint64_t address)
{
    return a && address - a->address < a->bytes;
}

// Finds a position in device memory; false for memory that the host can access.
static bool find_device_position(const void *pointer, Position *position)
{
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (!is_within(a, (uint64_t)(uintptr_t)pointer) || a->kind == HOST_MEMORY || is_host_shared(a))
        return false;
    if (!find_position((uint64_t)(uintptr_t)pointer, position))
        fail("it uses memory of arrays, graphs or reserved addresses, which is not recorded");
    return true;
}

// ---- Allocations, copies, fills

void sim_record_allocation(const Allocation *a)
{
    static const char *const KINDS[] = {
        [DEVICE_MEMORY] = "device", [PINNED_MEMORY] = "pinned", [MANAGED_MEMORY] = "managed"};
    if (!open_recording() || a->kind > MANAGED_MEMORY)
        return;
    fprintf(file, "allocate %d %s %zu %s", a->number, KINDS[a->kind], a->bytes, a->call);
    end_line();
}

void sim_record_free(const void *pointer)
{
    const Allocation *a = open_recording() ? sim_allocation_at((uint64_t)(uintptr_t)pointer) : NULL;
    if (!a || a->address != (uint64_t)(uintptr_t)pointer || a->kind > MANAGED_MEMORY)
        return;
    fprintf(file, "free %d", a->number);
    end_line();
}

// Writes a "write" or "read" line with its data.
static void record_bytes(const char *what, const Position *position, const void *bytes, size_t count)
{
    prepare_position(position);
    const uint64_t hash = write_bytes(bytes, count);
    fprintf(file, "%s ", what);
    write_position(position);
    fprintf(file, " %zu %016" PRIx64, count, hash);
    end_line();
}

void sim_record_copy(const void *to, const void *from, size_t bytes)
{
    Position target, source;
    if (!open_recording())
        return;
    const bool is_write = find_device_position(to, &target), is_read = find_device_position(from, &source);
    if (is_write && is_read) {
        prepare_position(&target), prepare_position(&source);
        fputs("copy ", file);
        write_position(&target);
        fputc(' ', file);
        write_position(&source);
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
    Position position;
    if (!open_recording() || !find_device_position(pointer, &position))
        return;
    prepare_position(&position);
    fputs("fill ", file);
    write_position(&position);
    fprintf(file, " %zu %d", bytes, value & 0xff);
    end_line();
}

// ---- Memory that host and device share

typedef struct SavedContent { // hash of an allocation's content when last recorded
    int number;
    uint64_t hash;
} SavedContent;

static SavedContent *saved_contents;
static size_t saved_count;

static SavedContent *saved_content_of(int number)
{
    for (size_t k = 0; k < saved_count; k++)
        if (saved_contents[k].number == number)
            return &saved_contents[k];
    saved_contents = realloc(saved_contents, (saved_count + 1) * sizeof *saved_contents);
    if (!saved_contents)
        sim_die("out of memory: recording");
    saved_contents[saved_count] = (SavedContent){number, 0};
    return &saved_contents[saved_count++];
}

// Records changes of memory shared by host and device, made by the host ("write") or by a kernel ("read").
static void record_shared(const char *what)
{
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        if (!is_host_shared(a))
            continue;
        SavedContent *last = saved_content_of(a->number);
        const uint64_t hash = hash_of(a->memory, a->bytes);
        if (hash != last->hash)
            record_bytes(what, &(Position){.allocation = a}, a->memory, a->bytes);
        last->hash = hash;
    }
}

// ---- Launches

static void write_argument(const uint8_t *bytes, size_t count)
{
    for (size_t at = 0; at < count; at += sizeof(uint64_t)) {
        const size_t length = count - at < sizeof(uint64_t) ? count - at : sizeof(uint64_t);
        uint64_t word = 0;
        Position position;
        memcpy(&word, bytes + at, length);
        fputc(at ? ',' : ' ', file);
        if (length == sizeof word && find_position(word, &position)) {
            fputc('@', file);
            write_position(&position);
        } else if (length == sizeof word && is_within(sim_allocation_at(word), word)) {
            fail("a kernel is given a pointer to memory that is not recorded, such as cudaHostRegister's");
        } else {
            fprintf(file, "%0*" PRIx64, (int)(2 * length), word);
        }
    }
}

// Writes the PTX of all variables, which must precede the launch's line, because arguments may point to them.
static void prepare_variables(void)
{
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        Position position;
        if (a->kind == MODULE_MEMORY && find_position(a->address, &position))
            prepare_position(&position);
    }
}

void sim_record_launch(const KernelLaunch *l)
{
    if (!open_recording())
        return;
    record_shared("write");
    prepare_variables();
    const int binary = write_binary(l->kernel->binary);
    fprintf(file, "launch %d %s %u,%u,%u %u,%u,%u %zu %u,%u,%u %d", binary, l->kernel->name, l->grid.x, l->grid.y,
            l->grid.z, l->block.x, l->block.y, l->block.z, l->dynamic_shared_bytes, l->cluster.x, l->cluster.y, l->cluster.z,
            l->is_cooperative);
    int k = 0;
    for (const Variable *v = l->function->params; v; v = v->next)
        write_argument(l->arguments[k++], v->bytes);
    end_line();
}

void sim_record_texture(void)
{
    if (open_recording())
        fail("it uses textures or surfaces, which are not recorded");
}

void sim_record_launch_end(void)
{
    if (!open_recording())
        return;
    record_shared("read");
    if (fflush(file) != 0)
        fail(strerror(errno));
}
