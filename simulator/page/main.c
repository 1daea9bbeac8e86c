// main.c: replay RECORDING [--without LINES | --lines]: replays a recording made with SIM_RECORD=RECORDING, with the settings
// of the environment, and prints the report of replay.h.
#include "page/replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Checks ferror because fopen succeeds on a folder, and only reading it fails.
static char *read_whole(const char *name, size_t *bytes)
{
    enum { PART = 1 << 20 };
    FILE *file = fopen(name, "rb");
    char *text = file ? malloc(PART) : NULL;
    for (*bytes = 0; text; text = realloc(text, *bytes + PART)) {
        const size_t count = fread(text + *bytes, 1, PART, file);
        *bytes += count;
        if (count < PART && ferror(file))
            break;
        if (count < PART)
            return fclose(file), text;
    }
    fprintf(stderr, "replay: cannot read %s: %s\n", name, strerror(errno));
    exit(REPLAY_REFUSED);
}

int main(int argc, char **argv)
{
    const bool lines = argc == 3 && strcmp(argv[2], "--lines") == 0;
    const bool without = argc == 4 && strcmp(argv[2], "--without") == 0;
    if (argc != 2 && !lines && !without) {
        fprintf(stderr, "usage: replay RECORDING [--without 20,t19 | --lines]\n");
        return REPLAY_REFUSED;
    }
    size_t bytes = 0;
    const char *recording = read_whole(argv[1], &bytes);
    return lines ? sim_report_lines(recording, bytes, stdout)
                 : sim_replay(recording, bytes, without ? argv[3] : "", stdout);
}
