// host_lines.c: the source line of the host that calls the runtime, or that accesses memory invalidly.
//
// This needs the program's debug information (nvcc -Xcompiler -g1,-fno-optimize-sibling-calls) and addr2line, which comes with the
// compiler. Without the second option, a call at the end of a function would be attributed to the function's caller. The line remains
// unknown without them, in the sandbox of make judge, where no other program can start, if the simulator replaces the driver's library,
// and for launches compiled without -O.
#include "checker/findings.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 40, MAX_LOOKUPS = 200 }; // each lookup starts a process

// ---- Frames

typedef struct Frames {
    int count;
    uintptr_t load_bias;      // the program's load bias
    uintptr_t addresses[MAX_FRAMES]; // addresses in the program, innermost first
    uint64_t hash;            // hash of all addresses
} Frames;

static void add_frame(Frames *frames, const void *address)
{
    if (!sim_is_in_program(address, &frames->load_bias))
        return;
    frames->addresses[frames->count++] = (uintptr_t)address;
    frames->hash = (frames->hash ^ (uintptr_t)address) * 0x100000001b3; // like FNV-1a
}

// ---- Lines of frames

// Whether a file is in the folder of CUDA's headers, or in a subfolder.
static bool is_toolkit_header(const char *file)
{
    char path[500];
    snprintf(path, sizeof path - strlen("/cuda_runtime_api.h"), "%s", file);
    for (char *slash = strrchr(path, '/'); slash && slash != path; slash = strrchr(path, '/')) {
        strcpy(slash, "/cuda_runtime_api.h");
        FILE *header = sim_open_source(path);
        if (header)
            return fclose(header), true;
        *slash = 0;
    }
    return false;
}

typedef struct SourceLine {
    uint64_t hash; // hash of the frames
    char file[sizeof((FindingLocation *)NULL)->file];
    int line;
    char caller[sizeof((FindingLocation *)NULL)->caller];
} SourceLine;

// Copies "/x/" of "/x/simulator/checker/host_lines.c".
static void copy_root(const char *file, char *root, size_t space)
{
    int slashes = 0;
    size_t length = strlen(file);
    while (length > 0 && (slashes += file[length - 1] == '/') < 3)
        length--;
    snprintf(root, space, "%.*s", (int)length, file);
}

// Whether a file belongs to the simulator, its replacements of NVIDIA's libraries included.
static bool is_simulator_file(const char *file, const char *root)
{
    const size_t length = strlen(root);
    return length > 0 && strncmp(file, root, length) == 0 && strncmp(file + length, "simulator/", strlen("simulator/")) == 0;
}

// Reads the output of sim_open_source_locations. Finds the first line of the program, skipping the simulator and the headers of CUDA and of the
// system, and the next such line, which is its caller's. The first address is in the simulator, and shows where its files are.
static void read_line(FILE *lines, SourceLine *found)
{
    char text[500], root[500] = "";
    int address = 0;
    while (fgets(text, sizeof text, lines)) {
        char *colon = strrchr(text, ':'), *slash = strrchr(text, '/');
        const int line = colon ? atoi(colon + 1) : 0;
        address += strncmp(text, "0x", 2) == 0;
        if (line <= 0 || !slash || found->caller[0] || strlen(text) >= sizeof found->file)
            continue; // read all lines, so that addr2line does not get SIGPIPE
        *colon = 0;
        if (address == 1 && !root[0])
            copy_root(text, root, sizeof root);
        if (is_simulator_file(text, root) || is_toolkit_header(text) || strncmp(text, "/usr/include/", strlen("/usr/include/")) == 0)
            continue;
        if (found->line > 0) {
            snprintf(found->caller, sizeof found->caller, "%.*s:%d", (int)sizeof found->caller - 20, slash + 1, line);
            continue;
        }
        snprintf(found->file, sizeof found->file, "%s", text);
        found->line = line;
    }
}

static void look_up_line(const Frames *frames, SourceLine *found)
{
    uintptr_t addresses[MAX_FRAMES];
    for (int k = 0; k < frames->count; k++)
        addresses[k] = frames->addresses[k] - frames->load_bias;
    FILE *lines = sim_open_source_locations(addresses, frames->count);
    if (!lines)
        return;
    read_line(lines, found);
    sim_close_source_locations(lines);
}

// Sets the line of the innermost frames. Caches the results, because a program may repeat a mistake very often.
static void find_line(const Frames *frames, FindingLocation *p)
{
    static Lock lock;
    static SourceLine cache[MAX_LOOKUPS];
    static int count;
    sim_lock(&lock);
    int k = 0;
    while (k < count && cache[k].hash != frames->hash)
        k++;
    if (k == count && count < MAX_LOOKUPS) {
        cache[count++].hash = frames->hash;
        look_up_line(frames, &cache[k]);
    }
    if (k < count) {
        memcpy(p->file, cache[k].file, sizeof p->file);
        p->line = cache[k].line;
        memcpy(p->caller, cache[k].caller, sizeof p->caller);
    }
    sim_unlock(&lock);
}

void sim_set_host_line(const void *instruction, FindingLocation *p)
{
    void *return_addresses[MAX_FRAMES];
    const int count = sim_backtrace(return_addresses, MAX_FRAMES - 1);
    Frames frames = {.count = 0};
    add_frame(&frames, (const void *)sim_set_host_line);
    for (int k = 0; k < count && frames.count > 0; k++) // a return address is that of the instruction after the call
        add_frame(&frames, (const char *)return_addresses[k] - (return_addresses[k] != instruction));
    if (frames.count > 0)
        find_line(&frames, p);
}

// ---- Call stacks of allocations and frees, whose lines are looked up only for a message

enum { MAX_STACKS = 1024, STACK_FRAMES = 16 };

typedef struct CallStack {
    uint64_t hash;
    int count;
    void *return_addresses[STACK_FRAMES]; // innermost first
} CallStack;

static CallStack stacks[MAX_STACKS + 1]; // indexed by identifier, starting at 1; guarded by the lock of calls.h
static int stack_count;

int sim_call_stack_id(void)
{
    CallStack stack = {.hash = 0};
    stack.count = sim_backtrace(stack.return_addresses, STACK_FRAMES);
    for (int k = 0; k < stack.count; k++)
        stack.hash = (stack.hash ^ (uintptr_t)stack.return_addresses[k]) * 0x100000001b3;
    for (int k = 1; k <= stack_count; k++)
        if (stacks[k].hash == stack.hash)
            return k;
    if (stack.count <= 0 || stack_count == MAX_STACKS)
        return 0;
    stacks[++stack_count] = stack;
    return stack_count;
}

bool sim_set_line_of_stack(int stack_id, FindingLocation *p)
{
    Frames frames = {.count = 0};
    add_frame(&frames, (const void *)sim_set_host_line);
    for (int k = 0; k < stacks[stack_id].count && frames.count > 0; k++)
        add_frame(&frames, (const char *)stacks[stack_id].return_addresses[k] - 1);
    if (frames.count > 0)
        find_line(&frames, p);
    return p->line > 0;
}

void sim_set_calling_line(const void *return_address, FindingLocation *p)
{
    Frames frames = {.count = 0};
    add_frame(&frames, (const void *)sim_set_host_line);
    add_frame(&frames, (const char *)return_address - 1);
    if (frames.count == 2)
        find_line(&frames, p);
}
