// player.c: the WebAssembly interface of the compiler and the simulator. Each instance compiles or runs one source, or replays one
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

static PageSource source; // text NULL: main replays the recording

EXPORT("set_source") void player_set_source(const char *file, const char *text, size_t bytes)
{
    source.file = file;
    source.text = text;
    source.bytes = bytes;
}

EXPORT("set_host") void player_set_host(const char *file, const char *text, const char *defines, const char *without)
{
    source.host_file = file;
    source.host = text;
    source.defines = defines;
    input.without = without;
}

// Compiles the source, if there is one, and writes the files "ptx", "diagnostics" and "calls". Replays the calls of the host code
// or of the recording, and writes sim_replay's files "report" and "contents". (The settings name the files "trace", "counters" and
// "findings".) The exit status is that of page_compile or of sim_replay, unless there are findings.
int main(void)
{
    char *recording = NULL;
    if (source.text) {
        const PageFiles files = {sim_open_output("ptx"), sim_open_output("diagnostics"), sim_open_output("calls")};
        const int status = page_compile(&source, &files, &recording, &input.bytes);
        input.recording = recording;
        if (status || !recording)
            return status;
    }
    return sim_replay(input.recording, input.bytes, input.without, sim_open_output("report"), sim_open_output("contents"));
}

// These return the content and the length of an output file after the program has ended.
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
