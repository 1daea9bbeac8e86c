// main.c: replay RECORDING [--without LINES | --lines]: replays a recording made with SIM_RECORD=RECORDING, with the settings
// of the environment, and prints the report of replay.h.
#include "page/replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Checks ferror because fopen succeeds on a folder, and only reading it fails.
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

int main(int argc, char **argv)
{
    const bool has_lines = argc == 3 && strcmp(argv[2], "--lines") == 0;
    const bool has_without = argc == 4 && strcmp(argv[2], "--without") == 0;
    if (argc != 2 && !has_lines && !has_without) {
        fprintf(stderr, "usage: replay RECORDING [--without 20,t19 | --lines]\n");
        return REPLAY_INVALID;
    }
    size_t bytes = 0;
    const char *recording = read_file(argv[1], &bytes);
    return has_lines ? sim_report_lines(recording, bytes, stdout)
                 : sim_replay(recording, bytes, has_without ? argv[3] : "", stdout, NULL);
}
