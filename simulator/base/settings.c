// settings.c: what the environment asks for. All variables are read, and refused where they are wrong, before the
// program begins: none is misread silently, and none only after an hour.
#include "base/base.h"
#include "base/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WRONG_ARGUMENT = 2, MOST_SMS = 1024 }; // the first: the status with which the program ends

static Settings settings;
static Once known; // `settings` is only read from then on

static _Noreturn void refuse(const char *name, const char *text, const char *accepted)
{
    fprintf(stderr, "simulator: %s is '%s'; accepted is %s\n", name, text, accepted);
    exit(WRONG_ARGUMENT);
}

// The number in a variable, or `otherwise` if it is not set.
static uint64_t number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most, const char *accepted)
{
    const char *text = getenv(name);
    char *end = NULL;
    errno = 0;
    const uint64_t value = text ? strtoull(text, &end, 10) : otherwise;
    if (text && (*text < '0' || *text > '9' || *end || errno || value < least || value > most))
        refuse(name, text, accepted);
    return value;
}

// The name of a file, or NULL if the variable is not set.
static const char *file(const char *name)
{
    const char *text = getenv(name);
    if (text && !*text)
        refuse(name, text, "the name of a file");
    return text;
}

static void read_check(void)
{
    const char *text = getenv("SIM_CHECK");
    settings.checks = !text || strcmp(text, "0") != 0;
    settings.checks_leaks = text && strcmp(text, "leaks") == 0;
    if (settings.checks && !settings.checks_leaks && text && strcmp(text, "1") != 0)
        refuse("SIM_CHECK", text, "0 (off), 1 or leaks");
}

static void read_traced_block(void)
{
    const char *text = getenv("SIM_TRACE_BLOCK");
    settings.traces_all = text && strcmp(text, "all") == 0;
    if (!settings.traces_all)
        settings.traced_block = number("SIM_TRACE_BLOCK", 0, 0, UINT64_MAX, "a block's number, from 0 on, or all");
}

static void read_settings(void)
{
    read_check();
    read_traced_block();
    settings.counters = file("SIM_COUNTERS");
    settings.findings = file("SIM_FINDINGS");
    settings.trace = file("SIM_TRACE");
    settings.threads = number("SIM_THREADS", 0, 1, UINT64_MAX, "how many host threads run blocks, from 1 on");
    settings.max_instructions =
        number("SIM_MAX_INSTRUCTIONS", 1000000000, 1, UINT64_MAX, "a number of warp instructions, from 1 on");
    settings.sms = (int)number("SIM_SMS", 132, 1, MOST_SMS, "a number of SMs, from 1 to 1024");
    settings.devices = (int)number("SIM_DEVICES", 1, 1, SIM_MOST_DEVICES, "a number of GPUs, from 1 to 16");
    settings.together = number("SIM_TOGETHER", 0, 0, 1, "1, for blocks that take turns, or 0");
    settings.shuffles = getenv("SIM_BLOCK_ORDER") != NULL;
    settings.block_order = number("SIM_BLOCK_ORDER", 0, 0, UINT64_MAX, "a number, from 0 on");
    settings.says_speed = number("SIM_SPEED", 0, 0, 1, "1, for a line about it, or 0");
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
