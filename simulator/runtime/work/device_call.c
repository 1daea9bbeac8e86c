// device_call.c: arguments and results of a call of the device runtime, and the last error of each thread.
#include "runtime/work/device_call.h"
#include "checker/host_checks.h"
#include "runtime/work/properties.h"

#include <stdarg.h>
#include <string.h>

// ---- Calls by single lanes

uint64_t sim_argument(const Call *c, int index, size_t bytes)
{
    uint64_t value = 0;
    sim_call_argument(c->w, c->i, c->lane, index, &value, bytes);
    return value;
}

dim3 sim_dim3_argument(const Call *c, int index)
{
    dim3 size = {0, 0, 0};
    sim_call_argument(c->w, c->i, c->lane, index, &size, sizeof size);
    return size;
}

uint32_t sim_device_thread(const Call *c)
{
    return (uint32_t)(c->w->number * LANES + c->lane);
}

void sim_store_for_lane(const Call *c, uint64_t address, const void *value, size_t bytes)
{
    const size_t unit = bytes % 8 == 0 && address % 8 == 0 ? 8 : 4;
    for (size_t k = 0; k < bytes; k += unit)
        memcpy(sim_access_lane(c->w, c->i, c->lane, GENERIC, address + k, unit, unit, ACCESS_WRITE),
               (const char *)value + k, unit);
}

// ---- The last error of each thread

// Returns the link to the thread's error, or a link that is NULL. The search stops at the first error of another block, because a
// block's errors are adjacent in the list unless blocks are time-sliced.
static ThreadError **find_error(const Call *c)
{
    const Block *b = c->w->block;
    ThreadError **link = &c->grid->errors;
    while (*link && ((*link)->block != b->number || (*link)->thread != sim_device_thread(c)))
        link = (*link)->block == b->number || b->launch->time_sliced ? &(*link)->next : &c->grid->null_error;
    return link;
}

__attribute__((format(printf, 3, 4)))
cudaError_t sim_set_device_error(const Call *c, cudaError_t error, const char *format, ...)
{
    Grid *g = c->grid;
    ThreadError *e = *find_error(c);
    if (!e) {
        e = sim_allocate(&g->nested_launch->arena, sizeof *e);
        e->next = g->errors;
        g->errors = e;
    }
    *e = (ThreadError){c->w->block->number, sim_device_thread(c), error, NULL, c->i, e->next};
    if (g->nested_launch->reported == MAX_REPORTED)
        return error;
    g->nested_launch->reported++;
    char what[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    e->what = strcpy(sim_allocate(&g->nested_launch->arena, strlen(what) + 1), what);
    return error;
}

cudaError_t sim_get_device_error(const Call *c, bool clear)
{
    ThreadError **link = find_error(c);
    const cudaError_t error = *link ? (*link)->error : cudaSuccess;
    if (*link)
        (*link)->what = NULL;
    if (*link && clear)
        *link = (*link)->next;
    return error;
}

void sim_report_device_errors(const Grid *g)
{
    for (const ThreadError *e = sim_checker_enabled() ? g->errors : NULL; e; e = e->next) {
        char title[400];
        if (!e->what)
            continue;
        snprintf(title, sizeof title, "%s: %s (%s), and the thread did not check for errors", e->what, sim_error_text(e->error),
                 sim_error_name(e->error));
        const FindingLocation location = sim_location_of(&g->launch, e->block, e->thread, e->call_instr, "call of the device runtime", OTHER_ROLE);
        sim_add_finding(UNCHECKED_ERROR, title, &location, 1,
                        e->error == cudaErrorLaunchOutOfResources
                            ? "call cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ...) before the first launch"
                            : "");
    }
}
