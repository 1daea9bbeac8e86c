// player.c: the WebAssembly interface of the simulator. Each instance replays one recording.
#include "base/platform.h"
#include "page/replay.h"

#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(name)))

// Allocates a buffer for the page's arguments.
EXPORT("allocate") void *player_allocate(size_t bytes)
{
    return malloc(bytes);
}

static struct {
    const char *recording, *without;
    size_t bytes;
} input;

EXPORT("set_recording") void player_set_recording(const char *recording, size_t bytes, const char *without)
{
    input.recording = recording;
    input.bytes = bytes;
    input.without = without;
}

// Replays the recording; returns the status of sim_replay, or that of findings. The settings name the files "trace", "counters"
// and "findings"; the file "report" has the report of sim_replay.
int main(void)
{
    return sim_replay(input.recording, input.bytes, input.without, sim_open_output("report"));
}

// The content and the length of a file, after the process has ended.
EXPORT("file_text") const char *player_file_text(const char *name)
{
    size_t bytes;
    return sim_written_text(name, &bytes);
}

EXPORT("file_length") size_t player_file_length(const char *name)
{
    size_t bytes;
    sim_written_text(name, &bytes);
    return bytes;
}
