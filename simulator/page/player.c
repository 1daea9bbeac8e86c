// player.c: the WebAssembly interface of the compiler and the simulator. Each instance compiles one source, or replays one
// recording.
#include "base/platform.h"
#include "page/compile.h"
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

static struct {
    const char *file, *text; // NULL: replay the recording
    size_t bytes;
} source;

EXPORT("set_source") void player_set_source(const char *file, const char *text, size_t bytes)
{
    source.file = file;
    source.text = text;
    source.bytes = bytes;
}

// Compiles the source: writes the files "ptx" and "diagnostics", and returns the status of page_compile. Without a source,
// replays the recording; returns the status of sim_replay, or that of findings. The settings name the files "trace", "counters"
// and "findings"; the files "report" and "contents" have those of sim_replay.
int main(void)
{
    if (source.text)
        return page_compile(source.file, source.text, source.bytes, sim_open_output("ptx"), sim_open_output("diagnostics"));
    return sim_replay(input.recording, input.bytes, input.without, sim_open_output("report"), sim_open_output("contents"));
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
