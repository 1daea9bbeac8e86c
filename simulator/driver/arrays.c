// arrays.c: driver API: arrays, texture and surface objects.
//
// A CUarray is the runtime's cudaArray_t, and texture and surface objects are the same in both APIs.
#include "driver/driver.h"

// ---- Formats

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
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

// Returns the runtime's channel descriptor; it has 0 bits if the format is unsupported.
static struct cudaChannelFormatDesc channel_format(CUarray_format format, unsigned channels)
{
    const bool is_valid_count = channels == 1 || channels == 2 || channels == 4;
    for (size_t k = 0; is_valid_count && k < FORMAT_COUNT; k++)
        if (FORMATS[k].format == format) {
            const int x = FORMATS[k].bits, y = channels > 1 ? x : 0, zw = channels > 2 ? x : 0;
            return (struct cudaChannelFormatDesc){x, y, zw, zw, FORMATS[k].kind};
        }
    return (struct cudaChannelFormatDesc){.f = cudaChannelFormatKindNone};
}

// The reverse, of the format of an existing array.
static CUarray_format array_format(const struct cudaChannelFormatDesc *f)
{
    size_t k = 0;
    while (k < FORMAT_COUNT - 1 && (FORMATS[k].bits != f->x || FORMATS[k].kind != f->f))
        k++;
    return FORMATS[k].format;
}

// ---- Arrays

API CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(array && d, CUDA_ERROR_INVALID_VALUE);
    const struct cudaChannelFormatDesc format = channel_format(d->Format, d->NumChannels);
    CU_REQUIRE(sim_is_texel_format(&format), CUDA_ERROR_INVALID_VALUE);
    const struct cudaExtent extent = {d->Width, d->Height, d->Depth};
    return CALL_RUNTIME(cudaMalloc3DArray((cudaArray_t *)array, &format, extent, d->Flags)); // flags are equal in both APIs
}

API CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d)
{
    CU_REQUIRE(d, CUDA_ERROR_INVALID_VALUE);
    const CUDA_ARRAY3D_DESCRIPTOR descriptor_3d = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    return cuArray3DCreate(array, &descriptor_3d);
}

API CUresult cuArrayDestroy(CUarray array)
{
    REQUIRE_CONTEXT();
    CU_REQUIRE(array, CUDA_ERROR_INVALID_HANDLE);
    return CALL_RUNTIME(cudaFreeArray((cudaArray_t)array));
}

API CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array)
{
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;
    unsigned flags;
    REQUIRE_CONTEXT();
    CU_REQUIRE(d, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(CALL_RUNTIME(cudaArrayGetInfo(&format, &extent, &flags, (cudaArray_t)array)));
    *d = (CUDA_ARRAY3D_DESCRIPTOR){extent.width, extent.height, extent.depth, array_format(&format), (unsigned)sim_channels(&format), flags};
    return CUDA_SUCCESS;
}

API CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *d, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor_3d;
    CU_REQUIRE(d, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(cuArray3DGetDescriptor(&descriptor_3d, array));
    *d = (CUDA_ARRAY_DESCRIPTOR){descriptor_3d.Width, descriptor_3d.Height, descriptor_3d.Format, descriptor_3d.NumChannels};
    return CUDA_SUCCESS;
}

// ---- Objects

static CUresult convert_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to,
                            struct cudaChannelFormatDesc *format)
{
    CU_REQUIRE(from && from->flags == 0, CUDA_ERROR_INVALID_VALUE);
    *to = (struct cudaResourceDesc){.resType = (enum cudaResourceType)from->resType}; // enumerators are equal in both APIs
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->res.array.array = (cudaArray_t)from->res.array.hArray;
        CU_REQUIRE(sim_is_array(to->res.array.array), CUDA_ERROR_INVALID_HANDLE);
        *format = to->res.array.array->format;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        *format = channel_format(from->res.linear.format, from->res.linear.numChannels);
        to->res.linear.devPtr = pointer_at(from->res.linear.devPtr);
        to->res.linear.desc = *format;
        to->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_PITCH2D:
        *format = channel_format(from->res.pitch2D.format, from->res.pitch2D.numChannels);
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

// True if reads return normalised floats: for 8- and 16-bit integers, unless CU_TRSF_READ_AS_INTEGER is set.
static bool is_normalized(const CUDA_TEXTURE_DESC *t, const struct cudaChannelFormatDesc *format)
{
    const bool is_integer = format->f == cudaChannelFormatKindSigned || format->f == cudaChannelFormatKindUnsigned;
    return is_integer && format->x < 32 && !(t->flags & CU_TRSF_READ_AS_INTEGER);
}

static struct cudaTextureDesc convert_texture(const CUDA_TEXTURE_DESC *t, const struct cudaChannelFormatDesc *format)
{
    struct cudaTextureDesc to = {
        .filterMode = (enum cudaTextureFilterMode)t->filterMode, // enumerators are equal in both APIs, as for address modes
        .readMode = is_normalized(t, format) ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
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

API CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *description, const CUDA_TEXTURE_DESC *t,
                               const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct cudaResourceDesc resource;
    struct cudaChannelFormatDesc format;
    LOCK_MEMORY();
    REQUIRE_CONTEXT();
    CU_REQUIRE(object && t, CUDA_ERROR_INVALID_VALUE);
    CU_REQUIRE(!view, CUDA_ERROR_NOT_SUPPORTED);
    CU_RETURN_IF_ERROR(convert_resource(description, &resource, &format));
    const struct cudaTextureDesc texture = convert_texture(t, &format);
    return CALL_RUNTIME(cudaCreateTextureObject(object, &resource, &texture, NULL));
}

API CUresult cuTexObjectDestroy(CUtexObject object)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDestroyTextureObject(object));
}

API CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *description)
{
    struct cudaResourceDesc resource;
    struct cudaChannelFormatDesc format;
    LOCK_MEMORY();
    REQUIRE_CONTEXT();
    CU_REQUIRE(object, CUDA_ERROR_INVALID_VALUE);
    CU_RETURN_IF_ERROR(convert_resource(description, &resource, &format));
    return CALL_RUNTIME(cudaCreateSurfaceObject(object, &resource));
}

API CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    REQUIRE_CONTEXT();
    return CALL_RUNTIME(cudaDestroySurfaceObject(object));
}
