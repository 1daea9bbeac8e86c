// run_time.c: reports the progress of a long run, and ends the program at the limit of $SIM_TIME_LIMIT.
#include "machine/blocks.h"
#include "machine/observer.h"

#include <stdlib.h>
#include <time.h>

enum { FIRST_REPORT_S = 5 };      // seconds before the first report; each further one comes after twice the time
enum { TIME_LIMIT_STATUS = 124 }; // exit status at the limit, as that of timeout(1), if there are no findings

double sim_monotonic_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double first_launch_s; // start of the program's first launch; 0: none yet
static _Atomic double next_report_s = FIRST_REPORT_S; // seconds after it
static atomic_bool is_ending;                         // a thread has reached the limit

double sim_begin_run_time(void)
{
    const double now = sim_monotonic_seconds();
    first_launch_s = first_launch_s ? first_launch_s : now;
    return now;
}

// Writes the launch's progress and the likely cause of its run time.
static void describe_progress(const Launch *launch, char *text, size_t space)
{
    const uint64_t threads_per_block = (uint64_t)launch->block.x * launch->block.y * launch->block.z,
                   threads = launch->blocks * threads_per_block, many = 1 << 20;
    char name[200];
    sim_demangle(launch->kernel->name, name, sizeof name);
    snprintf(text, space, "launch %llu, kernel %s: started %llu of %llu blocks of %llu threads; %s", (unsigned long long)launch->number, name,
             (unsigned long long)launch->next_block, (unsigned long long)launch->blocks_to_run, (unsigned long long)threads_per_block,
             launch->number >= 100 ? "try fewer launches"
             : threads >= many     ? "try fewer elements"
                                   : "each thread executes many instructions: try less work");
}

static _Noreturn void end_at_limit(const char *progress)
{
    fprintf(stderr, "simulator: the limit of %llu s ($SIM_TIME_LIMIT) ends the program in %s\n",
            (unsigned long long)sim_settings()->time_limit_s, progress);
    if (sim_observer.end_program)
        sim_observer.end_program(TIME_LIMIT_STATUS);
    fflush(NULL);
    _Exit(TIME_LIMIT_STATUS);
}

void sim_check_run_time(const Launch *launch)
{
    const double seconds = sim_monotonic_seconds() - first_launch_s;
    const uint64_t limit_s = sim_settings()->time_limit_s;
    const bool at_limit = limit_s && seconds >= (double)limit_s;
    double due_s = next_report_s;
    if (!at_limit && seconds < due_s)
        return;
    if (at_limit ? atomic_exchange(&is_ending, true) : !atomic_compare_exchange_strong(&next_report_s, &due_s, 2 * due_s))
        return; // another thread reports
    char progress[500];
    describe_progress(launch, progress, sizeof progress);
    if (at_limit)
        end_at_limit(progress);
    fprintf(stderr, "simulator: after %.0f s in %s\n", seconds, progress);
}
