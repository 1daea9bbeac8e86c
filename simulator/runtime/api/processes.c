// processes.c: interprocess memory and events.
//
// Each process has its own simulated GPU. Exported memory is backed by a file, which other processes map. Work is synchronous, so
// an event of another process is always complete. In exported memory the checker finds neither races between processes nor
// uninitialised reads.
#include "runtime/api/processes.h"

#include "checker/host_checks.h"

#include <fcntl.h>
#include <unistd.h>

static const char MEMORY[8] = "memory", EVENT[8] = "event";

_Static_assert(sizeof(IpcMemory) <= sizeof(cudaIpcMemHandle_t), "must fit into a cudaIpcMemHandle_t");
_Static_assert(sizeof(IpcMemory) <= sizeof(struct cudaMemPoolPtrExportData), "must fit into a cudaMemPoolPtrExportData");

static cudaError_t reject_sharing(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&printed))
        fprintf(stderr, "simulator: only memory from cudaMalloc, and at least one page (%zu bytes) of it, can be shared with other processes\n",
                sim_page_bytes());
    return cudaErrorNotSupported;
}

cudaError_t sim_export_memory(const void *pointer, int pool, IpcMemory *memory)
{
    Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (!a || (uint64_t)(uintptr_t)pointer - a->address >= a->bytes || a->kind != DEVICE_MEMORY)
        return cudaErrorInvalidValue;
    if (!sim_make_shareable(a))
        return reject_sharing();
    *memory = (IpcMemory){.process = getpid(), .file = a->file, .device = a->device, .pool = pool, .bytes = a->bytes};
    memcpy(memory->tag, MEMORY, sizeof MEMORY);
    return cudaSuccess;
}

static int open_file_of_process(int process, int file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, file);
    return open(path, O_RDWR | O_CLOEXEC);
}

cudaError_t sim_import_memory(const char *call, const IpcMemory *memory, void **pointer)
{
    const int current = sim_current_device;
    if (memcmp(memory->tag, MEMORY, sizeof MEMORY) != 0 || !sim_is_device(memory->device))
        return cudaErrorInvalidValue;
    if (memory->process == getpid())
        return cudaErrorDeviceUninitialized; // like the driver: "invalid device context"
    const int file = open_file_of_process(memory->process, memory->file);
    if (file < 0)
        return cudaErrorMapBufferObjectFailed;
    sim_current_device = memory->device;
    const cudaError_t error = sim_allocate_memory(call, pointer, memory->bytes, DEVICE_MEMORY, 0);
    sim_current_device = current;
    if (error) {
        close(file);
        return error;
    }
    Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)*pointer);
    a->accessible_by |= 1u << current;
    if (sim_map_file(a, file))
        return cudaSuccess;
    sim_free_device_memory(*pointer);
    return cudaErrorMapBufferObjectFailed;
}

// ---- Memory

// An opened handle, whose memory is mapped once. Guarded by the lock; never freed.
typedef struct OpenedHandle {
    struct OpenedHandle *next;
    IpcMemory memory;
    void *pointer;
    int open_count; // number of opens; 0: closed
} OpenedHandle;

static OpenedHandle *opened_handles;

static OpenedHandle *find_opened(const IpcMemory *memory)
{
    OpenedHandle *o = opened_handles;
    while (o && (o->open_count == 0 || memcmp(&o->memory, memory, sizeof *memory) != 0))
        o = o->next;
    return o;
}

API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    IpcMemory memory;
    BEGIN_CALL();
    REQUIRE(handle && pointer, cudaErrorInvalidValue);
    const Allocation *a = sim_allocation_containing(pointer);
    REQUIRE(a && !a->pool, cudaErrorInvalidValue);
    RETURN_IF_ERROR(sim_export_memory(pointer, SIM_NO_POOL, &memory));
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &memory, sizeof memory);
    return cudaSuccess;
}

API cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags)
{
    IpcMemory memory;
    BEGIN_CALL();
    REQUIRE(pointer && flags == cudaIpcMemLazyEnablePeerAccess, cudaErrorInvalidValue);
    memcpy(&memory, &handle, sizeof memory);
    OpenedHandle *o = find_opened(&memory);
    if (!o) {
        o = malloc(sizeof *o);
        REQUIRE(o, cudaErrorMemoryAllocation);
        *o = (OpenedHandle){.next = opened_handles, .memory = memory};
        const cudaError_t error = sim_import_memory(__func__, &memory, &o->pointer);
        if (error)
            free(o);
        RETURN_IF_ERROR(error);
        opened_handles = o;
    }
    o->open_count++;
    *pointer = o->pointer;
    return cudaSuccess;
}

API cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
    BEGIN_CALL();
    OpenedHandle *o = opened_handles;
    while (o && (o->open_count == 0 || o->pointer != pointer))
        o = o->next;
    REQUIRE(o, cudaErrorInvalidValue);
    if (--o->open_count > 0)
        return cudaSuccess;
    sim_synchronize_host_with_device(sim_current_device);
    return sim_record_error(sim_free_device_memory(pointer));
}

// ---- Events. A handle contains only EVENT, because events are always complete.

API cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    BEGIN_CALL();
    REQUIRE(handle && sim_is_shared_event(event), cudaErrorInvalidResourceHandle);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, EVENT, sizeof EVENT);
    return cudaSuccess;
}

API cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    LOCK_MEMORY();
    REQUIRE(event && memcmp(&handle, EVENT, sizeof EVENT) == 0, cudaErrorInvalidValue);
    return cudaEventCreateWithFlags(event, cudaEventInterprocess | cudaEventDisableTiming);
}
