// main.c: replay RECORDING [--without LINES | --lines]: runs what SIM_RECORD=RECORDING has recorded again, with the
// settings of the environment, and prints what replay.h says.
#include "page/replay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *read_whole(const char *name, size_t *bytes)
{
    FILE *file = fopen(name, "rb");
    char *text = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0 && (*bytes = (size_t)ftell(file), text = malloc(*bytes + 1))) {
        rewind(file);
        if (fread(text, 1, *bytes, file) == *bytes)
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
