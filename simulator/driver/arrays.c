// arrays.c: driver API: arrays, texture and surface objects.
//
// A CUarray is the runtime's cudaArray_t, and texture and surface objects are the same in both APIs.
#include "driver/driver.h"

// ---- Formats

// The runtime's channel descriptor; 0 bits: unsupported format.
static struct cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels)
{
    static const struct {
        CUarray_format format;
        int bits;
        enum cudaChannelFormatKind kind;
    } FORMATS[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
        {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
        {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
        {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
        {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
        {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
        {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
        {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
    };
    const bool can = channels == 1 || channels == 2 || channels == 4;
    for (size_t k = 0; can && k < sizeof FORMATS / sizeof *FORMATS; k++)
        if (FORMATS[k].format == format) {
            const int x = FORMATS[k].bits, y = channels > 1 ? x : 0, zw = channels > 2 ? x : 0;
            return (struct cudaChannelFormatDesc){x, y, zw, zw, FORMATS[k].kind};
        }
    return (struct cudaChannelFormatDesc){.f = cudaChannelFormatKindNone};
}

// ---- Arrays

API CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    NEED_CONTEXT();
    NEED(array && d, CUDA_ERROR_INVALID_VALUE);
    const struct cudaChannelFormatDesc format = channels_of(d->Format, d->NumChannels);
    NEED(sim_is_texel_format(&format), CUDA_ERROR_INVALID_VALUE);
    const struct cudaExtent extent = {d->Width, d->Height, d->Depth};
    return CALL(cudaMalloc3DArray((cudaArray_t *)array, &format, extent, d->Flags)); // flags have the same bits
}

API CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d)
{
    NEED(d, CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY3D_DESCRIPTOR flat = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    return cuArray3DCreate(array, &flat);
}

API CUresult cuArrayDestroy(CUarray array)
{
    NEED_CONTEXT();
    NEED(array, CUDA_ERROR_INVALID_HANDLE);
    return CALL(cudaFreeArray((cudaArray_t)array));
}

// ---- Copies

typedef struct End { // one side of a 2D copy: an array, or pitched memory
    cudaArray_t array;
    char *memory;
    size_t x, y, pitch;
} End;

static void find_memory(End *end, CUmemorytype type, const void *host, CUdeviceptr device, size_t width)
{
    const char *first = type == CU_MEMORYTYPE_HOST ? host : pointer_at(device);
    if (end->pitch == 0)
        end->pitch = end->x + width;
    end->memory = first ? (char *)(uintptr_t)first + end->y * end->pitch + end->x : NULL;
}

static bool is_device(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_ARRAY;
}

CUresult sim_copy_rows_of_arrays(const CUDA_MEMCPY2D *p, bool async, CUstream stream)
{
    End from = {(cudaArray_t)p->srcArray, NULL, p->srcXInBytes, p->srcY, p->srcPitch};
    End to = {(cudaArray_t)p->dstArray, NULL, p->dstXInBytes, p->dstY, p->dstPitch};
    const size_t width = p->WidthInBytes, height = p->Height;
    const bool unified = p->srcMemoryType == CU_MEMORYTYPE_UNIFIED || p->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    const enum cudaMemcpyKind kind = unified                        ? cudaMemcpyDefault
                                     : !is_device(p->srcMemoryType) ? cudaMemcpyHostToDevice
                                     : is_device(p->dstMemoryType)  ? cudaMemcpyDeviceToDevice
                                                                    : cudaMemcpyDeviceToHost;
    if (p->srcMemoryType == p->dstMemoryType) { // array to array: the runtime has no asynchronous copy
        NEED(!async, CUDA_ERROR_NOT_SUPPORTED);
        return CALL(cudaMemcpy2DArrayToArray(to.array, to.x, to.y, from.array, from.x, from.y, width, height, kind));
    }
    if (p->dstMemoryType == CU_MEMORYTYPE_ARRAY) {
        find_memory(&from, p->srcMemoryType, p->srcHost, p->srcDevice, width);
        const void *source = from.memory;
        if (!async)
            return CALL(cudaMemcpy2DToArray(to.array, to.x, to.y, source, from.pitch, width, height, kind));
        return CALL(cudaMemcpy2DToArrayAsync(to.array, to.x, to.y, source, from.pitch, width, height, kind, stream));
    }
    find_memory(&to, p->dstMemoryType, p->dstHost, p->dstDevice, width);
    void *target = to.memory;
    if (!async)
        return CALL(cudaMemcpy2DFromArray(target, to.pitch, from.array, from.x, from.y, width, height, kind));
    return CALL(cudaMemcpy2DFromArrayAsync(target, to.pitch, from.array, from.x, from.y, width, height, kind, stream));
}

// ---- Objects

static CUresult resource_of(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to,
                            struct cudaChannelFormatDesc *format)
{
    NEED(from && from->flags == 0, CUDA_ERROR_INVALID_VALUE);
    *to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)from->resType}; // enumerators have the same values
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        NEED(sim_is_array(to->res.array.array), CUDA_ERROR_INVALID_HANDLE);
        *format = to->res.array.array->format;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        *format = channels_of(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.devPtr = pointer_at(from->res.linear.devPtr);
        to->res.linear.desc = *format;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        *format = channels_of(from->res.pitch2D.format, from->res.pitch2D.numChannels);
        to->res.pitch2D.devPtr = pointer_at(from->res.pitch2D.devPtr);
        to->res.pitch2D.desc = *format;
        to->res.pitch2D.width = from->res.pitch2D.width;
        to->res.pitch2D.height = from->res.pitch2D.height;
        to->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

// 8- and 16-bit integers are read as normalised floats, unless CU_TRSF_READ_AS_INTEGER is set.
static bool reads_fractions(const CUDA_TEXTURE_DESC *t, const struct cudaChannelFormatDesc *format)
{
    const bool whole = format->f == cudaChannelFormatKindSigned || format->f == cudaChannelFormatKindUnsigned;
    return whole && format->x < 32 && !(t->flags & CU_TRSF_READ_AS_INTEGER);
}

static struct cudaTextureDesc texture_of(const CUDA_TEXTURE_DESC *t, const struct cudaChannelFormatDesc *format)
{
    struct cudaTextureDesc to = {
        .filterMode = (enum cudaTextureFilterMode)t->filterMode, // enumerators have the same values, as for address modes
        .readMode = reads_fractions(t, format) ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = (t->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = t->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)t->mipmapFilterMode,
        .mipmapLevelBias = t->mipmapLevelBias,
        .minMipmapLevelClamp = t->minMipmapLevelClamp,
        .maxMipmapLevelClamp = t->maxMipmapLevelClamp,
    };
    for (int k = 0; k < 3; k++)
        to.addressMode[k] = (enum cudaTextureAddressMode)t->addressMode[k];
    memcpy(to.borderColor, t->borderColor, sizeof to.borderColor);
    return to;
}

API CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *shown, const CUDA_TEXTURE_DESC *t,
                               const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct cudaResourceDesc resource;
    struct cudaChannelFormatDesc format;
    LOCK_MEMORY();
    NEED_CONTEXT();
    NEED(object && t, CUDA_ERROR_INVALID_VALUE);
    NEED(!view, CUDA_ERROR_NOT_SUPPORTED);
    RETURN_IF(resource_of(shown, &resource, &format));
    const struct cudaTextureDesc texture = texture_of(t, &format);
    return CALL(cudaCreateTextureObject(object, &resource, &texture, NULL));
}

API CUresult cuTexObjectDestroy(CUtexObject object)
{
    NEED_CONTEXT();
    return CALL(cudaDestroyTextureObject(object));
}

API CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *shown)
{
    struct cudaResourceDesc resource;
    struct cudaChannelFormatDesc format;
    LOCK_MEMORY();
    NEED_CONTEXT();
    NEED(object, CUDA_ERROR_INVALID_VALUE);
    RETURN_IF(resource_of(shown, &resource, &format));
    return CALL(cudaCreateSurfaceObject(object, &resource));
}

API CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    NEED_CONTEXT();
    return CALL(cudaDestroySurfaceObject(object));
}
