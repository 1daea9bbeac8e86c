// exit_checks.c: checks at the program's exit: memory leaks and kernels without effect.
//
// Two messages are warnings without a finding, since they may be intended: the program has kernels and copies data, but launches none;
// or no kernel wrote anything while results were copied from the device.
#include "base/platform.h"
#include "checker/host_checks.h"
#include "checker/kernel_checks.h"

static struct {
    uint64_t copied_to, copied_from; // bytes to and from the device
    int64_t kernels;                 // kernels in loaded modules
    uint64_t attempts;               // launches, including rejected ones
    uint64_t launches;               // launches that completed
    uint64_t with_effect;            // completed launches that may have written something
} totals;

void sim_note_copy(bool from_device, size_t bytes)
{
    *(from_device ? &totals.copied_from : &totals.copied_to) += bytes;
}

void sim_add_to_kernel_count(int change)
{
    totals.kernels += change;
}

void sim_note_launch_attempt(void)
{
    totals.attempts++;
}

// Whether the kernel has instructions whose effects are not counted as stores or atomic operations.
static bool has_other_effects(const Program *program)
{
    for (uint32_t k = 0; k < program->count; k++)
        if (program->code[k].effects & UNCOUNTED)
            return true;
    return program->has_calls;
}

void sim_note_launch(const Launch *launch)
{
    const Counters *c = &launch->counters;
    totals.launches++;
    totals.with_effect += c->global_store_requests > 0 || c->atomics > 0 || has_other_effects(launch->kernel->program);
}

static void warn_about_no_effect(void)
{
    if (totals.attempts == 0 && (totals.copied_to || totals.copied_from) && totals.kernels)
        fprintf(stderr, "simulator: the program has kernels and copies data to or from the device, but launches no kernel; "
                        "kernel<<<blocks, threads>>>(...) launches one\n");
    if (totals.launches && totals.launches == totals.attempts && totals.with_effect == 0 && totals.copied_from)
        fprintf(stderr, "simulator: %llu kernel%s ran without writing anything: no thread executed a store, so the program "
                        "copied unchanged data from the device\n",
                (unsigned long long)totals.launches, totals.launches == 1 ? "" : "s");
}

static void report_leaks(void)
{
    char title[300], largest_bytes[100], hint[HINT_BYTES] = "call cudaFree()";
    size_t count = 0, bytes = 0;
    const Allocation *largest = NULL;
    for (const Allocation *a = sim_allocation_above(0); a; a = sim_allocation_above(a->address)) {
        if (!a->call)
            continue;
        count++;
        bytes += a->bytes;
        largest = largest && largest->bytes >= a->bytes ? largest : a;
    }
    if (!largest)
        return;
    sim_describe_allocation(largest, largest_bytes, sizeof largest_bytes);
    snprintf(title, sizeof title, "%zu allocation%s of %zu bytes in total %s never freed; the largest is %s", count,
             count == 1 ? "" : "s", bytes, count == 1 ? "was" : "were", largest_bytes);
    sim_add_allocation_note(largest, hint);
    sim_add_finding(LEAK, title, NULL, 0, hint);
}

static void check_at_exit(int status)
{
    if (status == 0)
        warn_about_no_effect();
    if (sim_settings()->checks_leaks)
        report_leaks();
}

// Registered after the handler of findings.c, so that it runs earlier.
__attribute__((constructor(102))) static void register_check_at_exit(void)
{
    if (sim_checker_enabled())
        sim_on_exit(check_at_exit);
}
