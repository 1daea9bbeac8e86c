// main.c: the command "replay".
//
// replay RECORDING [--without LINES | --lines]: replays a recording made with SIM_RECORD=RECORDING, with the settings of the
// environment, and prints the report described in replay.h.
//
// replay SOURCE.cu --host HARNESS.cu [-D NAME=VALUE]: compiles a source as the web page does, evaluates its host code
// (compiler/host.h), and replays the calls. --calls prints the calls instead.
#include "page/compile.h"
#include "page/replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Reads a file, and exits on failure. Checks ferror because fopen succeeds on a folder, and only fread fails.
static char *read_file(const char *name, size_t *bytes)
{
    enum { CHUNK = 1 << 20 };
    FILE *file = fopen(name, "rb");
    char *text = file ? malloc(CHUNK) : NULL;
    for (*bytes = 0; text; text = realloc(text, *bytes + CHUNK)) {
        const size_t count = fread(text + *bytes, 1, CHUNK, file);
        *bytes += count;
        if (count < CHUNK && ferror(file))
            break;
        if (count < CHUNK)
            return fclose(file), text;
    }
    fprintf(stderr, "replay: cannot read %s: %s\n", name, strerror(errno));
    exit(REPLAY_INVALID);
}

typedef struct Arguments {
    const char *file, *host, *without;
    bool has_lines_option, has_calls_option;
    char defines[1000]; // one per line
} Arguments;

static void exit_with_usage(void)
{
    fprintf(stderr, "usage: replay RECORDING [--without 20,t19 | --lines]\n"
                    "       replay SOURCE.cu --host HARNESS.cu [-D NAME=VALUE] [--without 20,t19 | --lines | --calls]\n");
    exit(REPLAY_INVALID);
}

static Arguments read_arguments(int argc, char **argv)
{
    Arguments a = {.without = ""};
    for (int k = 1; k < argc; k++) {
        const bool has_value = k + 1 < argc;
        const size_t used = strlen(a.defines);
        if (strcmp(argv[k], "--lines") == 0)
            a.has_lines_option = true;
        else if (strcmp(argv[k], "--calls") == 0)
            a.has_calls_option = true;
        else if (strcmp(argv[k], "--without") == 0 && has_value)
            a.without = argv[++k];
        else if (strcmp(argv[k], "--host") == 0 && has_value)
            a.host = argv[++k];
        else if (strcmp(argv[k], "-D") == 0 && has_value && used + strlen(argv[k + 1]) + 2 < sizeof a.defines)
            sprintf(a.defines + used, "%s\n", argv[++k]);
        else if (argv[k][0] != '-' && !a.file)
            a.file = argv[k];
        else
            exit_with_usage();
    }
    if (!a.file || (a.has_calls_option && !a.host))
        exit_with_usage();
    return a;
}

// Compiles a source, evaluates its host code, and returns the recording that the program would make.
static const char *compile_to_recording(const Arguments *a, size_t *bytes)
{
    const char *slash = strrchr(a->file, '/');
    PageSource source = {.file = slash ? slash + 1 : a->file, .host_file = a->host, .defines = a->defines};
    size_t host_bytes;
    source.text = read_file(a->file, &source.bytes);
    char *host = read_file(a->host, &host_bytes), *recording = NULL;
    host = realloc(host, host_bytes + 1);
    host[host_bytes] = 0;
    source.host = host;
    FILE *null_file = fopen("/dev/null", "w");
    const PageFiles files = {null_file, stderr, a->has_calls_option ? stdout : null_file};
    if (page_compile(&source, &files, &recording, bytes) || !recording)
        exit(REPLAY_INVALID);
    return recording;
}

int main(int argc, char **argv)
{
    const Arguments a = read_arguments(argc, argv);
    size_t bytes = 0;
    const char *recording = a.host ? compile_to_recording(&a, &bytes) : read_file(a.file, &bytes);
    if (a.has_calls_option)
        return 0;
    return a.has_lines_option ? sim_report_lines(recording, bytes, stdout) : sim_replay(recording, bytes, a.without, stdout, NULL);
}
