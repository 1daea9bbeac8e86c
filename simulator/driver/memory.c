// memory.c: driver API: memory.
#include "driver/driver.h"

// ---- Allocations

API CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemGetInfo(free_bytes, total));
}

API CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(bytes > 0, CUDA_ERROR_INVALID_VALUE);
    return CALL_RUNTIME(cudaMalloc((void **)address, bytes));
}

API CUresult cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(element_bytes == 4 || element_bytes == 8 || element_bytes == 16, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(width > 0 && height > 0, CUDA_ERROR_INVALID_VALUE);
    return CALL_RUNTIME(cudaMallocPitch((void **)address, pitch, width, height));
}

API CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMallocManaged((void **)address, bytes, flags));
}

API CUresult cuMemFree(CUdeviceptr address)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaFree(pointer_at(address)));
}

API CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMallocAsync((void **)address, bytes, stream));
}

API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    CU_RETURN_IF_ERROR(stream ? sim_require_cuinit() : sim_require_context());
    return CALL_RUNTIME(cudaFreeAsync(pointer_at(address), stream));
}

API CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaHostAlloc(pointer, bytes, flags));
}

API CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMallocHost(pointer, bytes));
}

API CUresult cuMemFreeHost(void *pointer)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaFreeHost(pointer));
}

API CUresult cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaHostRegister(pointer, bytes, flags));
}

API CUresult cuMemHostUnregister(void *pointer)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaHostUnregister(pointer));
}

API CUresult cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaHostGetDevicePointer((void **)address, pointer, flags));
}

API CUresult cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaHostGetFlags(flags, pointer));
}

API CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    REQUIRE_CONTEXT();
    LOCK_MEMORY();
    CU_REQUIRE(sim_on_device(pointer_at(address), 1), CUDA_ERROR_NOT_FOUND);
    const Allocation *a = sim_allocation_at(address);
    if (base)
        *base = a->address;
    if (bytes)
        *bytes = a->bytes;
    return CUDA_SUCCESS;
}

API CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct cudaPointerAttributes attributes;
    REQUIRE_CONTEXT();
    CU_REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaPointerGetAttributes(&attributes, pointer_at(address))));
    CU_REQUIRE(attributes.type != cudaMemoryTypeUnregistered, CUDA_ERROR_INVALID_VALUE);
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value = attributes.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        CU_REQUIRE(attributes.hostPointer, CUDA_ERROR_INVALID_VALUE);
        *(void **)value = attributes.hostPointer;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)value = attributes.type == cudaMemoryTypeManaged;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = attributes.device;
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
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpy(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDefault));
}

API CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpy(pointer_at(to), from, bytes, cudaMemcpyHostToDevice));
}

API CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpy(to, pointer_at(from), bytes, cudaMemcpyDeviceToHost));
}

API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpy(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDeviceToDevice));
}

API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyAsync(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDefault, stream));
}

API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyAsync(pointer_at(to), from, bytes, cudaMemcpyHostToDevice, stream));
}

API CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyAsync(to, pointer_at(from), bytes, cudaMemcpyDeviceToHost, stream));
}

API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyAsync(pointer_at(to), pointer_at(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

// Returns the first byte of one side of a 2D copy, or NULL if that side is not memory.
static char *find_copy_start(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t pitch)
{
    if (type != CU_MEMORYTYPE_HOST && type != CU_MEMORYTYPE_DEVICE && type != CU_MEMORYTYPE_UNIFIED)
        return NULL;
    const char *start = type == CU_MEMORYTYPE_HOST ? host : pointer_at(device);
    return start ? (char *)(uintptr_t)start + y * pitch + x : NULL;
}

static CUresult copy_rows(const CUDA_MEMCPY2D *p, bool is_async, CUstream stream)
{
    static const enum cudaMemcpyKind KINDS[2][2] = {{cudaMemcpyHostToHost, cudaMemcpyHostToDevice},
                                                    {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}};
    REQUIRE_CONTEXT();
    CU_REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    if (p->srcMemoryType == CU_MEMORYTYPE_ARRAY || p->dstMemoryType == CU_MEMORYTYPE_ARRAY)
        return sim_copy_2d_arrays(p, is_async, stream);
    const size_t width = p->WidthInBytes, from_pitch = p->srcPitch ? p->srcPitch : p->srcXInBytes + width,
                 to_pitch = p->dstPitch ? p->dstPitch : p->dstXInBytes + width;
    char *from = find_copy_start(p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, from_pitch);
    char *to = find_copy_start(p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, to_pitch);
    CU_REQUIRE(from && to, CUDA_ERROR_INVALID_VALUE);
    const bool is_unified = p->srcMemoryType == CU_MEMORYTYPE_UNIFIED || p->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    const enum cudaMemcpyKind kind =
        is_unified ? cudaMemcpyDefault
                : KINDS[p->srcMemoryType == CU_MEMORYTYPE_DEVICE][p->dstMemoryType == CU_MEMORYTYPE_DEVICE];
    return is_async ? CALL_RUNTIME(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, p->Height, kind, stream))
                 : CALL_RUNTIME(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, p->Height, kind));
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
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemset, .memset = *p});
    return sim_record_error(sim_fill_elements(p));
}

static CUresult fill_rows(CUdeviceptr to, size_t pitch, unsigned value, unsigned bytes, size_t width, size_t height)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(to % bytes == 0 && (height <= 1 || (pitch % bytes == 0 && width <= pitch / bytes)), CUDA_ERROR_INVALID_VALUE);
    return CALL_RUNTIME(sim_fill_now("cuMemset", &(struct cudaMemsetParams){pointer_at(to), pitch, value, bytes, width, height},
                             __builtin_return_address(0)));
}

static CUresult fill_async(CUdeviceptr to, unsigned value, unsigned bytes, size_t count, CUstream stream)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(to % bytes == 0, CUDA_ERROR_INVALID_VALUE);
    return CALL_RUNTIME(fill_in_stream(&(struct cudaMemsetParams){pointer_at(to), 0, value, bytes, count, 1}, stream));
}

API CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    return fill_rows(to, 0, value, 1, count, 1);
}

API CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    return fill_rows(to, 0, value, 2, count, 1);
}

API CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count)
{
    return fill_rows(to, 0, value, 4, count, 1);
}

API CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return fill_rows(to, pitch, value, 1, width, height);
}

API CUresult cuMemsetD2D16(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height)
{
    return fill_rows(to, pitch, value, 2, width, height);
}

API CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height)
{
    return fill_rows(to, pitch, value, 4, width, height);
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
