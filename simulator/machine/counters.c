// counters.c: appends a row for each launch to the file of $SIM_COUNTERS; with $SIM_SPEED, prints the host's speed at exit.
#include "base/platform.h"
#include "machine/block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Writes the name of the program's folder: "step03_sequential" of ".../step03_sequential/reduce".
static void get_step_name(char *name, size_t space)
{
    char path[4096];
    sim_program_path(path, sizeof path);
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    slash = strrchr(path, '/');
    snprintf(name, space, "%.200s", slash ? slash + 1 : path);
}

static uint64_t total_instructions;
static double total_seconds;

static void print_speed(void)
{
    fprintf(stderr, "simulator: %" PRIu64 " warp instructions in %.6f s of the host\n", total_instructions, total_seconds);
}

// Exits because the counters cannot be written.
static _Noreturn void exit_with_error(const char *path)
{
    fprintf(stderr, "simulator: cannot write the counters to %s: %s\n", path, strerror(errno));
    exit(EXIT_FAILURE);
}

// Writes the block dimensions: "256", "32x8" or "8x4x2". The thread count does not suffice, because the dimensions may
// change the access order.
static void write_block_dim(FILE *file, dim3 block)
{
    fprintf(file, "%u", block.x);
    if (block.y > 1 || block.z > 1)
        fprintf(file, "x%u", block.y);
    if (block.z > 1)
        fprintf(file, "x%u", block.z);
}

void sim_record_throughput(const Launch *launch, double host_seconds)
{
    if (!sim_settings()->prints_speed)
        return;
    if (total_instructions == 0)
        atexit(print_speed);
    total_instructions += launch->counters.warp_instructions;
    total_seconds += host_seconds;
}

static FILE *open_counters(const char *path)
{
    FILE *file = sim_open_output(path);
    if (!file)
        exit_with_error(path);
    fprintf(file, "step,kernel,launch,grid,block,warp_instructions,active_lanes_mean,divergent_branches,shared_loads,"
                  "shared_stores,bank_conflicts,global_load_requests,global_load_sectors,global_store_requests,"
                  "global_store_sectors,atomics,shuffles,block_barriers,warp_barriers,uneven_loops\n");
    return file;
}

static void write_row(FILE *file, const char *step, int number, const Launch *launch)
{
    const Counters *c = &launch->counters;
    const Slice kernel = sim_unqualified_name(launch->kernel->name);
    fprintf(file, "%s,%.*s,%d,%" PRIu64 ",", step, (int)kernel.length, kernel.text, number, launch->blocks);
    write_block_dim(file, launch->block);
    fprintf(file, ",%" PRIu64 ",%.3f", c->warp_instructions,
            c->warp_instructions ? (double)c->active_lanes / (double)c->warp_instructions : 0.0);
    const uint64_t totals[] = {c->divergent_branches, c->shared_loads, c->shared_stores, c->bank_conflicts,
                               c->global_load_requests, c->global_load_sectors, c->global_store_requests,
                               c->global_store_sectors, c->atomics, c->shuffles, c->block_barriers, c->warp_barriers, c->uneven_loops};
    for (size_t k = 0; k < sizeof totals / sizeof *totals; k++)
        fprintf(file, ",%" PRIu64, totals[k]);
    fprintf(file, "\n");
}

void sim_write_counters(const Launch *launch)
{
    static FILE *file;
    static int number;
    static char step[256];
    const char *path = sim_settings()->counters;
    if (!path)
        return;
    if (!file) {
        file = open_counters(path);
        get_step_name(step, sizeof step);
    }
    write_row(file, step, number++, launch);
    if (fflush(file) != 0 || ferror(file))
        exit_with_error(path);
}
