// pointers.c: classifies pointers of the program.
#include "runtime/work/work.h"
#include "base/platform.h"

const Allocation *sim_allocation_containing(const void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    return a && address - a->address < a->bytes ? a : NULL;
}

bool sim_on_device(const void *pointer, size_t bytes)
{
    const Allocation *a = sim_allocation_containing(pointer);
    if (bytes == 0)
        return true;
    if (!a || a->kind == HEAP_MEMORY || a->kind == PARAMETER_MEMORY) // only kernels may access these
        return false;
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    return bytes <= a->bytes - (address - a->address) &&
           sim_first_inaccessible(a, sim_current_device, address, bytes, false) == address + bytes;
}

bool sim_is_mapped(const void *pointer, size_t bytes)
{
    const uintptr_t end = (uintptr_t)pointer + bytes;
    return pointer && end >= (uintptr_t)pointer && !sim_in_device_range(pointer) &&
           !sim_in_device_range((void *)(end - 1)) && sim_pages_are_mapped(pointer, bytes);
}

bool sim_on_host(const void *pointer, size_t bytes)
{
    const Allocation *a = sim_allocation_containing(pointer);
    if (bytes == 0)
        return true;
    if (!a)
        return sim_is_mapped(pointer, bytes);
    const bool shared = a->kind == PINNED_MEMORY || a->kind == MANAGED_MEMORY || a->kind == HOST_MEMORY;
    return (shared || sim_in_managed_variable(pointer)) && sim_on_device(pointer, bytes);
}
