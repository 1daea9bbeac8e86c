// texture_objects.c: the table of texture and surface objects.
//
// Handles count up from 1. They are never reused, so that the use of a destroyed object is detected.
#include "machine/ops/ops.h"

#include <stdlib.h>

static TextureObject **objects; // indexed by handle - 1; NULL: destroyed
static size_t object_count, object_capacity;

const TextureObject *sim_texture_object(uint64_t handle)
{
    return handle >= 1 && handle <= object_count ? objects[handle - 1] : NULL;
}

cudaError_t sim_add_texture_object(const TextureObject *object, unsigned long long *handle)
{
    if (object_count == object_capacity) {
        const size_t capacity = object_capacity ? 2 * object_capacity : 64;
        TextureObject **grown = realloc(objects, capacity * sizeof *grown);
        if (!grown)
            return cudaErrorMemoryAllocation;
        objects = grown;
        object_capacity = capacity;
    }
    TextureObject *copy = malloc(sizeof *copy);
    if (!copy)
        return cudaErrorMemoryAllocation;
    *copy = *object;
    objects[object_count++] = copy;
    *handle = object_count;
    return cudaSuccess;
}

void sim_free_texture_object(uint64_t handle)
{
    free(objects[handle - 1]);
    objects[handle - 1] = NULL;
}

void sim_free_texture_objects(int device)
{
    for (size_t k = 0; k < object_count; k++)
        if (objects[k] && objects[k]->device == device)
            sim_free_texture_object(k + 1);
}

void sim_detach_array(cudaArray_const_t array)
{
    for (size_t k = 0; k < object_count; k++)
        if (objects[k] && objects[k]->resource.resType == cudaResourceTypeArray &&
            objects[k]->resource.res.array.array == array)
            objects[k]->texels.base = 0;
}
