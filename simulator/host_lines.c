// host_lines.c: which line of the host's source calls the runtime now, or has touched memory that it may not.
//
// The program's debug information tells (nvcc -Xcompiler -g1), and addr2line, which comes with the compiler, reads it.
// Where either is missing, the line stays unknown.
#define _GNU_SOURCE // dl_iterate_phdr
#include "findings.h"

#include <execinfo.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FRAMES = 40 };

static int note_program(struct dl_phdr_info *object, size_t size, void *moved_by)
{
    (void)size;
    *(uintptr_t *)moved_by = object->dlpi_addr;
    return 1; // the first one is the program; no further ones
}

// Whether a file lies in the folder of CUDA's headers, or below it.
static bool is_of_toolkit(const char *file)
{
    char path[500];
    snprintf(path, sizeof path - strlen("/cuda_runtime_api.h"), "%s", file);
    for (char *slash = strrchr(path, '/'); slash && slash != path; slash = strrchr(path, '/')) {
        strcpy(slash, "/cuda_runtime_api.h");
        if (access(path, R_OK) == 0)
            return true;
        *slash = 0;
    }
    return false;
}

// Asks addr2line for the lines of these instructions, the first of which is the simulator's: of each its address, then
// "file:line", first the innermost of functions that were inlined.
static FILE *ask_lines(const void *const *frames, int count)
{
    char command[100 + 24 * MOST_FRAMES];
    uintptr_t moved_by = 0;
    dl_iterate_phdr(note_program, &moved_by);
    int length = snprintf(command, sizeof command, "addr2line -a -i -e /proc/%d/exe", (int)getpid());
    for (int k = 0; k < count; k++)
        length += snprintf(command + length, sizeof command - (size_t)length, " 0x%llx",
                           (unsigned long long)((uintptr_t)frames[k] - moved_by));
    snprintf(command + length, sizeof command - (size_t)length, " 2>/dev/null");
    return popen(command, "r");
}

// Takes the first line that is neither the simulator's, whose folder that of the first address tells, nor of CUDA's or
// the system's headers. (In the driver's library, which is no part of the program, the simulator has no lines.)
static void take_line(FILE *lines, Place *p)
{
    char text[500], own[500] = "";
    int address = 0;
    while (fgets(text, sizeof text, lines)) {
        char *colon = strrchr(text, ':'), *slash = strrchr(text, '/');
        const int line = colon ? atoi(colon + 1) : 0;
        address += strncmp(text, "0x", 2) == 0;
        if (line <= 0 || !slash || p->line > 0 || strlen(text) >= sizeof p->file)
            continue; // read on, so that addr2line can end
        *colon = 0;
        if (address == 1)
            snprintf(own, sizeof own, "%.*s", (int)(slash + 1 - text), text);
        if ((own[0] && strncmp(text, own, strlen(own)) == 0) || is_of_toolkit(text) ||
            strncmp(text, "/usr/include/", strlen("/usr/include/")) == 0)
            continue;
        snprintf(p->file, sizeof p->file, "%s", text);
        p->line = line;
    }
}

static void find_line(const void *const *frames, int count, Place *p)
{
    FILE *lines = ask_lines(frames, count);
    if (lines) {
        take_line(lines, p);
        pclose(lines);
    }
}

void sim_find_host_line(const void *instruction, Place *p)
{
    void *frames[MOST_FRAMES] = {(void *)sim_find_host_line};
    const int count = 1 + backtrace(frames + 1, MOST_FRAMES - 1);
    for (int k = 1; k < count; k++)
        if (frames[k] != instruction) // it is where the call comes back to, behind it
            frames[k] = (char *)frames[k] - 1;
    find_line((const void *const *)frames, count, p);
}

void sim_find_line_before(const void *return_address, Place *p)
{
    const void *const frames[] = {(const void *)sim_find_host_line, (const char *)return_address - 1};
    find_line(frames, 2, p);
}
