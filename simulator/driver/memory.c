// memory.c: driver API: memory.
#include "driver/driver.h"

// ---- Allocations

API CUresult cuMemGetInfo(size_t *unused, size_t *total)
{
    NEED_CONTEXT();
    return CALL(cudaMemGetInfo(unused, total));
}

API CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    NEED_CONTEXT();
    NEED(bytes > 0, CUDA_ERROR_INVALID_VALUE);
    return CALL(cudaMalloc((void **)address, bytes));
}

API CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    NEED_CONTEXT();
    NEED(element_bytes == 4 || element_bytes == 8 || element_bytes == 16, CUDA_ERROR_INVALID_VALUE);
    NEED(width > 0 && height > 0, CUDA_ERROR_INVALID_VALUE);
    return CALL(cudaMallocPitch((void **)address, pitch, width, height));
}

API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaMallocManaged((void **)address, bytes, flags));
}

API CUresult cuMemFree(CUdeviceptr address)
{
    NEED_CONTEXT();
    return CALL(cudaFree(pointer_at(address)));
}

API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaMallocAsync((void **)address, bytes, stream));
}

API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaFreeAsync(pointer_at(address), stream));
}

API CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaHostAlloc(pointer, bytes, flags));
}

API CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    NEED_CONTEXT();
    return CALL(cudaMallocHost(pointer, bytes));
}

API CUresult cuMemFreeHost(void *pointer)
{
    NEED_CONTEXT();
    return CALL(cudaFreeHost(pointer));
}

API CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaHostRegister(pointer, bytes, flags));
}

API CUresult cuMemHostUnregister(void *pointer)
{
    NEED_CONTEXT();
    return CALL(cudaHostUnregister(pointer));
}

API CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags)
{
    NEED_CONTEXT();
    return CALL(cudaHostGetDevicePointer((void **)address, pointer, flags));
}

API CUresult cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    NEED_CONTEXT();
    return CALL(cudaHostGetFlags(flags, pointer));
}

API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    NEED_CONTEXT();
    LOCK_MEMORY();
    NEED(sim_on_device(pointer_at(address), 1), CUDA_ERROR_NOT_FOUND);
    const Allocation *a = sim_allocation_at(address);
    if (base)
        *base = a->address;
    if (bytes)
        *bytes = a->bytes;
    return CUDA_SUCCESS;
}

API CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct cudaPointerAttributes known;
    NEED_CONTEXT();
    NEED(value, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(CALL(cudaPointerGetAttributes(&known, pointer_at(address))));
    NEED(known.type != cudaMemoryTypeUnregistered, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        NEED(known.hostPointer, CUDA_ERROR_INVALID_VALUE);
        *(void **)value = known.hostPointer;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)value = known.type == cudaMemoryTypeManaged;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = known.device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return cuMemGetAddressRange(value, NULL, address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return cuMemGetAddressRange(NULL, value, address);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

// ---- Copies

API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpy(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDefault));
}

API CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpy(pointer_at(to), from, bytes, cudaMemcpyHostToDevice));
}

API CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpy(to, pointer_at(from), bytes, cudaMemcpyDeviceToHost));
}

API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpy(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDeviceToDevice));
}

API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpyAsync(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDefault, stream));
}

API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpyAsync(pointer_at(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

API CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpyAsync(to, pointer_at(from), bytes, cudaMemcpyDeviceToHost, stream));
}

API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    NEED_CONTEXT();
    return CALL(cudaMemcpyAsync(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

// The start of one side of a 2D copy; NULL: not memory.
static char *end_of_copy(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t pitch)
{
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
        return NULL;
    const char *begin = type == CU_MEMORYTYPE_HOST ? host : pointer_at(device);
    return begin ? (char *)(uintptr_t)begin + y * pitch + x : NULL;
}

static CUresult copy_rows(const CUDA_MEMCPY2D *p, bool async, CUstream stream)
{
    static const enum cudaMemcpyKind KINDS[2][2] = {{cudaMemcpyHostToHost, cudaMemcpyHostToDevice},
                                                    {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}};
    NEED_CONTEXT();
    NEED(p, CUDA_ERROR_INVALID_VALUE);
    if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return sim_copy_rows_of_arrays(p, async, stream);
    const size_t width = p->WidthInBytes, from_pitch = p->srcPitch ? p->srcPitch : p->srcXInBytes + width,
                 to_pitch = p->dstPitch ? p->dstPitch : p->dstXInBytes + width;
    char *from = end_of_copy(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, from_pitch);
    char *to = end_of_copy(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, to_pitch);
    NEED(from && to, CUDA_ERROR_INVALID_VALUE);
    const bool unified = p->srcMemoryType == CU_MEMORYTYPE_UNIFIED || p->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    const enum cudaMemcpyKind kind =
        unified ? cudaMemcpyDefault
                : KINDS[p->srcMemoryType == CU_MEMORYTYPE_DEVICE][p->dstMemoryType == CU_MEMORYTYPE_DEVICE];
    return async ? CALL(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, p->Height, kind, stream))
                 : CALL(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, p->Height, kind));
}

API CUresult cuMemcpy2D(const CUDA_MEMCPY2D *p)
{
    return copy_rows(p, false, NULL);
}

API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *p)
{
    return copy_rows(p, false, NULL);
}

API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *p, CUstream stream)
{
    return copy_rows(p, true, stream);
}

// ---- Fills

static cudaError_t fill_in_stream(const struct cudaMemsetParams *p, CUstream stream)
{
    BEGIN_CALL();
    CAPTURE(stream, &(Work){cudaGraphNodeTypeMemset, .fill = *p});
    return sim_done(sim_fill_elements(p));
}

static CUresult fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned bytes, size_t width, size_t height)
{
    NEED_CONTEXT();
    NEED(to % bytes == 0 && (height <= 1 || (pitch % bytes == 0 && width <= pitch / bytes)), CUDA_ERROR_INVALID_VALUE);
    return CALL(sim_fill_now("cuMemset", &(struct cudaMemsetParams){pointer_at(to), pitch, value, bytes, width, height},
                             __builtin_return_address(0)));
}

static CUresult fill_async(CUdeviceptr to, unsigned value, unsigned bytes, size_t count, CUstream stream)
{
    NEED_CONTEXT();
    NEED(to % bytes == 0, CUDA_ERROR_INVALID_VALUE);
    return CALL(fill_in_stream(&(struct cudaMemsetParams){pointer_at(to), 0, value, bytes, count, 1}, stream));
}

API CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    return fill(to, 0, value, 1, count, 1);
}

API CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    return fill(to, 0, value, 2, count, 1);
}

API CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count)
{
    return fill(to, 0, value, 4, count, 1);
}

API CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return fill(to, pitch, value, 1, width, height);
}

API CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height)
{
    return fill(to, pitch, value, 2, width, height);
}

API CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return fill(to, pitch, value, 4, width, height);
}

API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    return fill_async(to, value, 1, count, stream);
}

API CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    return fill_async(to, value, 2, count, stream);
}

API CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    return fill_async(to, value, 4, count, stream);
}
