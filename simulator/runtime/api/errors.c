// errors.c: the last error, error names, and unchecked launch errors.
#include "runtime/api/calls.h"
#include "checker/findings.h"

_Thread_local cudaError_t sim_last_error;
_Thread_local bool sim_uses_runtime;
_Atomic cudaError_t sim_sticky_error;

cudaError_t sim_done(cudaError_t error)
{
    if (error != cudaSuccess)
        sim_last_error = error;
    return error;
}

void sim_set_sticky_error(cudaError_t error)
{
    if (!error)
        return;
    sim_sticky_error = sim_last_error = error;
    sim_host_awaits_device(sim_current_device); // all later calls fail
}

// ---- Unchecked launch errors
//
// kernel<<<...>>> returns no error. A refused launch is a finding unless the host thread calls cudaGetLastError or
// cudaPeekAtLastError later. Other calls return their error, and many are made to test for one, so they are never reported as
// unchecked. A kernel that fails while it runs is a finding of its own.

typedef struct Refusal { // a host thread's first refused launch since it last checked for errors
    _Atomic cudaError_t error; // cudaSuccess: none
    char launch[300], why[200];
    const void *from; // return address of the launch
    struct Refusal *next;
} Refusal;

static _Atomic(Refusal *) refusals; // list, at most one for each host thread; insertion is guarded by the lock
static _Thread_local Refusal *own_refusal;

static void report_unchecked_launches(void)
{
    char title[400];
    for (const Refusal *r = refusals; r; r = r->next) {
        if (!r->error || !sim_checker_enabled())
            continue;
        snprintf(title, sizeof title, "%s did not run: %s (%s), and the program did not check for errors", r->launch,
                 sim_error_text(r->error), sim_error_name(r->error));
        Place host = {.access = "launched by the host"};
        sim_set_calling_line(r->from, &host);
        char hint[HINT_BYTES];
        snprintf(hint, sizeof hint, "%s%scall cudaGetLastError() after each launch", r->why, r->why[0] ? "\n" : "");
        sim_add_finding(UNCHECKED_ERROR, title, &host, 1, hint);
    }
}

void sim_note_refusal(const char *launch, cudaError_t error, const char *why, const void *from)
{
    if (!own_refusal) {
        own_refusal = calloc(1, sizeof *own_refusal);
        if (!own_refusal)
            return;
        if (!refusals)
            atexit(report_unchecked_launches);
        own_refusal->next = refusals;
        refusals = own_refusal;
    }
    if (own_refusal->error)
        return;
    snprintf(own_refusal->launch, sizeof own_refusal->launch, "%s", launch);
    snprintf(own_refusal->why, sizeof own_refusal->why, "%s", why);
    own_refusal->from = from;
    own_refusal->error = error;
}

static void mark_error_checked(void)
{
    if (own_refusal)
        own_refusal->error = cudaSuccess;
}

// ---- The last error

// Returns a kernel's failure only once; other calls keep returning the sticky error.
API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = sim_last_error;
    mark_error_checked();
    sim_last_error = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    mark_error_checked();
    return sim_last_error;
}

// ---- Error names

API const char *cudaGetErrorName(cudaError_t error)
{
    return sim_error_name(error);
}

API const char *cudaGetErrorString(cudaError_t error)
{
    return sim_error_text(error);
}
