// configuration.c: checks a launch against the limits of kernel and device.
#include "runtime/work/work.h"

#include <stdarg.h>

size_t sim_max_dynamic_shared_bytes(const Kernel *kernel, const Function *f)
{
    const size_t default_bytes = (size_t)sim_device()->shared_per_block;
    const int requested = kernel->max_dynamic_shared_bytes[sim_current_device];
    if (requested >= 0)
        return (size_t)requested;
    return default_bytes > f->shared_bytes ? default_bytes - f->shared_bytes : 0;
}

enum { MAX_PORTABLE_CLUSTER = 8, MAX_CLUSTER = 16 }; // blocks of a cluster on all devices; on this device

int sim_max_cluster_blocks(const Kernel *kernel)
{
    return kernel->non_portable_clusters[sim_current_device] ? MAX_CLUSTER : MAX_PORTABLE_CLUSTER;
}

// Prints the reason for a rejection, because CUDA's error codes are unspecific. Prints only the first few, because a program may
// cause errors on purpose.
enum { MAX_PRINTED = 8 };
static char last_rejection[300];
__attribute__((format(printf, 3, 4)))
static cudaError_t reject(const Function *f, cudaError_t error, const char *format, ...)
{
    char name[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_rejection, sizeof last_rejection, format, arguments);
    va_end(arguments);
    sim_demangle(f->name, name, sizeof name);
    static int printed;
    if (printed < MAX_PRINTED && ++printed)
        fprintf(stderr, "simulator: kernel %s cannot be launched: %s\n", name, last_rejection);
    return error;
}

const char *sim_last_rejection(void)
{
    return last_rejection;
}

#define DIM_FORMAT "%u x %u x %u"
#define DIM_VALUES(size) (size).x, (size).y, (size).z

// Checks that the grid consists of whole clusters, of a size that the kernel and the device allow.
static cudaError_t check_cluster(const Kernel *kernel, const Function *f, dim3 grid, dim3 requested)
{
    static const cudaError_t ERROR = cudaErrorInvalidClusterSize;
    const dim3 declared_size = f->cluster, size = requested.x ? requested : declared_size;
    if (size.x == 0)
        return cudaSuccess;
    const uint64_t blocks = (uint64_t)size.x * size.y * size.z;
    if (declared_size.x && (declared_size.x != size.x || declared_size.y != size.y || declared_size.z != size.z))
        return reject(f, ERROR, "clusters of " DIM_FORMAT " blocks; its own __cluster_dims__ are " DIM_FORMAT, DIM_VALUES(size), DIM_VALUES(declared_size));
    const bool too_long = size.x > MAX_CLUSTER || size.y > MAX_CLUSTER || size.z > MAX_CLUSTER;
    const uint64_t max_blocks = (uint64_t)sim_max_cluster_blocks(kernel), max_declared = (uint64_t)f->max_cluster_blocks;
    if (max_declared && blocks > max_declared)
        return reject(f, ERROR, "clusters of " DIM_FORMAT " blocks; its own __launch_bounds__ allow %d blocks a cluster",
                      DIM_VALUES(size), (int)max_declared);
    if (too_long || blocks > max_blocks)
        return reject(f, ERROR,
                      "clusters of " DIM_FORMAT
                      " blocks; at most %d blocks are possible, and %d after cudaFuncSetAttribute(kernel, "
                      "cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
                      DIM_VALUES(size), MAX_PORTABLE_CLUSTER, MAX_CLUSTER);
    if (grid.x % size.x || grid.y % size.y || grid.z % size.z)
        return reject(f, ERROR, "a grid of " DIM_FORMAT " blocks is not made of whole clusters of " DIM_FORMAT, DIM_VALUES(grid), DIM_VALUES(size));
    return cudaSuccess;
}

static cudaError_t check_grid_and_block(const Function *f, dim3 grid, dim3 block)
{
    static const cudaError_t ERROR = cudaErrorInvalidConfiguration;
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return reject(f, ERROR, "a grid of " DIM_FORMAT " blocks; none of the three may be 0", DIM_VALUES(grid));
    if (threads == 0)
        return reject(f, ERROR, "a block of " DIM_FORMAT " threads; none of the three may be 0", DIM_VALUES(block));
    if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
        return reject(f, ERROR, "a grid of " DIM_FORMAT " blocks; at most 2147483647 x 65535 x 65535 are possible", DIM_VALUES(grid));
    if (threads > MAX_THREADS)
        return reject(f, ERROR, "%llu threads a block, at most %d are possible", (unsigned long long)threads,
                      MAX_THREADS);
    if (block.z > 64)
        return reject(f, ERROR, "a block of " DIM_FORMAT " threads; at most 1024 x 1024 x 64 are possible", DIM_VALUES(block));
    const uint64_t declared = f->max_threads ? (uint64_t)f->max_threads : MAX_THREADS;
    if (threads > declared)
        return reject(f, cudaErrorInvalidValue, "%d threads a block; its own __launch_bounds__ allow %d",
                      (int)threads, (int)declared);
    if (f->requires_max_threads && threads < declared)
        return reject(f, cudaErrorInvalidValue, "%d threads a block; it was compiled for %d", (int)threads, (int)declared);
    return cudaSuccess;
}

static cudaError_t check_shared(const Kernel *kernel, const Function *f, size_t dynamic_shared_bytes)
{
    const size_t default_bytes = (size_t)sim_device()->shared_per_block, allowed = sim_max_dynamic_shared_bytes(kernel, f);
    const size_t max_bytes = (size_t)sim_device()->shared_per_block_optin - f->shared_bytes;
    if (f->shared_bytes > default_bytes)
        return reject(f, cudaErrorInvalidValue,
                      "its variables take %zu bytes of shared memory, at most %zu are possible; dynamic shared "
                      "memory may be larger",
                      f->shared_bytes, default_bytes);
    if (dynamic_shared_bytes > max_bytes)
        return reject(f, cudaErrorInvalidValue, "%zu bytes of dynamic shared memory, at most %zu are possible",
                      dynamic_shared_bytes, max_bytes);
    if (dynamic_shared_bytes > allowed)
        return reject(f, cudaErrorInvalidValue,
                      "%zu bytes of dynamic shared memory; more than %zu need cudaFuncSetAttribute(kernel, "
                      "cudaFuncAttributeMaxDynamicSharedMemorySize, %zu)",
                      dynamic_shared_bytes, allowed, dynamic_shared_bytes);
    return cudaSuccess;
}

// Checks that all blocks of a grid can be co-resident, as a cooperative launch requires.
static cudaError_t check_cooperative(const Function *f, dim3 grid, dim3 block, size_t dynamic_shared_bytes)
{
    const int per_sm = sim_blocks_per_sm(f, (int)(block.x * block.y * block.z), dynamic_shared_bytes);
    const unsigned long long capacity = (unsigned long long)per_sm * (unsigned)sim_device()->sm_count;
    const unsigned long long blocks = (unsigned long long)grid.x * grid.y * grid.z;
    if (blocks > capacity)
        return reject(
            f, cudaErrorCooperativeLaunchTooLarge,
            "%llu blocks; a cooperative launch needs all of them on the device at once, which holds %llu of these",
            blocks, capacity);
    return cudaSuccess;
}

// Checks that all blocks of a cluster can be co-resident.
static cudaError_t check_cluster_fits(const Function *f, dim3 block, size_t dynamic_shared_bytes, dim3 requested)
{
    const dim3 size = requested.x ? requested : f->cluster;
    const int per_sm = sim_blocks_per_sm(f, (int)(block.x * block.y * block.z), dynamic_shared_bytes);
    const unsigned long long capacity = (unsigned long long)per_sm * (unsigned)sim_device()->sm_count;
    if ((unsigned long long)size.x * size.y * size.z > capacity)
        return reject(f, cudaErrorInvalidClusterSize,
                      "clusters of " DIM_FORMAT
                      " blocks, which run at once; the device holds %llu of these blocks",
                      DIM_VALUES(size), capacity);
    return cudaSuccess;
}

static bool has_all_arguments(const Function *f, void **arguments)
{
    int index = 0;
    for (const Variable *v = f->params; v; v = v->next, index++)
        if (!arguments || !arguments[index])
            return false;
    return true;
}

cudaError_t sim_check_configuration(const Kernel *kernel, const Function *f, dim3 grid, dim3 block,
                                    size_t dynamic_shared_bytes)
{
    cudaError_t error = check_grid_and_block(f, grid, block);
    if (!error)
        error = check_shared(kernel, f, dynamic_shared_bytes);
    if (!error)
        error = check_cluster(kernel, f, grid, (dim3){0, 0, 0});
    return error;
}

cudaError_t sim_check_launch(const KernelLaunch *l)
{
    const Function *f = l->function;
    cudaError_t error = check_grid_and_block(f, l->grid, l->block);
    if (!error)
        error = check_shared(l->kernel, f, l->dynamic_shared_bytes);
    if (!error)
        error = check_cluster(l->kernel, f, l->grid, l->cluster);
    if (!error)
        error = check_cluster_fits(f, l->block, l->dynamic_shared_bytes, l->cluster);
    if (!error && !has_all_arguments(f, l->arguments))
        error = reject(f, cudaErrorInvalidValue, "an argument is missing");
    if (!error && l->is_cooperative)
        error = check_cooperative(f, l->grid, l->block, l->dynamic_shared_bytes);
    return error;
}

// Keys of `extra`, a list of keys and values that ends with CU_LAUNCH_PARAM_END. Repeated from cuda.h, which the runtime does not
// include.
enum { LAUNCH_PARAM_END = 0, LAUNCH_PARAM_BUFFER_POINTER = 1, LAUNCH_PARAM_BUFFER_SIZE = 2 };

cudaError_t sim_unpack_arguments(const Function *f, void **extra, void **arguments, size_t max_count)
{
    char *buffer = NULL;
    size_t bytes = 0, index = 0;
    for (int k = 0; (uintptr_t)extra[k] != LAUNCH_PARAM_END && k < 4; k += 2) {
        if ((uintptr_t)extra[k] == LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[k + 1];
        else if ((uintptr_t)extra[k] == LAUNCH_PARAM_BUFFER_SIZE && extra[k + 1])
            bytes = *(const size_t *)extra[k + 1];
        else
            return cudaErrorInvalidValue;
    }
    for (const Variable *v = f->params; v; v = v->next, index++) {
        if (!buffer || index == max_count || v->address + v->bytes > bytes)
            return cudaErrorInvalidValue;
        arguments[index] = buffer + v->address;
    }
    return cudaSuccess;
}
