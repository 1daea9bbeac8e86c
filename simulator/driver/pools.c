// pools.c: driver API: memory pools. Pools, their properties and attributes are the same in both APIs.
#include "driver/driver.h"

_Static_assert(sizeof(CUmemPoolProps) == sizeof(struct cudaMemPoolProps), "the same struct");
_Static_assert(sizeof(CUmemAccessDesc) == sizeof(struct cudaMemAccessDesc), "the same struct");
_Static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(struct cudaMemPoolPtrExportData), "the same struct");

API CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolCreate(pool, (const struct cudaMemPoolProps *)properties));
}

API CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolDestroy(pool));
}

API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t min_bytes)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolTrimTo(pool, min_bytes));
}

API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

API CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool, CUmemLocation *location)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool, (struct cudaMemLocation *)location));
}

API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)list, count));
}

API CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool, CUmemAllocationHandleType type, unsigned long long flags)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolExportToShareableHandle(handle, pool, (enum cudaMemAllocationHandleType)type, (unsigned)flags));
}

API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle, CUmemAllocationHandleType type, unsigned long long flags)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolImportFromShareableHandle(pool, handle, (enum cudaMemAllocationHandleType)type, (unsigned)flags));
}

API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr address)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolExportPointer((struct cudaMemPoolPtrExportData *)data, pointer_at(address)));
}

API CUresult cuMemPoolImportPointer(CUdeviceptr *address, CUmemoryPool pool, CUmemPoolPtrExportData *data)
{
    REQUIRE_CUINIT();
    return CALL_RUNTIME(cudaMemPoolImportPointer((void **)address, pool, (struct cudaMemPoolPtrExportData *)data));
}

API CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    CU_RETURN_IF_ERROR(stream ? sim_require_cuinit() : sim_require_context()); // a stream belongs to a context
    CU_REQUIRE(bytes > 0, CUDA_ERROR_INVALID_VALUE);
    return CALL_RUNTIME(cudaMallocFromPoolAsync((void **)address, bytes, pool, stream));
}

API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    return CALL_RUNTIME(cudaDeviceGetDefaultMemPool(pool, device));
}

API CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    return CALL_RUNTIME(cudaDeviceGetMemPool(pool, device));
}

API CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    CU_RETURN_IF_ERROR(sim_check_device(device));
    return CALL_RUNTIME(cudaDeviceSetMemPool(device, pool));
}
