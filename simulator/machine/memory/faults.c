// faults.c: passes the host's invalid accesses to device memory to the observer.
#include "machine/observer.h"
#include "base/platform.h"

// Runs synchronously on the faulting thread, so the observer may print.
static bool explain_fault(const void *address, bool writes, const void *instruction, bool is_last)
{
    return (sim_in_device_range(address) || sim_in_shared_range(address)) && sim_observer.host_access &&
           sim_observer.host_access((uint64_t)(uintptr_t)address, writes, instruction, is_last);
}

bool sim_handle_faults(void)
{
    return sim_install_fault_handler(explain_fault);
}

bool sim_handles_faults(void)
{
    return sim_owns_fault_handler();
}
