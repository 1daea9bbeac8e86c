// faults.c: the host's own accesses of memory that it must not touch: what the system stops ends here.
#define _GNU_SOURCE // REG_ERR, REG_RIP
#include "machine/observer.h"

#include <signal.h>
#include <ucontext.h>

static struct sigaction earlier_action; // on SIGSEGV, before ours

// Whether the instruction that failed was to write.
static bool was_write(const void *context)
{
#ifdef __x86_64__
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    return (void)context, false;
#endif
}

static const void *instruction_of(const void *context) // NULL where it is not known
{
#ifdef __x86_64__
    return (const void *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#else
    return (void)context, NULL;
#endif
}

// The program's own thread is here in the midst of its own code, so that the observer may print.
static void explain_fault(int signal, siginfo_t *info, void *context)
{
    const bool ours = info->si_code > 0 && (sim_in_device_range(info->si_addr) || sim_in_shared_range(info->si_addr));
    if (ours && sim_observer.see_host_access &&
        sim_observer.see_host_access((uint64_t)(uintptr_t)info->si_addr, was_write(context), instruction_of(context),
                                     earlier_action.sa_handler == SIG_DFL))
        return;
    sigaction(signal, &earlier_action, NULL); // which is asked when the instruction fails again
    if (info->si_code <= 0)                   // unless a process has sent the signal
        raise(signal);
}

bool sim_handle_faults(void)
{
    struct sigaction action = {.sa_sigaction = explain_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    return sigaction(SIGSEGV, &action, &earlier_action) == 0;
}

bool sim_handles_faults(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == explain_fault;
}
