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
// cudaPeekAtLastError later. A call such as cudaLaunchKernel returns the error, which the program may have used: the rejection is a
// warning, and only if the program exits with status 0 without a later launch of the kernel. Errors that other calls return are
// never reported as unchecked, because many programs call them to test for an error. A kernel that fails while it runs is reported
// separately.

typedef struct RejectedLaunch { // a host thread's first rejected launch since it last checked for errors
    _Atomic cudaError_t error; // cudaSuccess: none
    char launch[300], hint[200];
    const Kernel *kernel;  // NULL: unknown
    bool was_returned;     // the program's call returned the error
    const void *call_site; // return address of the launch
    struct RejectedLaunch *next;
} RejectedLaunch;

static _Atomic(RejectedLaunch *) rejected_launches; // list, at most one per host thread; the lock guards insertions
static _Thread_local RejectedLaunch *thread_rejected; // this thread's entry

static void report_unchecked_launch(const RejectedLaunch *r)
{
    char title[500], text[HINT_BYTES];
    FindingLocation host = {.access = "launched by the host"};
    snprintf(title, sizeof title, "%s did not run: %s (%s), and the program did not %s", r->launch, sim_error_text(r->error),
             sim_error_name(r->error), r->was_returned ? "launch it again or call cudaGetLastError()" : "check for errors");
    snprintf(text, sizeof text, "%s%s%s", r->hint, r->hint[0] ? "\n" : "",
             r->was_returned ? "check the status that the launch returns\nnote: a warning, since the program may have used this status"
                             : "call cudaGetLastError() after each launch");
    sim_set_calling_line(r->call_site, &host);
    (r->was_returned ? sim_add_warning : sim_add_finding)(UNCHECKED_ERROR, title, &host, 1, text);
}

static void report_unchecked_launches(int status)
{
    for (const RejectedLaunch *r = rejected_launches; r; r = r->next)
        if (r->error && sim_checker_enabled() && !(r->was_returned && status != 0))
            report_unchecked_launch(r);
}

void sim_note_rejected_launch(const Kernel *kernel, const char *launch, cudaError_t error, const char *hint, const void *call_site,
                              bool was_returned)
{
    if (!thread_rejected) {
        thread_rejected = calloc(1, sizeof *thread_rejected);
        if (!thread_rejected)
            return;
        if (!rejected_launches)
            sim_on_exit(report_unchecked_launches);
        thread_rejected->next = rejected_launches;
        rejected_launches = thread_rejected;
    }
    if (thread_rejected->error && (was_returned || !thread_rejected->was_returned))
        return;
    thread_rejected->kernel = kernel;
    thread_rejected->was_returned = was_returned;
    snprintf(thread_rejected->launch, sizeof thread_rejected->launch, "%s", launch);
    snprintf(thread_rejected->hint, sizeof thread_rejected->hint, "%s", hint);
    thread_rejected->call_site = call_site;
    thread_rejected->error = error;
}

void sim_note_accepted_launch(const Kernel *kernel)
{
    if (thread_rejected && thread_rejected->was_returned && thread_rejected->kernel == kernel)
        thread_rejected->error = cudaSuccess;
}

static void mark_error_checked(void)
{
    if (thread_rejected)
        thread_rejected->error = cudaSuccess;
}

// ---- The last error

// Returns a kernel's failure only once, while other calls keep returning the sticky error.
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
