// settings.c: reads and validates all environment variables before main runs, so that a mistake is reported at once.
#include "base/base.h"
#include "base/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG_ARGUMENT = 2, MAX_SMS = 1024 }; // WRONG_ARGUMENT: the program's exit status

static Settings settings;
static Once known; // `settings` is immutable afterwards

static _Noreturn void refuse(const char *name, const char *text, const char *accepted)
{
    fprintf(stderr, "simulator: %s is '%s'; accepted: %s\n", name, text, accepted);
    exit(WRONG_ARGUMENT);
}

// ---- Parsers of a variable's text; NULL: not set

typedef struct Setting Setting;
typedef void Read(const Setting *s, const char *text);

struct Setting {
    const char *name;
    Read *read;
    void *into; // of `settings`
    uint64_t otherwise, least, most; // of a number: default value and bounds
    const char *accepted;
};

static uint64_t number(const Setting *s, const char *text)
{
    char *end = NULL;
    errno = 0;
    const uint64_t value = text ? strtoull(text, &end, 10) : s->otherwise;
    if (text && (*text < '0' || *text > '9' || *end || errno || value < s->least || value > s->most))
        refuse(s->name, text, s->accepted);
    return value;
}

static void read_number(const Setting *s, const char *text)
{
    *(uint64_t *)s->into = number(s, text);
}

static void read_count(const Setting *s, const char *text)
{
    *(int *)s->into = (int)number(s, text);
}

static void read_switch(const Setting *s, const char *text)
{
    *(bool *)s->into = number(s, text);
}

static void read_file(const Setting *s, const char *text)
{
    if (text && !*text)
        refuse(s->name, text, s->accepted);
    *(const char **)s->into = text;
}

static void read_check(const Setting *s, const char *text)
{
    settings.checks = !text || strcmp(text, "0") != 0;
    settings.checks_leaks = text && strcmp(text, "leaks") == 0;
    if (settings.checks && !settings.checks_leaks && text && strcmp(text, "1") != 0)
        refuse(s->name, text, s->accepted);
}

static void read_traced_block(const Setting *s, const char *text)
{
    settings.traces_all = text && strcmp(text, "all") == 0;
    if (!settings.traces_all)
        read_number(s, text);
}

static void read_order(const Setting *s, const char *text)
{
    settings.shuffles = text != NULL;
    read_number(s, text);
}

// ---- The variables. make tables copies the comment above a row into simulator/README.md.

static const Setting SETTINGS[] = {
    // file for [counters](counters.md), a row for each launch
    {"SIM_COUNTERS", read_file, &settings.counters, 0, 0, 0, "a file name"},
    // file for the [trace of a warp](counters.md#what-a-warp-does-line-by-line)
    {"SIM_TRACE", read_file, &settings.trace, 0, 0, 0, "a file name"},
    // traced block; block 0 if not set
    {"SIM_TRACE_BLOCK", read_traced_block, &settings.traced_block, 0, 0, UINT64_MAX,
     "a block number, or all"},
    // maximum number of trace rows for each launch; all if not set
    {"SIM_TRACE_ROWS", read_number, &settings.traced_rows, UINT64_MAX, 1, UINT64_MAX, "a number of rows, at least 1"},
    // whether the trace has [the values of each lane](counters.md#what-a-warp-does-line-by-line)
    {"SIM_TRACE_VALUES", read_switch, &settings.traces_values, 0, 0, 1, "1, for a column of values, or 0"},
    // `0`: no checks; `1`: the default; `leaks`: memory leaks are findings, too
    {"SIM_CHECK", read_check, NULL, 0, 0, 0, "0 (off), 1 or leaks"},
    // whether a data race in which all threads write the same value is an error; without it, a warning
    {"SIM_STRICT", read_switch, &settings.strict, 0, 0, 1, "1, for an error instead of a warning, or 0"},
    // file for [findings](checker.md), as JSON
    {"SIM_FINDINGS", read_file, &settings.findings, 0, 0, 0, "a file name"},
    // file for [a recording](how-it-works.md#recordings) of the program's device operations, for replay
    {"SIM_RECORD", read_file, &settings.record, 0, 0, 0, "a file name"},
    // number of host threads that run blocks; one for each core if not set
    {"SIM_THREADS", read_number, &settings.threads, 0, 1, UINT64_MAX, "a number of host threads, at least 1"},
    // whether [blocks are interleaved](how-it-works.md#blocks)
    {"SIM_TOGETHER", read_switch, &settings.time_sliced, 0, 0, 1, "1, for interleaved blocks, or 0"},
    // seed of a random [order of blocks, warps and lanes](how-it-works.md#blocks)
    {"SIM_BLOCK_ORDER", read_order, &settings.block_order, 0, 0, UINT64_MAX, "a number"},
    // number of warp instructions after which a block counts as an infinite loop
    {"SIM_MAX_INSTRUCTIONS", read_number, &settings.max_instructions, 1000000000, 1, UINT64_MAX,
     "a number of warp instructions, at least 1"},
    // whether [launches run that would change nothing](how-it-works.md#launches-that-need-not-run), instead of being skipped
    {"SIM_REPEAT", read_switch, &settings.repeats, 0, 0, 1, "1, to run every launch, or 0"},
    // number of SMs of the GPU
    {"SIM_SMS", read_count, &settings.sms, 132, 1, MAX_SMS, "a number of SMs, from 1 to 1024"},
    // number of GPUs
    {"SIM_DEVICES", read_count, &settings.devices, 1, 1, SIM_MAX_DEVICES, "a number of GPUs, from 1 to 16"},
    // whether the program prints a last line with the number of warp instructions and their run time
    {"SIM_SPEED", read_switch, &settings.prints_speed, 0, 0, 1, "1, to print that line, or 0"},
};

static void read_settings(void)
{
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        SETTINGS[k].read(&SETTINGS[k], getenv(SETTINGS[k].name));
}

const Settings *sim_settings(void)
{
    sim_once(&known, read_settings);
    return &settings;
}

__attribute__((constructor(101))) static void refuse_wrong_ones(void)
{
    sim_settings();
}

bool sim_checks(void)
{
    return sim_settings()->checks;
}
