// allocations.c: allocates and frees the program's memory.
#include "checker/host_checks.h"
#include "runtime/work/record.h"

cudaError_t sim_allocate_memory(const char *call, void **pointer, size_t bytes, MemoryKind kind, unsigned flags)
{
    const cudaError_t error = sim_new_allocation(bytes, kind, pointer);
    if (error)
        sim_note_failed_allocation(call, bytes);
    if (error || !*pointer)
        return error;
    Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)*pointer);
    a->flags = flags;
    sim_note_allocation(a, call);
    sim_record_allocation(a);
    return cudaSuccess;
}

cudaError_t sim_free_memory(const char *call, void *pointer, MemoryKind kind)
{
    sim_record_free(pointer);
    sim_note_free(pointer);
    const cudaError_t error = sim_free_allocation(pointer, kind);
    if (error)
        sim_report_invalid_free(call, pointer);
    return error;
}
