// stage.c: the simulator as a program of a page: an instance is given a recording, does its replay, and is thrown away.
#include "base/platform.h"
#include "page/replay.h"

#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(name)))

// Room for what the page hands over.
EXPORT("room") void *stage_room(size_t bytes)
{
    return malloc(bytes);
}

static struct {
    const char *recording, *without;
    size_t bytes;
} given;

EXPORT("give") void stage_give(const char *recording, size_t bytes, const char *without)
{
    given.recording = recording;
    given.bytes = bytes;
    given.without = without;
}

// Does the replay of what was given, and ends with its status, or with that of findings. The settings name the files
// "trace", "counters" and "findings"; what sim_replay reports is the file "report".
int main(void)
{
    return sim_replay(given.recording, given.bytes, given.without, sim_open_output("report"));
}

// What stands in a file when the process has ended, and how long that is.
EXPORT("text_of") const char *stage_text_of(const char *name)
{
    size_t bytes;
    return sim_text_of(name, &bytes);
}

EXPORT("length_of") size_t stage_length_of(const char *name)
{
    size_t bytes;
    sim_text_of(name, &bytes);
    return bytes;
}
