// replay.c: replays a recording by executing its lines in order, each as an operation of one stream.
#include "page/replay.h"
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/memory_uses.h"
#include "checker/order.h"
#include "runtime/work/properties.h"
#include "runtime/work/work.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BINARIES = 64, MAX_PTX_TEXTS = 32, MAX_WORD_LENGTH = 2048, MAX_ARGUMENTS = 256 };

typedef struct NamedData { // data in the recording, which lines refer to by a digest
    uint64_t digest;
    const uint8_t *bytes;
    size_t count;
} NamedData;

typedef struct Position { // a position in an allocation
    uint8_t *pointer;  // as the program sees it
    size_t bytes_left; // up to the end of the allocation
} Position;

typedef struct Buffer { // an allocation of the recorded program
    uint8_t *pointer;
    bool is_freed;
} Buffer;

typedef struct Replay {
    const char *cursor, *end; // the unread rest of the recording
    int line, call, read_count; // call: index of the current operation; read_count: copies to the host reported so far
    char word[MAX_WORD_LENGTH];
    jmp_buf on_error;
    Arena arena;
    Binary *binaries[MAX_BINARIES];
    NamedData *data;
    size_t data_count;
    Buffer *allocations; // indexed by their numbers in the recording
    size_t allocation_count;
    uint32_t timeline;
    FILE *report, *contents;
    bool has_difference, is_stopped;
    cudaError_t error; // of a failed launch, after which the replay ends
} Replay;

// ---- Reading

static _Noreturn void fail(Replay *r, const char *why)
{
    fprintf(stderr, "replay: the recording's line %d: %s\n", r->line, why);
    longjmp(r->on_error, 1);
}

static bool at_line_end(const Replay *r)
{
    return r->cursor == r->end || *r->cursor == '\n';
}

// Reads the text up to one of these characters, or to the end of the line; fails if it is empty.
static const char *read_up_to(Replay *r, const char *delimiters)
{
    size_t length = 0;
    while (!at_line_end(r) && !strchr(delimiters, *r->cursor)) {
        if (length + 1 == sizeof r->word)
            fail(r, "a word is too long");
        r->word[length++] = *r->cursor++;
    }
    r->word[length] = 0;
    if (length == 0)
        fail(r, "the line is too short");
    return r->word;
}

static const char *read_word(Replay *r)
{
    while (!at_line_end(r) && *r->cursor == ' ')
        r->cursor++;
    return read_up_to(r, " ");
}

static uint64_t parse_number(Replay *r, const char *text, int base)
{
    char *end;
    const uint64_t number = strtoull(text, &end, base);
    if (end == text || *end)
        fail(r, "expected a number");
    return number;
}

static uint64_t read_number(Replay *r)
{
    return parse_number(r, read_word(r), 10);
}

static char *read_name(Replay *r) // allocates it in the arena
{
    const char *word = read_word(r);
    return memcpy(sim_allocate(&r->arena, strlen(word) + 1), word, strlen(word) + 1);
}

static dim3 read_dim3(Replay *r)
{
    dim3 d;
    if (sscanf(read_word(r), "%u,%u,%u", &d.x, &d.y, &d.z) != 3)
        fail(r, "expected three numbers");
    return d;
}

static void skip_line(Replay *r)
{
    while (!at_line_end(r))
        r->cursor++;
    if (r->cursor < r->end)
        r->cursor++;
    r->line++;
}

// Reads the `count` bytes after the current line.
static const char *read_data_bytes(Replay *r, size_t count)
{
    skip_line(r);
    if ((size_t)(r->end - r->cursor) < count)
        fail(r, "its data is truncated");
    const char *data = r->cursor;
    r->cursor += count;
    return data;
}

static Binary *find_binary(Replay *r, uint64_t number)
{
    if (number >= MAX_BINARIES)
        fail(r, "the binary number is too large");
    if (!r->binaries[number]) {
        r->binaries[number] = sim_new_binary();
        r->binaries[number]->ptx = sim_allocate(&r->arena, MAX_PTX_TEXTS * sizeof(char *));
        sim_register_binary(r->binaries[number]);
    }
    return r->binaries[number];
}

// ---- First pass: data that lines refer to

static void read_ptx(Replay *r)
{
    Binary *binary = find_binary(r, read_number(r));
    const size_t length = read_number(r);
    char *text = sim_allocate(&r->arena, length + 1);
    memcpy(text, read_data_bytes(r, length), length);
    if (binary->ptx_count == MAX_PTX_TEXTS)
        fail(r, "a binary has too many texts");
    binary->ptx[binary->ptx_count++] = text;
}

static void read_named_data(Replay *r)
{
    const uint64_t digest = parse_number(r, read_word(r), 16);
    const size_t count = read_number(r);
    r->data = realloc(r->data, (r->data_count + 1) * sizeof *r->data);
    if (!r->data)
        sim_die("out of memory: recording");
    r->data[r->data_count++] = (NamedData){digest, (const uint8_t *)read_data_bytes(r, count), count};
}

static void read_source(Replay *r)
{
    const char *name = read_name(r);
    const size_t count = read_number(r);
    sim_register_source(name, read_data_bytes(r, count), count);
}

typedef struct LineHandler {
    const char *word;
    void (*handle)(Replay *r);
} LineHandler;

static const LineHandler DATA_LINES[] = {{"ptx", read_ptx}, {"bytes", read_named_data}, {"source", read_source}, {NULL, NULL}};

static const LineHandler *find_handler(const LineHandler *handlers, const char *word)
{
    while (handlers->word && strcmp(handlers->word, word) != 0)
        handlers++;
    return handlers->word ? handlers : NULL;
}

// Reads the lines with data, and skips those with operations.
static void read_data(Replay *r)
{
    if (strcmp(read_word(r), "recording") != 0 || read_number(r) != 1)
        fail(r, "not a recording of this version, which begins with \"recording 1\"");
    for (skip_line(r); r->cursor < r->end; skip_line(r)) {
        const LineHandler *data = at_line_end(r) ? NULL : find_handler(DATA_LINES, read_word(r));
        if (data)
            data->handle(r);
    }
}

static void load_modules(Replay *r)
{
    for (int k = 0; k < MAX_BINARIES; k++) {
        const Module *m = r->binaries[k] ? sim_module_of(r->binaries[k]) : NULL;
        if (m && m->error[0])
            fail(r, m->error);
    }
}

// ---- Positions in memory, and references to data

static const NamedData *read_data_reference(Replay *r, size_t count)
{
    const uint64_t digest = parse_number(r, read_word(r), 16);
    for (size_t k = 0; k < r->data_count; k++)
        if (r->data[k].digest == digest && r->data[k].count >= count)
            return &r->data[k];
    fail(r, "its bytes are missing");
}

static uint8_t *find_variable(Replay *r, char *position) // for example "0:table"
{
    char *colon = strchr(position, ':');
    *colon = 0;
    const Slice name = {colon + 1, strlen(colon + 1)};
    const Module *m = sim_module_of(find_binary(r, parse_number(r, position, 10)));
    const Variable *v = m ? sim_find_variable(m->variables, name) : NULL;
    if (!v || !v->address)
        fail(r, "there is no such variable");
    return (uint8_t *)(uintptr_t)v->address;
}

static uint8_t *find_allocation(Replay *r, uint64_t number)
{
    if (number >= r->allocation_count || !r->allocations[number].pointer || r->allocations[number].is_freed)
        fail(r, "there is no such allocation");
    return r->allocations[number].pointer;
}

static Position parse_position(Replay *r, char *position) // for example "3+16"
{
    char *plus = strrchr(position, '+');
    if (!plus)
        fail(r, "expected a position in memory");
    *plus = 0;
    const uint64_t offset = parse_number(r, plus + 1, 10);
    uint8_t *first = strchr(position, ':') ? find_variable(r, position) : find_allocation(r, parse_number(r, position, 10));
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)first);
    if (offset > a->bytes)
        fail(r, "the offset is past the end of the allocation");
    return (Position){first + offset, a->bytes - offset};
}

static Position read_position(Replay *r)
{
    read_word(r);
    return parse_position(r, r->word);
}

// Reads a byte count, which must not exceed bytes_left.
static size_t read_count(Replay *r, size_t bytes_left)
{
    const size_t count = read_number(r);
    if (count > bytes_left)
        fail(r, "the byte count exceeds the allocation");
    return count;
}

// ---- Allocations, copies, fills

static void begin_operation(Replay *r, const char *call)
{
    sim_begin_op(r->timeline, call, NULL);
    sim_begin_op_uses();
}

static void end_operation(Replay *r)
{
    sim_report_unwritten_results();
    sim_end_op_uses();
    sim_synchronize_host(r->timeline);
}

static MemoryKind read_kind(Replay *r)
{
    static const char *const KINDS[] = {
        [DEVICE_MEMORY] = "device", [PINNED_MEMORY] = "pinned", [MANAGED_MEMORY] = "managed"};
    const char *word = read_word(r);
    for (int k = DEVICE_MEMORY; k <= MANAGED_MEMORY; k++)
        if (strcmp(word, KINDS[k]) == 0)
            return (MemoryKind)k;
    fail(r, "expected device, pinned or managed");
}

static void replay_allocation(Replay *r)
{
    enum { MAX_NUMBER = 1 << 20 };
    const size_t number = read_number(r);
    const MemoryKind kind = read_kind(r);
    const size_t bytes = read_number(r);
    void *pointer = NULL;
    if (number >= MAX_NUMBER)
        fail(r, "there are too many allocations");
    if (sim_allocate_memory(read_name(r), &pointer, bytes, kind, 0) || !pointer)
        fail(r, "out of memory");
    if (number >= r->allocation_count) {
        r->allocations = realloc(r->allocations, (number + 1) * sizeof *r->allocations);
        if (!r->allocations)
            sim_die("out of memory: recording");
        memset(r->allocations + r->allocation_count, 0, (number + 1 - r->allocation_count) * sizeof *r->allocations);
        r->allocation_count = number + 1;
    }
    r->allocations[number] = (Buffer){pointer, false};
}

static void replay_free(Replay *r)
{
    const size_t number = read_number(r);
    uint8_t *pointer = find_allocation(r, number);
    const MemoryKind kind = sim_allocation_at((uint64_t)(uintptr_t)pointer)->kind;
    sim_free_memory(kind == PINNED_MEMORY ? "cudaFreeHost" : "cudaFree", pointer, kind);
    r->allocations[number].is_freed = true;
}

static void replay_write(Replay *r)
{
    const Position to = read_position(r);
    const size_t count = read_count(r, to.bytes_left);
    const NamedData *from = read_data_reference(r, count);
    begin_operation(r, "cudaMemcpy");
    sim_copy_bytes(to.pointer, from->bytes, count);
    end_operation(r);
}

static void replay_fill(Replay *r)
{
    const Position to = read_position(r);
    const size_t count = read_count(r, to.bytes_left);
    const int value = (int)read_number(r);
    begin_operation(r, "cudaMemset");
    sim_set_bytes(to.pointer, value, count);
    end_operation(r);
}

static void replay_copy(Replay *r)
{
    const Position to = read_position(r), from = read_position(r);
    const size_t count = read_count(r, to.bytes_left < from.bytes_left ? to.bytes_left : from.bytes_left);
    begin_operation(r, "cudaMemcpy");
    sim_copy_bytes(to.pointer, from.pointer, count);
    end_operation(r);
}

// ---- Copies to the host, which are compared with the recorded bytes

static uint32_t word_at(const uint8_t *bytes, size_t offset, size_t count)
{
    uint32_t word = 0;
    memcpy(&word, bytes + offset, count - offset < sizeof word ? count - offset : sizeof word);
    return word;
}

// Returns the offset of the first word that differs, or `count` if there is none.
static size_t first_difference(const uint8_t *actual, const uint8_t *expected, size_t count)
{
    size_t offset = 0;
    while (offset < count && word_at(actual, offset, count) == word_at(expected, offset, count))
        offset += sizeof(uint32_t);
    return offset < count ? offset : count;
}

static void report_read(Replay *r, const uint8_t *actual, const uint8_t *expected, size_t count)
{
    const size_t difference = first_difference(actual, expected, count);
    const bool is_equal = difference == count;
    const size_t offset = is_equal ? 0 : difference;
    fprintf(r->report, "%s{\"call\": %d, \"bytes\": %zu, \"equal\": %s, \"at\": %zu, \"got\": %" PRIu32 ", \"expected\": %" PRIu32 "}",
            r->read_count++ ? ",\n" : "", r->call, count, is_equal ? "true" : "false", offset, word_at(actual, offset, count), word_at(expected, offset, count));
    r->has_difference |= !is_equal;
}

static void replay_read(Replay *r)
{
    const Position from = read_position(r);
    const size_t count = read_count(r, from.bytes_left);
    const NamedData *expected = read_data_reference(r, count);
    uint8_t *to = sim_allocate(&r->arena, count + 1);
    begin_operation(r, "cudaMemcpy");
    sim_copy_bytes(to, from.pointer, count);
    end_operation(r);
    report_read(r, to, expected->bytes, count);
    if (r->contents)
        fwrite(to, 1, count, r->contents);
}

static void replay_stop(Replay *r)
{
    r->is_stopped = r->has_difference;
}

// ---- Launches

// Reads up to eight bytes of an argument: hexadecimal digits, or "@" and a position.
static uint64_t read_argument_word(Replay *r, size_t bytes)
{
    read_up_to(r, " ,");
    if (*r->word == '@' && bytes == sizeof(uint64_t))
        return (uint64_t)(uintptr_t)parse_position(r, r->word + 1).pointer;
    if (strlen(r->word) != 2 * bytes)
        fail(r, "the argument's size differs from the kernel parameter's");
    return parse_number(r, r->word, 16);
}

// Reads an argument: a space, then its words, separated by commas.
static void *read_argument(Replay *r, size_t bytes)
{
    uint8_t *argument = sim_allocate(&r->arena, bytes);
    for (size_t offset = 0; offset < bytes; offset += sizeof(uint64_t)) {
        const size_t length = bytes - offset < sizeof(uint64_t) ? bytes - offset : sizeof(uint64_t);
        if (at_line_end(r) || *r->cursor++ != (offset ? ',' : ' '))
            fail(r, "arguments are missing or too short");
        const uint64_t word = read_argument_word(r, length);
        memcpy(argument + offset, &word, length);
    }
    return argument;
}

static Kernel *read_kernel(Replay *r)
{
    Binary *binary = find_binary(r, read_number(r));
    const char *name = read_name(r);
    Kernel *kernel = sim_kernel_named(binary, name);
    return kernel ? kernel : sim_add_kernel(binary, name, NULL);
}

static void read_arguments(Replay *r, const Function *f, void **arguments)
{
    int count = 0;
    for (const Variable *v = f->params; v; v = v->next) {
        if (count == MAX_ARGUMENTS)
            fail(r, "a kernel has too many arguments");
        arguments[count++] = read_argument(r, v->bytes);
    }
    if (!at_line_end(r))
        fail(r, "too many arguments, or too long");
}

// Fails if cudaLaunchKernel would. Recordings have no function attributes, so that the check assumes their maximum.
static void check_launch(Replay *r, const KernelLaunch *l)
{
    const bool has_cluster = l->cluster.x || l->cluster.y || l->cluster.z;
    if (has_cluster && !(l->cluster.x && l->cluster.y && l->cluster.z))
        fail(r, "the cluster's numbers must be all 0 or none");
    l->kernel->max_dynamic_shared_bytes[sim_current_device] =
        (int)((size_t)sim_device()->shared_per_block_optin - l->function->shared_bytes);
    l->kernel->non_portable_clusters[sim_current_device] = true;
    if (sim_check_launch(l))
        longjmp(r->on_error, 1); // sim_check_launch has printed the reason
}

static void replay_launch(Replay *r)
{
    void *arguments[MAX_ARGUMENTS];
    KernelLaunch l = {.kernel = read_kernel(r), .arguments = arguments};
    if (sim_find_kernel(l.kernel->host_stub, &l.kernel, &l.function))
        fail(r, "there is no such kernel");
    l.grid = read_dim3(r);
    l.block = read_dim3(r);
    l.dynamic_shared_bytes = read_number(r);
    l.cluster = read_dim3(r);
    l.is_cooperative = read_number(r);
    read_arguments(r, l.function, arguments);
    check_launch(r, &l);
    sim_note_launch_attempt();
    begin_operation(r, "cudaLaunchKernel");
    r->error = sim_run_kernel(&l, NULL);
    end_operation(r);
}

static const LineHandler CALL_LINES[] = {{"allocate", replay_allocation}, {"free", replay_free}, {"write", replay_write},
                             {"fill", replay_fill},           {"copy", replay_copy}, {"read", replay_read},
                             {"launch", replay_launch},       {"stop", replay_stop}, {NULL, NULL}};

static void replay_calls(Replay *r)
{
    for (skip_line(r); r->cursor < r->end && r->error == cudaSuccess && !r->is_stopped; skip_line(r)) {
        const char *word = at_line_end(r) ? "" : read_word(r);
        const LineHandler *call = find_handler(CALL_LINES, word);
        if (call) {
            call->handle(r);
            r->call++;
        } else if (strcmp(word, "source") == 0 || strcmp(word, "ptx") == 0 || strcmp(word, "bytes") == 0) {
            read_word(r);
            read_data_bytes(r, read_number(r));
        } else if (*word) {
            fail(r, "unknown first word");
        }
    }
}

// ---- Removed lines

static void check_ptx(Replay *r)
{
    for (int k = 0; k < MAX_BINARIES; k++)
        for (int t = 0; r->binaries[k] && t < r->binaries[k]->ptx_count; t++) {
            Module *m = sim_parse(r->binaries[k]->ptx[t]);
            if (m->error[0])
                fail(r, m->error);
            sim_free_module(m);
        }
}

static int remove_line(Replay *r, int line, bool is_test)
{
    int count = 0;
    for (int k = 0; k < MAX_BINARIES; k++)
        for (int t = 0; r->binaries[k] && t < r->binaries[k]->ptx_count; t++)
            count += sim_remove_line((char *)r->binaries[k]->ptx[t], line, is_test);
    return count;
}

static void remove_lines(Replay *r, const char *without)
{
    if (*without)
        check_ptx(r);
    while (*without) {
        const bool is_test = *without == 't';
        char *end;
        const long line = strtol(without + is_test, &end, 10);
        if (end == without + is_test || (*end && *end != ',') || remove_line(r, (int)line, is_test) == 0) {
            fprintf(stderr, "replay: '%.20s' names no line with %s\n", without, is_test ? "a test" : "a barrier or a fence");
            longjmp(r->on_error, 1);
        }
        without = *end ? end + 1 : end;
    }
}

static void report_line(Slice function, int line, LineUse use, void *context)
{
    static const char *const USES[] = {[BARRIER_LINE] = "barrier", [WARP_BARRIER_LINE] = "warp barrier",
                                       [FENCE_LINE] = "fence", [TEST_LINE] = "test"};
    Replay *r = context;
    fprintf(r->report, "%s{\"kernel\": \"%.*s\", \"line\": %d, \"what\": \"%s\"}", r->call++ ? ",\n" : "",
            (int)function.length, function.text, line, USES[use]);
}

// ---- Entry points

static Replay *new_replay(const char *recording, size_t bytes, FILE *report, FILE *contents)
{
    Replay *r = calloc(1, sizeof *r); // never freed: findings may refer to its content
    if (!r)
        sim_die("out of memory: recording");
    *r = (Replay){.cursor = recording, .end = recording + bytes, .line = 1, .report = report, .contents = contents};
    return r;
}

// Ends the report with the addresses of the allocations, which findings mention, and the error.
static void end_report(const Replay *r)
{
    fputs("], \"addresses\": [", r->report);
    for (size_t k = 0; k < r->allocation_count; k++)
        fprintf(r->report, "%s%" PRIuPTR, k ? ", " : "", (uintptr_t)r->allocations[k].pointer);
    fprintf(r->report, "], \"failed\": %s, \"error\": \"%s\"}\n", r->error ? "true" : "false", r->error ? sim_error_text(r->error) : "");
}

int sim_replay(const char *recording, size_t bytes, const char *without, FILE *report, FILE *contents)
{
    LOCK_MEMORY();
    Replay *r = new_replay(recording, bytes, report, contents);
    fputs("{\"checks\": [", report);
    if (setjmp(r->on_error) != 0)
        return fputs("], \"failed\": true}\n", report), REPLAY_INVALID;
    read_data(r);
    remove_lines(r, without);
    load_modules(r);
    r->timeline = sim_new_timeline(LEGACY_TIMELINE, 0, 0);
    r->cursor = recording;
    r->line = 1;
    replay_calls(r);
    end_report(r);
    return r->has_difference || r->error ? REPLAY_DIFFERS : REPLAY_EQUAL;
}

int sim_report_lines(const char *recording, size_t bytes, FILE *report)
{
    Replay *r = new_replay(recording, bytes, report, NULL);
    if (setjmp(r->on_error) != 0)
        return REPLAY_INVALID;
    read_data(r);
    load_modules(r);
    fputs("[", report);
    for (int k = 0; k < MAX_BINARIES; k++)
        if (r->binaries[k])
            sim_list_lines(sim_module_of(r->binaries[k]), report_line, r);
    fputs("]\n", report);
    return REPLAY_EQUAL;
}
