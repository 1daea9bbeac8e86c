// array_copies.c: driver API: 3D copies, and copies from and to arrays.
#include "driver/driver.h"

// ---- Parameters

static bool is_device(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY;
}

static enum cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to)
{
    static const enum cudaMemcpyKind KINDS[2][2] = {{cudaMemcpyHostToHost, cudaMemcpyHostToDevice}, {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice}};
    const bool is_unified = from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED;
    return is_unified ? cudaMemcpyDefault : KINDS[is_device(from)][is_device(to)];
}

typedef struct Side { // one side of a 3D copy: an array, whose positions the runtime counts in elements, or memory
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x, pitch, rows; // x: in bytes
} Side;

// Sets the bytes of the array's elements; 1 for memory.
static CUresult find_element(const Side *side, size_t width, size_t *bytes)
{
    struct cudaChannelFormatDesc format;
    *bytes = 1;
    if (side->type != CU_MEMORYTYPE_ARRAY)
        return CUDA_SUCCESS;
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaArrayGetInfo(&format, NULL, NULL, (cudaArray_t)side->array)));
    *bytes = sim_texel_bytes(&format);
    return side->x % *bytes == 0 && width % *bytes == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct cudaPitchedPtr memory_of(const Side *side, size_t width, size_t rows)
{
    if (side->type == CU_MEMORYTYPE_ARRAY)
        return (struct cudaPitchedPtr){NULL, 0, 0, 0};
    void *start = side->type == CU_MEMORYTYPE_HOST ? (void *)(uintptr_t)side->host : pointer_at(side->device);
    return (struct cudaPitchedPtr){start, side->pitch ? side->pitch : side->x + width, width, side->rows ? side->rows : rows};
}

CUresult sim_convert_copy(const CUDA_MEMCPY3D *p, struct cudaMemcpy3DParms *copy)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(p && p->srcLOD == 0 && p->dstLOD == 0, CUDA_ERROR_INVALID_VALUE);
    const size_t width = p->WidthInBytes;
    const Side from = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray, p->srcXInBytes, p->srcPitch, p->srcHeight},
               to = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray, p->dstXInBytes, p->dstPitch, p->dstHeight};
    size_t from_element, to_element;
    CU_RETURN_IF_ERROR(find_element(&from, width, &from_element));
    CU_RETURN_IF_ERROR(find_element(&to, width, &to_element));
    const size_t element = from_element > to_element ? from_element : to_element; // of two arrays the runtime requires equal ones
    *copy = (struct cudaMemcpy3DParms){
        .srcArray = from.type == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)from.array : NULL,
        .srcPos = {from.x / from_element, p->srcY, p->srcZ},
        .srcPtr = memory_of(&from, width, p->srcY + p->Height),
        .dstArray = to.type == CU_MEMORYTYPE_ARRAY ? (cudaArray_t)to.array : NULL,
        .dstPos = {to.x / to_element, p->dstY, p->dstZ},
        .dstPtr = memory_of(&to, width, p->dstY + p->Height),
        .extent = {width / element, p->Height, p->Depth},
        .kind = kind_of(from.type, to.type)};
    return CUDA_SUCCESS;
}

static size_t element_of(cudaArray_t array)
{
    return array ? sim_texel_bytes(&array->format) : 1;
}

void sim_convert_copy_back(const struct cudaMemcpy3DParms *copy, CUDA_MEMCPY3D *p)
{
    const size_t from_element = element_of(copy->srcArray), to_element = element_of(copy->dstArray);
    *p = (CUDA_MEMCPY3D){
        .srcXInBytes = copy->srcPos.x * from_element, .srcY = copy->srcPos.y, .srcZ = copy->srcPos.z,
        .srcMemoryType = copy->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED, .srcArray = (CUarray)copy->srcArray,
        .srcHost = copy->srcPtr.ptr, .srcDevice = (CUdeviceptr)(uintptr_t)copy->srcPtr.ptr, .srcPitch = copy->srcPtr.pitch, .srcHeight = copy->srcPtr.ysize,
        .dstXInBytes = copy->dstPos.x * to_element, .dstY = copy->dstPos.y, .dstZ = copy->dstPos.z,
        .dstMemoryType = copy->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED, .dstArray = (CUarray)copy->dstArray,
        .dstHost = copy->dstPtr.ptr, .dstDevice = (CUdeviceptr)(uintptr_t)copy->dstPtr.ptr, .dstPitch = copy->dstPtr.pitch, .dstHeight = copy->dstPtr.ysize,
        .WidthInBytes = copy->extent.width * (from_element > to_element ? from_element : to_element), .Height = copy->extent.height,
        .Depth = copy->extent.depth};
}

// ---- 3D copies

API CUresult cuMemcpy3D(const CUDA_MEMCPY3D *p)
{
    struct cudaMemcpy3DParms copy;
    CU_RETURN_IF_ERROR(sim_convert_copy(p, &copy));
    return CALL_RUNTIME(cudaMemcpy3D(&copy));
}

API CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *p, CUstream stream)
{
    struct cudaMemcpy3DParms copy;
    CU_RETURN_IF_ERROR(sim_convert_copy(p, &copy));
    return CALL_RUNTIME(cudaMemcpy3DAsync(&copy, stream));
}

// ---- Copies of rows

typedef struct CopySide { // one side of a 2D copy: an array, or pitched memory
    cudaArray_t array;
    char *memory;
    size_t x, y, pitch;
} CopySide;

static void find_copy_start(CopySide *side, CUmemorytype type, const void *host, CUdeviceptr device, size_t width)
{
    const char *start = type == CU_MEMORYTYPE_HOST ? host : pointer_at(device);
    if (side->pitch == 0)
        side->pitch = side->x + width;
    side->memory = start ? (char *)(uintptr_t)start + side->y * side->pitch + side->x : NULL;
}

CUresult sim_copy_2d_arrays(const CUDA_MEMCPY2D *p, bool is_async, CUstream stream)
{
    CopySide from = {(cudaArray_t)p->srcArray, NULL, p->srcXInBytes, p->srcY, p->srcPitch};
    CopySide to = {(cudaArray_t)p->dstArray, NULL, p->dstXInBytes, p->dstY, p->dstPitch};
    const size_t width = p->WidthInBytes, height = p->Height;
    const enum cudaMemcpyKind kind = kind_of(p->srcMemoryType, p->dstMemoryType);
    if (p->srcMemoryType == p->dstMemoryType && is_async) { // array to array: the runtime has an asynchronous copy in 3D only
        const CUDA_MEMCPY3D copy = {.srcXInBytes = from.x, .srcY = from.y, .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = p->srcArray,
                                    .dstXInBytes = to.x, .dstY = to.y, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = p->dstArray,
                                    .WidthInBytes = width, .Height = height, .Depth = 1};
        return cuMemcpy3DAsync(&copy, stream);
    }
    if (p->srcMemoryType == p->dstMemoryType)
        return CALL_RUNTIME(cudaMemcpy2DArrayToArray(to.array, to.x, to.y, from.array, from.x, from.y, width, height, kind));
    if (p->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
        find_copy_start(&from, p->srcMemoryType, p->srcHost, p->srcDevice, width);
        const void *source = from.memory;
        if (!is_async)
            return CALL_RUNTIME(cudaMemcpy2DToArray(to.array, to.x, to.y, source, from.pitch, width, height, kind));
        return CALL_RUNTIME(cudaMemcpy2DToArrayAsync(to.array, to.x, to.y, source, from.pitch, width, height, kind, stream));
    }
    find_copy_start(&to, p->dstMemoryType, p->dstHost, p->dstDevice, width);
    void *destination = to.memory;
    if (!is_async)
        return CALL_RUNTIME(cudaMemcpy2DFromArray(destination, to.pitch, from.array, from.x, from.y, width, height, kind));
    return CALL_RUNTIME(cudaMemcpy2DFromArrayAsync(destination, to.pitch, from.array, from.x, from.y, width, height, kind, stream));
}

// ---- Copies of consecutive bytes

API CUresult cuMemcpyHtoA(CUarray to, size_t offset, const void *from, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyToArray((cudaArray_t)to, offset, 0, from, bytes, cudaMemcpyHostToDevice));
}

API CUresult cuMemcpyHtoAAsync(CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyToArrayAsync((cudaArray_t)to, offset, 0, from, bytes, cudaMemcpyHostToDevice, stream));
}

API CUresult cuMemcpyDtoA(CUarray to, size_t offset, CUdeviceptr from, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyToArray((cudaArray_t)to, offset, 0, pointer_at(from), bytes, cudaMemcpyDeviceToDevice));
}

API CUresult cuMemcpyAtoH(void *to, CUarray from, size_t offset, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyFromArray(to, (cudaArray_t)from, offset, 0, bytes, cudaMemcpyDeviceToHost));
}

API CUresult cuMemcpyAtoHAsync(void *to, CUarray from, size_t offset, size_t bytes, CUstream stream)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyFromArrayAsync(to, (cudaArray_t)from, offset, 0, bytes, cudaMemcpyDeviceToHost, stream));
}

API CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t offset, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaMemcpyFromArray(pointer_at(to), (cudaArray_t)from, offset, 0, bytes, cudaMemcpyDeviceToDevice));
}

API CUresult cuMemcpyAtoA(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(
        cudaMemcpyArrayToArray((cudaArray_t)to, to_offset, 0, (cudaArray_t)from, from_offset, 0, bytes, cudaMemcpyDeviceToDevice));
}
