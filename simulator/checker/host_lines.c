// host_lines.c: the line of the host's source that calls the runtime, or that accesses memory it must not.
//
// It needs the program's debug information (nvcc -Xcompiler -g1,-fno-optimize-sibling-calls) and addr2line, which comes with the
// compiler. The line stays unknown without them, if the simulator is the driver's library, and for launches compiled without -O.
#include "checker/findings.h"
#include "base/platform.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 40, MAX_LOOKUPS = 200 }; // each lookup starts a process

// ---- Frames

typedef struct Frames {
    int count;
    uintptr_t moved_by;       // load address of the program
    uintptr_t at[MAX_FRAMES]; // addresses in the program, innermost first
    uint64_t hash;            // of all addresses
} Frames;

static void add_frame(Frames *frames, const void *address)
{
    if (!sim_is_in_program(address, &frames->moved_by))
        return;
    frames->at[frames->count++] = (uintptr_t)address;
    frames->hash = (frames->hash ^ (uintptr_t)address) * 0x100000001b3; // like FNV-1a
}

// ---- Their lines

// Whether a file is in the folder of CUDA's headers, or below it.
static bool is_of_toolkit(const char *file)
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

typedef struct Line {
    uint64_t hash; // of the frames
    char file[sizeof((Place *)NULL)->file];
    int line;
    char caller[sizeof((Place *)NULL)->caller];
} Line;

// Copies "/x/" of "/x/simulator/checker/host_lines.c".
static void copy_root(const char *file, char *root, size_t space)
{
    int slashes = 0;
    size_t length = strlen(file);
    while (length > 0 && (slashes += file[length - 1] == '/') < 3)
        length--;
    snprintf(root, space, "%.*s", (int)length, file);
}

// Whether a file belongs to the simulator, or to a library that replaces one of NVIDIA's.
static bool is_own(const char *file, const char *root)
{
    const size_t length = strlen(root);
    return length > 0 && strncmp(file, root, length) == 0 &&
           (strncmp(file + length, "simulator/", strlen("simulator/")) == 0 ||
            strncmp(file + length, "libraries/", strlen("libraries/")) == 0);
}

// Takes the first line that is neither the simulator's, like the first address's, nor in CUDA's or the system's headers; and the next
// such line, its caller's. platform.h describes the lines.
static void take_line(FILE *lines, Line *found)
{
    char text[500], root[500] = "";
    int address = 0;
    while (fgets(text, sizeof text, lines)) {
        char *colon = strrchr(text, ':'), *slash = strrchr(text, '/');
        const int line = colon ? atoi(colon + 1) : 0;
        address += strncmp(text, "0x", 2) == 0;
        if (line <= 0 || !slash || found->caller[0] || strlen(text) >= sizeof found->file)
            continue; // read all lines, so that addr2line can end
        *colon = 0;
        if (address == 1 && !root[0])
            copy_root(text, root, sizeof root);
        if (is_own(text, root) || is_of_toolkit(text) || strncmp(text, "/usr/include/", strlen("/usr/include/")) == 0)
            continue;
        if (found->line > 0) {
            snprintf(found->caller, sizeof found->caller, "%.*s:%d", (int)sizeof found->caller - 20, slash + 1, line);
            continue;
        }
        snprintf(found->file, sizeof found->file, "%s", text);
        found->line = line;
    }
}

static void look_up(const Frames *frames, Line *found)
{
    uintptr_t addresses[MAX_FRAMES];
    for (int k = 0; k < frames->count; k++)
        addresses[k] = frames->at[k] - frames->moved_by;
    FILE *lines = sim_open_lines(addresses, frames->count);
    if (!lines)
        return;
    take_line(lines, found);
    sim_close_lines(lines);
}

// Keeps the results: a program may make one mistake very often.
static void find_line(const Frames *frames, Place *p)
{
    static Lock lock;
    static Line known[MAX_LOOKUPS];
    static int count;
    sim_lock(&lock);
    int k = 0;
    while (k < count && known[k].hash != frames->hash)
        k++;
    if (k == count && count < MAX_LOOKUPS) {
        known[count++].hash = frames->hash;
        look_up(frames, &known[k]);
    }
    if (k < count) {
        memcpy(p->file, known[k].file, sizeof p->file);
        p->line = known[k].line;
        memcpy(p->caller, known[k].caller, sizeof p->caller);
    }
    sim_unlock(&lock);
}

void sim_set_host_line(const void *instruction, Place *p)
{
    void *called[MAX_FRAMES];
    const int count = sim_backtrace(called, MAX_FRAMES - 1);
    Frames frames = {.count = 0};
    add_frame(&frames, (const void *)sim_set_host_line);
    for (int k = 0; k < count && frames.count > 0; k++) // a return address is the instruction after the call
        add_frame(&frames, (const char *)called[k] - (called[k] != instruction));
    if (frames.count > 0)
        find_line(&frames, p);
}

// ---- Call sites: where memory was allocated and freed, looked up only if a message names it

enum { MAX_SITES = 1024, SITE_FRAMES = 16 };

typedef struct CallChain {
    uint64_t hash;
    int count;
    void *called[SITE_FRAMES]; // return addresses, innermost first
} CallChain;

static CallChain sites[MAX_SITES + 1]; // from 1 on; guarded by the lock of calls.h
static int site_count;

int sim_call_stack_id(void)
{
    CallChain here = {.hash = 0};
    here.count = sim_backtrace(here.called, SITE_FRAMES);
    for (int k = 0; k < here.count; k++)
        here.hash = (here.hash ^ (uintptr_t)here.called[k]) * 0x100000001b3;
    for (int k = 1; k <= site_count; k++)
        if (sites[k].hash == here.hash)
            return k;
    if (here.count <= 0 || site_count == MAX_SITES)
        return 0;
    sites[++site_count] = here;
    return site_count;
}

bool sim_set_line_of_stack(int site, Place *p)
{
    Frames frames = {.count = 0};
    add_frame(&frames, (const void *)sim_set_host_line);
    for (int k = 0; k < sites[site].count && frames.count > 0; k++)
        add_frame(&frames, (const char *)sites[site].called[k] - 1);
    if (frames.count > 0)
        find_line(&frames, p);
    return p->line > 0;
}

void sim_set_calling_line(const void *return_address, Place *p)
{
    Frames frames = {.count = 0};
    add_frame(&frames, (const void *)sim_set_host_line);
    add_frame(&frames, (const char *)return_address - 1);
    if (frames.count == 2)
        find_line(&frames, p);
}
