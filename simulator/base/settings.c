// settings.c: reads and validates all environment variables before main runs, so that an invalid one is reported at once.
#include "base/base.h"
#include "base/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_SETTING_STATUS = 2 }; // exit status
enum { MAX_SMS = 1024 };

static Settings settings; // immutable once settings_once is done, except by sim_set_orders
static Once settings_once;

static _Noreturn void reject(const char *name, const char *text, const char *accepted)
{
    fprintf(stderr, "simulator: %s is '%s'; accepted: %s\n", name, text, accepted);
    exit(INVALID_SETTING_STATUS);
}

// ---- Parsers. `text` is the variable's value, or NULL if it is not set.

typedef struct Setting Setting;
typedef void SetSetting(const Setting *s, const char *text);

struct Setting {
    const char *name;
    SetSetting *set;
    void *field; // member of `settings`, with the type that `set` stores
    uint64_t default_value, min, max; // of a number; zeros for other types
    const char *accepted;
};

static uint64_t parse_number(const Setting *s, const char *text)
{
    char *end = NULL;
    errno = 0;
    const uint64_t value = text ? strtoull(text, &end, 10) : s->default_value;
    if (text && (*text < '0' || *text > '9' || *end || errno || value < s->min || value > s->max))
        reject(s->name, text, s->accepted);
    return value;
}

static void set_uint64(const Setting *s, const char *text)
{
    *(uint64_t *)s->field = parse_number(s, text);
}

static void set_int(const Setting *s, const char *text)
{
    *(int *)s->field = (int)parse_number(s, text);
}

static void set_bool(const Setting *s, const char *text)
{
    *(bool *)s->field = parse_number(s, text);
}

static void set_text(const Setting *s, const char *text)
{
    if (text && !*text)
        reject(s->name, text, s->accepted);
    *(const char **)s->field = text;
}

static void set_checks(const Setting *s, const char *text)
{
    settings.checks = !text || strcmp(text, "0") != 0;
    settings.checks_leaks = text && strcmp(text, "leaks") == 0;
    if (settings.checks && !settings.checks_leaks && text && strcmp(text, "1") != 0)
        reject(s->name, text, s->accepted);
}

static void set_traced_block(const Setting *s, const char *text)
{
    settings.traces_all = text && strcmp(text, "all") == 0;
    if (!settings.traces_all)
        set_uint64(s, text);
}

static void set_block_order(const Setting *s, const char *text)
{
    settings.random_order = text != NULL;
    set_uint64(s, text);
}

// ---- The variables. make tables copies the comment above a row into simulator/README.md.

static const Setting SETTINGS[] = {
    // file for [counters](counters.md), a row for each launch
    {"SIM_COUNTERS", set_text, &settings.counters, 0, 0, 0, "a file name"},
    // whether operations that can replace a load, a store or a block barrier [count as one](counters.md): make judge sets it for goals
    {"SIM_ATOMIC_LOADS", set_bool, &settings.counts_atomic_loads, 0, 0, 1, "1, to count them, or 0"},
    // file for the [trace of a warp](counters.md#what-a-warp-does-line-by-line)
    {"SIM_TRACE", set_text, &settings.trace, 0, 0, 0, "a file name"},
    // traced block; block 0 if not set
    {"SIM_TRACE_BLOCK", set_traced_block, &settings.traced_block, 0, 0, UINT64_MAX,
     "a block number, or all"},
    // maximum number of trace rows for each launch; all if not set
    {"SIM_TRACE_ROWS", set_uint64, &settings.max_trace_rows, UINT64_MAX, 1, UINT64_MAX, "a number of rows, at least 1"},
    // whether the trace has [the values of each lane](counters.md#what-a-warp-does-line-by-line)
    {"SIM_TRACE_VALUES", set_bool, &settings.traces_values, 0, 0, 1, "1, for a column of values, or 0"},
    // `0`: no checks; `1`: the default; `leaks`: memory leaks are findings, too
    {"SIM_CHECK", set_checks, NULL, 0, 0, 0, "0 (off), 1 or leaks"},
    // whether a data race in which all threads write the same value is an error; without it, a warning
    {"SIM_STRICT", set_bool, &settings.strict, 0, 0, 1, "1, for an error instead of a warning, or 0"},
    // file for [findings](../docs/findings.md), as JSON
    {"SIM_FINDINGS", set_text, &settings.findings, 0, 0, 0, "a file name"},
    // pattern of kernels' names, with `*` and `?`: findings in other kernels are not reported
    {"SIM_KERNEL", set_text, &settings.kernel, 0, 0, 0, "a pattern, such as reduce*"},
    // file of [findings that are not reported](../docs/drywarp.md#use)
    {"SIM_SUPPRESSIONS", set_text, &settings.suppressions, 0, 0, 0, "a file name"},
    // file for [a recording](how-it-works.md#recordings) of the program's device operations, for replay
    {"SIM_RECORD", set_text, &settings.record, 0, 0, 0, "a file name"},
    // number of host threads that run blocks; one for each core if not set
    {"SIM_THREADS", set_uint64, &settings.threads, 0, 1, UINT64_MAX, "a number of host threads, at least 1"},
    // whether [blocks are interleaved](how-it-works.md#blocks)
    {"SIM_TOGETHER", set_bool, &settings.time_sliced, 0, 0, 1, "1, for interleaved blocks, or 0"},
    // seed of a random [order of blocks, warps and lanes](how-it-works.md#blocks)
    {"SIM_BLOCK_ORDER", set_block_order, &settings.block_order, 0, 0, UINT64_MAX, "a number"},
    // whether [the lanes of each warp](how-it-works.md#blocks) start in two random groups; without the checker, whose rules for the threads of a warp assume one group
    {"SIM_LANES_APART", set_bool, &settings.lanes_apart, 0, 0, 1, "1, for two groups of lanes in each warp, or 0"},
    // number of warp instructions after which a block counts as an infinite loop
    {"SIM_MAX_INSTRUCTIONS", set_uint64, &settings.max_instructions, 1000000000, 1, UINT64_MAX,
     "a number of warp instructions, at least 1"},
    // whether [memoised launches](how-it-works.md#memoised-launches) and idle blocks are executed instead of skipped
    {"SIM_REPEAT", set_bool, &settings.takes_no_shortcuts, 0, 0, 1, "1, to run every launch and every block, or 0"},
    // number of SMs of the GPU
    {"SIM_SMS", set_int, &settings.sms, 132, 1, MAX_SMS, "a number of SMs, from 1 to 1024"},
    // number of GPUs
    {"SIM_DEVICES", set_int, &settings.devices, 1, 1, SIM_MAX_DEVICES, "a number of GPUs, from 1 to 16"},
    // number of seconds from the program's first launch after which it ends, with status 124 or that of its findings
    {"SIM_TIME_LIMIT", set_uint64, &settings.time_limit_s, 0, 1, UINT64_MAX, "a number of seconds, at least 1"},
    // whether the program prints a last line with the number of warp instructions and their run time
    {"SIM_SPEED", set_bool, &settings.prints_speed, 0, 0, 1, "1, to print that line, or 0"},
};

static void read_settings(void)
{
    for (size_t k = 0; k < sizeof SETTINGS / sizeof *SETTINGS; k++)
        SETTINGS[k].set(&SETTINGS[k], getenv(SETTINGS[k].name));
}

const Settings *sim_settings(void)
{
    sim_once(&settings_once, read_settings);
    return &settings;
}

void sim_set_orders(bool time_sliced, bool random_order, uint64_t block_order)
{
    sim_settings();
    settings.time_sliced = time_sliced;
    settings.random_order = random_order;
    settings.block_order = block_order;
}

__attribute__((constructor(101))) static void validate_settings(void)
{
    sim_settings();
}

bool sim_checker_enabled(void)
{
    return sim_settings()->checks;
}
