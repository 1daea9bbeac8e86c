// texture_objects.c: the table of texture and surface objects.
//
// Kernels get an object's number. Numbers are never reused, so that the use of a destroyed object is detected.
#include "machine/ops/ops.h"

#include <stdlib.h>

static TextureObject **objects; // index: number - 1; NULL: destroyed
static size_t object_count, object_space;

const TextureObject *sim_texture_object(uint64_t number)
{
    return number >= 1 && number <= object_count ? objects[number - 1] : NULL;
}

cudaError_t sim_add_texture_object(const TextureObject *object, unsigned long long *number)
{
    if (object_count == object_space) {
        const size_t space = object_space ? 2 * object_space : 64;
        TextureObject **grown = realloc(objects, space * sizeof *grown);
        if (!grown)
            return cudaErrorMemoryAllocation;
        objects = grown;
        object_space = space;
    }
    TextureObject *copy = malloc(sizeof *copy);
    if (!copy)
        return cudaErrorMemoryAllocation;
    *copy = *object;
    objects[object_count++] = copy;
    *number = object_count;
    return cudaSuccess;
}

void sim_end_texture_object(uint64_t number)
{
    free(objects[number - 1]);
    objects[number - 1] = NULL;
}

void sim_end_texture_objects(int device)
{
    for (size_t k = 0; k < object_count; k++)
        if (objects[k] && objects[k]->device == device)
            sim_end_texture_object(k + 1);
}

void sim_forget_array(cudaArray_const_t array)
{
    for (size_t k = 0; k < object_count; k++)
        if (objects[k] && objects[k]->resource.resType == cudaResourceTypeArray &&
            objects[k]->resource.res.array.array == array)
            objects[k]->texels.first = 0;
}
