// suppressions.c: reads $SIM_KERNEL and the file $SIM_SUPPRESSIONS, and decides which findings are not reported.
#define _GNU_SOURCE // getline
#include "base/base.h"
#include "base/platform.h"
#include "checker/findings.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { USAGE_STATUS = 2 }; // exit status

typedef struct Suppression {
    char kind[32]; // name of a kind of finding, or "*"
    char *pattern; // of fnmatch(3)
} Suppression;

// Immutable once main runs.
static Suppression *suppressions;
static size_t suppression_count;

static bool is_kind(const char *name)
{
    bool found = strcmp(name, "*") == 0;
    for (int kind = 0; kind < FINDING_KINDS && !found; kind++)
        found = strcmp(name, sim_kinds[kind].name) == 0;
    return found;
}

static void add_suppression(const char *line, const char *file, int number)
{
    Suppression s = {.kind = ""};
    const size_t length = strcspn(line, ":");
    if (line[length] == ':' && length < sizeof s.kind)
        memcpy(s.kind, line, length);
    if (!is_kind(s.kind) || !line[length + 1]) {
        fprintf(stderr, "simulator: %s:%d is '%s'; accepted: KIND:PATTERN, such as race-global:histogram* or *:*/library/*\n", file, number, line);
        _Exit(USAGE_STATUS); // without the findings that are written at exit
    }
    s.pattern = strdup(line + length + 1);
    suppressions = realloc(suppressions, (suppression_count + 1) * sizeof *suppressions);
    if (!suppressions || !s.pattern)
        sim_die("out of memory: suppressions");
    suppressions[suppression_count++] = s;
}

// Settings are validated before main, so that an unusable file is reported before the program starts.
__attribute__((constructor(102))) static void read_suppressions(void)
{
    const char *name = sim_settings()->suppressions;
    errno = 0;
    FILE *file = name ? sim_open_source(name) : NULL; // not fopen: a page has no files
    char *line = NULL;
    size_t capacity = 0;
    errno = file || !name ? 0 : errno ? errno : EISDIR;
    for (int number = 1; file && getline(&line, &capacity, file) >= 0; number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] && line[0] != '#')
            add_suppression(line, name, number);
    }
    if (name && errno) { // also of a folder
        fprintf(stderr, "simulator: cannot read the suppressions in %s: %s\n", name, strerror(errno));
        _Exit(USAGE_STATUS); // without the findings that are written at exit
    }
    free(line);
    if (file)
        fclose(file);
}

// A pattern matches a kernel's whole name, also without its template arguments and parameters: "reduce<256u>(float*)", "reduce".
static bool matches_kernel(const char *pattern, const char *kernel)
{
    char name[sizeof ((FindingLocation *)NULL)->kernel];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(kernel, "<("), kernel);
    return kernel[0] && (fnmatch(pattern, kernel, 0) == 0 || fnmatch(pattern, name, 0) == 0);
}

static bool suppresses(const Suppression *s, FindingKind kind, const FindingLocation *p)
{
    return (strcmp(s->kind, "*") == 0 || strcmp(s->kind, sim_kinds[kind].name) == 0) &&
           (matches_kernel(s->pattern, p->kernel) || (p->file[0] && fnmatch(s->pattern, p->file, 0) == 0));
}

bool sim_is_suppressed(FindingKind kind, const FindingLocation *locations, int count)
{
    const char *chosen = sim_settings()->kernel;
    bool suppressed = false, in_kernel = false, in_chosen = false;
    for (int k = 0; k < count; k++) {
        in_kernel |= locations[k].kernel[0] != 0;
        in_chosen |= chosen && matches_kernel(chosen, locations[k].kernel);
        for (size_t n = 0; n < suppression_count; n++)
            suppressed |= suppresses(&suppressions[n], kind, &locations[k]);
    }
    return suppressed || (chosen && in_kernel && !in_chosen);
}
