// host_data.c: input data that the harness of a step passes to the program, and the expected results. docs/check.md explains the choice.
#include "compiler/host.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LESSON_DATA, ONES, ASCENDING, ALTERNATING }; // HARNESS_DATA
enum { PERIOD = 2 * 500009 }; // elements of the sum's data, as in step00_baseline/reduce.cu
static const int64_t MAX_ELEMENTS = 1 << 24;

static float *new_floats(int64_t count)
{
    float *values = malloc((size_t)(count ? count : 1) * sizeof *values);
    if (!values)
        sim_die("out of memory for a program's data");
    return values;
}

static void fill_ones(float *values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        values[k] = 1;
}

static void fill_ascending(float *values, int64_t count) // multiples of 1/16, so that every sum is exact
{
    for (int64_t k = 0; k < count; k++)
        values[k] = (float)(k % 16 + 1) / 16;
}

static void fill_alternating(float *values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        values[k] = k % 2 ? -1 : 1;
}

// Elements are k/16 with a nonzero integer k from -16 to 16; the second half of a period is the negated first half.
static void fill_for_sum(float *values, int64_t count)
{
    uint64_t random = 1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t in_period = k % PERIOD;
        if (k >= PERIOD / 2) {
            values[k] = in_period >= PERIOD / 2 ? -values[in_period - PERIOD / 2] : values[in_period];
            continue;
        }
        random = random * 6364136223846793005u + 1442695040888963407u; // Knuth, MMIX
        const int value = (int)(random >> 59) - 16;
        values[k] = (float)(value + (value >= 0)) / 16;
    }
}

// The prescribed sum of elements 0 to i, as in scan/step00_baseline/scan.cu.
static float sum_up_to(int64_t i)
{
    uint64_t bits = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return i < 0 ? 0 : (float)(2 * (int)(bits >> 50) + (int)(i & 1) - (1 << 14));
}

static void fill_for_scan(float *values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        values[k] = sum_up_to(k) - sum_up_to(k - 1);
}

static float *new_data(int64_t count, int64_t data, void (*fill)(float *values, int64_t count))
{
    void (*const fills[])(float *, int64_t) = {fill, fill_ones, fill_ascending, fill_alternating};
    float *values = new_floats(count);
    fills[data >= LESSON_DATA && data <= ALTERNATING ? data : LESSON_DATA](values, count);
    return values;
}

// ---- Lines of the recording

// Writes a line `verb`, "write" or "read", with the address from the call's first argument.
static bool write_line(const HostCall *call, const char *verb, const float *values, int64_t count)
{
    Host *h = call->host;
    const Constant *at = &call->arguments[0];
    const uint64_t bytes = (uint64_t)count * sizeof *values;
    uint64_t there;
    if (!host_is_on_device(h, at, bytes, &there))
        return host_fail(call, NULL, "the array has no room for %" PRId64 " elements", count);
    const uint64_t name = host_write_bytes(h, values, bytes);
    fprintf(h->calls, "%s ", verb);
    host_write_position(h, at);
    fprintf(h->calls, " %" PRIu64 " %016" PRIx64 "\n", bytes, name);
    return true;
}

static bool check_count(const HostCall *call, int64_t count)
{
    return (count >= 0 && count <= MAX_ELEMENTS) || host_fail(call, NULL, "a page runs at most %" PRId64 " elements", MAX_ELEMENTS);
}

static bool write_data(const HostCall *call, void (*fill)(float *, int64_t)) // to, count, data
{
    const int64_t count = call->arguments[1].integer;
    if (!check_count(call, count))
        return false;
    float *values = new_data(count, call->arguments[2].integer, fill);
    const bool is_written = write_line(call, "write", values, count);
    free(values);
    return is_written;
}

bool host_sum_data(const HostCall *call, Constant *value)
{
    *value = (Constant){0};
    return write_data(call, fill_for_sum);
}

bool host_scan_data(const HostCall *call, Constant *value)
{
    *value = (Constant){0};
    return write_data(call, fill_for_scan);
}

bool host_sum_expected(const HostCall *call, Constant *value) // from, n, data
{
    const int64_t n = call->arguments[1].integer;
    *value = (Constant){0};
    if (!check_count(call, n))
        return false;
    float *values = new_data(n, call->arguments[2].integer, fill_for_sum);
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += values[k];
    free(values);
    const float expected = (float)sum;
    return write_line(call, "read", &expected, 1);
}

bool host_scan_expected(const HostCall *call, Constant *value) // from, n, exclusive, data
{
    const int64_t n = call->arguments[1].integer;
    const bool exclusive = call->arguments[2].integer;
    *value = (Constant){0};
    if (!check_count(call, n))
        return false;
    float *values = new_data(n, call->arguments[3].integer, fill_for_scan);
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        const double inclusive = sum + values[k];
        values[k] = (float)(exclusive ? sum : inclusive);
        sum = inclusive;
    }
    const bool is_written = write_line(call, "read", values, n);
    free(values);
    return is_written;
}
