// texture.c: creates and destroys texture and surface objects.
#include "runtime/api/calls.h"
#include "runtime/work/record.h"
#include "runtime/work/repeats.h"

static const TextureObject *object_of_kind(uint64_t handle, bool is_surface)
{
    const TextureObject *o = sim_texture_object(handle);
    return o && o->is_surface == is_surface ? o : NULL;
}

static cudaError_t destroy_object(uint64_t handle, bool is_surface)
{
    BEGIN_CALL();
    if (handle == 0)
        return cudaSuccess;
    if (!object_of_kind(handle, is_surface))
        return sim_record_error(cudaErrorInvalidValue);
    sim_free_texture_object(handle);
    sim_clear_memo();
    return cudaSuccess;
}

void sim_destroy_textures_and_arrays(void)
{
    sim_free_texture_objects(sim_current_device);
    sim_clear_memo();
    sim_destroy_all_arrays();
}

// ---- Resources

static void set_format(Texels *t, const struct cudaChannelFormatDesc *format)
{
    t->channels = sim_channels(format);
    t->channel_bytes = format->x / 8;
    t->kind = format->f;
}

static cudaError_t describe_array(struct cudaArray *a, Texels *t)
{
    if (!sim_is_array(a))
        return cudaErrorInvalidValue;
    const bool is_layered = a->flags & cudaArrayLayered, is_cube = a->flags & cudaArrayCubemap, is_3d = !is_layered && !is_cube;
    const size_t faces = is_cube ? 6 : 1;
    *t = (Texels){.base = (uint64_t)(uintptr_t)a->texels,
                  .layered = is_layered,
                  .cube = is_cube,
                  .supports_gather = a->flags & cudaArrayTextureGather,
                  .dimensions = a->extent.height == 0             ? 1
                                : a->extent.depth == 0 || !is_3d   ? 2
                                                                  : 3,
                  .size = {(int64_t)a->extent.width, (int64_t)a->rows, is_3d ? (int64_t)a->slices : 1},
                  .layers = is_layered ? (int64_t)(a->slices / faces) : 1,
                  .row_bytes = a->row_bytes,
                  .slice_bytes = a->rows * a->row_bytes};
    set_format(t, &a->format);
    return cudaSuccess;
}

static size_t max_linear_texels(size_t texel_bytes)
{
    const size_t max_count = (size_t)1 << 30, bytes = (size_t)1 << 32;
    return bytes / texel_bytes < max_count ? bytes / texel_bytes : max_count;
}

// Describes linear or pitched device memory as texels.
static cudaError_t describe_memory(const struct cudaResourceDesc *r, Texels *t)
{
    const bool is_linear = r->resType == cudaResourceTypeLinear;
    const struct cudaChannelFormatDesc *format = is_linear ? &r->res.linear.desc : &r->res.pitch2D.desc;
    const void *memory = is_linear ? r->res.linear.devPtr : r->res.pitch2D.devPtr;
    if (!sim_is_texel_format(format) || !memory || (uintptr_t)memory % TEXTURE_ALIGNMENT)
        return cudaErrorInvalidValue;
    const size_t texel_bytes = sim_texel_bytes(format),
                 width = is_linear ? r->res.linear.sizeInBytes / texel_bytes : r->res.pitch2D.width,
                 height = is_linear ? 1 : r->res.pitch2D.height,
                 pitch = is_linear ? width * texel_bytes : r->res.pitch2D.pitchInBytes;
    if (is_linear ? width > max_linear_texels(texel_bytes)
               : width == 0 || width > MAX_PITCHED_WIDTH || height == 0 || height > MAX_PITCHED_HEIGHT ||
                     pitch > MAX_PITCH || pitch % PITCH_ALIGNMENT || pitch < width * texel_bytes)
        return cudaErrorInvalidValue;
    if (!sim_on_device(memory, (height - 1) * pitch + width * texel_bytes))
        return cudaErrorInvalidValue;
    *t = (Texels){.base = (uint64_t)(uintptr_t)memory, .linear = is_linear, .dimensions = is_linear ? 1 : 2, .layers = 1,
                  .size = {(int64_t)width, (int64_t)height, 1}, .row_bytes = pitch};
    set_format(t, format);
    return cudaSuccess;
}

static cudaError_t describe_resource(const struct cudaResourceDesc *r, Texels *t)
{
    switch (r->resType) {
    case cudaResourceTypeArray:
        return describe_array(r->res.array.array, t);
    case cudaResourceTypeLinear:
    case cudaResourceTypePitch2D:
        return describe_memory(r, t);
    case cudaResourceTypeMipmappedArray:
        fprintf(stderr, "simulator: mipmapped arrays are not supported\n");
        return cudaErrorNotSupported;
    default:
        return cudaErrorInvalidValue;
    }
}

// ---- Texture objects

// Checks that linear filtering is used with floating-point reads, and normalised floats with 8- or 16-bit integers.
static cudaError_t check_sampling(const TextureObject *o)
{
    const struct cudaTextureDesc *s = &o->sampling;
    const Texels *t = &o->texels;
    const bool is_float = t->kind == cudaChannelFormatKindFloat, is_normalized = s->readMode == cudaReadModeNormalizedFloat;
    if (is_normalized && (is_float || t->channel_bytes == 4))
        return cudaErrorInvalidNormSetting;
    if (s->filterMode == cudaFilterModeLinear && !is_float && !is_normalized)
        return cudaErrorInvalidFilterSetting;
    for (int k = 0; k < 3 && s->sRGB; k++)
        if (s->addressMode[k] == cudaAddressModeBorder || t->kind != cudaChannelFormatKindUnsigned ||
            t->channel_bytes != 1 || !is_normalized) {
            fprintf(stderr, "simulator: sRGB textures must have unsigned 8-bit channels, cudaReadModeNormalizedFloat and no cudaAddressModeBorder\n");
            return cudaErrorNotSupported;
        }
    return cudaSuccess;
}

static cudaError_t add_object(const TextureObject *object, unsigned long long *handle)
{
    sim_record_texture();
    return sim_add_texture_object(object, handle);
}

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *handle, const struct cudaResourceDesc *resource,
                                        const struct cudaTextureDesc *sampling, const struct cudaResourceViewDesc *view)
{
    BEGIN_CALL();
    if (!handle || !resource || !sampling)
        return sim_record_error(cudaErrorInvalidValue);
    if (view) {
        fprintf(stderr, "simulator: cudaCreateTextureObject: resource views are not supported\n");
        return sim_record_error(cudaErrorNotSupported);
    }
    TextureObject o = {.device = sim_current_device, .resource = *resource, .sampling = *sampling};
    cudaError_t error = describe_resource(resource, &o.texels);
    if (!error && o.texels.cube && sampling->seamlessCubemap) {
        fprintf(stderr, "simulator: seamlessCubemap (filtering across the edges of cubemap faces) is not supported\n");
        return sim_record_error(cudaErrorNotSupported);
    }
    if (!error)
        error = check_sampling(&o);
    if (!error)
        error = add_object(&o, handle);
    return sim_record_error(error);
}

API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle)
{
    return destroy_object(handle, false);
}

API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t handle)
{
    BEGIN_CALL();
    const TextureObject *o = object_of_kind(handle, false);
    if (!o || !resource)
        return sim_record_error(cudaErrorInvalidValue);
    *resource = o->resource;
    return cudaSuccess;
}

API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *sampling, cudaTextureObject_t handle)
{
    BEGIN_CALL();
    const TextureObject *o = object_of_kind(handle, false);
    if (!o || !sampling)
        return sim_record_error(cudaErrorInvalidValue);
    *sampling = o->sampling;
    return cudaSuccess;
}

// Resource views are not supported.
API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view, cudaTextureObject_t handle)
{
    BEGIN_CALL();
    if (!object_of_kind(handle, false) || !view)
        return sim_record_error(cudaErrorInvalidValue);
    memset(view, 0, sizeof *view);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *texels, const struct cudaChannelFormatDesc *format,
                                                     int device)
{
    if (device != 0)
        return sim_record_error(cudaErrorInvalidDevice);
    if (!texels || !format || !sim_is_texel_format(format))
        return sim_record_error(cudaErrorInvalidValue);
    *texels = max_linear_texels(sim_texel_bytes(format));
    return cudaSuccess;
}

// ---- Surface objects

API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *handle, const struct cudaResourceDesc *resource)
{
    BEGIN_CALL();
    if (!handle || !resource || resource->resType != cudaResourceTypeArray || !sim_is_array(resource->res.array.array))
        return sim_record_error(cudaErrorInvalidValue);
    if (!(resource->res.array.array->flags & cudaArraySurfaceLoadStore)) {
        fprintf(stderr, "simulator: cudaCreateSurfaceObject: the array was made without cudaArraySurfaceLoadStore\n");
        return sim_record_error(cudaErrorInvalidValue);
    }
    TextureObject o = {.is_surface = true, .device = sim_current_device, .resource = *resource};
    cudaError_t error = describe_resource(resource, &o.texels);
    if (o.texels.cube) { // surfaces access cubemap faces as layers
        o.texels.layers = (int64_t)resource->res.array.array->slices;
        o.texels.layered = true;
        o.texels.cube = false;
    }
    if (!error)
        error = add_object(&o, handle);
    return sim_record_error(error);
}

API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle)
{
    return destroy_object(handle, true);
}

API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t handle)
{
    BEGIN_CALL();
    const TextureObject *o = object_of_kind(handle, true);
    if (!o || !resource)
        return sim_record_error(cudaErrorInvalidValue);
    *resource = o->resource;
    return cudaSuccess;
}
