// errors.c: the last error, error names, and unchecked launch errors.
#include "runtime/api/calls.h"
#include "checker/findings.h"

_Thread_local cudaError_t sim_last_error;
_Thread_local bool sim_uses_runtime;
_Atomic cudaError_t sim_sticky_error;

cudaError_t sim_record_error(cudaError_t error)
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
    sim_synchronize_host_with_device(sim_current_device); // all later calls fail
}

// ---- Unchecked launch errors
//
// kernel<<<...>>> returns no error. A rejected launch is a finding unless the host thread calls cudaGetLastError or
// cudaPeekAtLastError later. Errors that other calls return are never reported as unchecked, because many programs call them to
// test for an error. A kernel that fails while it runs is another finding.

typedef struct RejectedLaunch { // a host thread's first rejected launch since it last checked for errors
    _Atomic cudaError_t error; // cudaSuccess: none
    char launch[300], hint[200];
    const void *call_site; // return address of the launch
    struct RejectedLaunch *next;
} RejectedLaunch;

static _Atomic(RejectedLaunch *) rejected_launches; // list, at most one for each host thread; insertion is guarded by the lock
static _Thread_local RejectedLaunch *own_rejected;

static void report_unchecked_launches(void)
{
    char title[400];
    for (const RejectedLaunch *r = rejected_launches; r; r = r->next) {
        if (!r->error || !sim_checker_enabled())
            continue;
        snprintf(title, sizeof title, "%s did not run: %s (%s), and the program did not check for errors", r->launch,
                 sim_error_text(r->error), sim_error_name(r->error));
        FindingLocation host = {.access = "launched by the host"};
        sim_set_calling_line(r->call_site, &host);
        char text[HINT_BYTES];
        snprintf(text, sizeof text, "%s%scall cudaGetLastError() after each launch", r->hint, r->hint[0] ? "\n" : "");
        sim_add_finding(UNCHECKED_ERROR, title, &host, 1, text);
    }
}

void sim_note_rejected_launch(const char *launch, cudaError_t error, const char *hint, const void *call_site)
{
    if (!own_rejected) {
        own_rejected = calloc(1, sizeof *own_rejected);
        if (!own_rejected)
            return;
        if (!rejected_launches)
            atexit(report_unchecked_launches);
        own_rejected->next = rejected_launches;
        rejected_launches = own_rejected;
    }
    if (own_rejected->error)
        return;
    snprintf(own_rejected->launch, sizeof own_rejected->launch, "%s", launch);
    snprintf(own_rejected->hint, sizeof own_rejected->hint, "%s", hint);
    own_rejected->call_site = call_site;
    own_rejected->error = error;
}

static void mark_error_checked(void)
{
    if (own_rejected)
        own_rejected->error = cudaSuccess;
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
