// ops.h: instruction handlers that other files refer to by name.
#ifndef OPS_H
#define OPS_H

#include "machine/warp.h"

// ---- convert.c: 16-bit formats

float sim_half_to_float(uint16_t bits);
double sim_float16_value(uint16_t bits, bool is_bf16); // false: half precision
// Rounds to `digits` significant binary digits, the last of which has a weight of at least 2^min_exponent.
double sim_rounded(double value, int digits, int min_exponent, int rounding);
float sim_single_from_double(double value, int rounding);
uint16_t sim_half_from_double(double value, int rounding);
uint16_t sim_bf16_from_double(double value, int rounding);

// ---- memory.c, atomics.c, async.c: loads, stores, atomics and asynchronous copies

// Owned by a block, whose host thread adds them to the launch's counters when the block ends.
typedef struct Counters {
    uint64_t warp_instructions, active_lanes, divergent_branches, shared_loads, shared_stores, bank_conflicts,
        global_load_requests, global_load_sectors, global_store_requests, global_store_sectors, atomics,
        shuffles, block_barriers, warp_barriers, uneven_loops;
} Counters;

// ---- access_cost.c

// Updates the counters for a load or store, after sim_access.
void sim_count_access(Warp *w, const Access *access);
// Counts the bank conflicts only.
void sim_count_conflicts(Warp *w, const Access *access);
// Counts a bulk copy of `bytes` bytes from or to a global address with SIM_ATOMIC_LOADS; without it, it is neither load nor store, as for Nsight Compute.
void sim_count_bulk_copy(Warp *w, uint64_t global, uint32_t bytes, bool to_global);
// Counts, with SIM_ATOMIC_LOADS, the rows of `width` bytes that cudaMemcpyAsync or cudaMemsetAsync in a kernel copies or, without a source, fills.
void sim_count_device_copy(Warp *w, size_t width, size_t height, bool has_source);
// Counts the global read of a cp.async; with SIM_ATOMIC_LOADS also its shared write.
void sim_count_async_load(Warp *w, const Access *access);

Handler sim_load, sim_store, sim_load_kernel_param, sim_load_argument, sim_store_argument, sim_atomic, sim_copy_async,
    sim_commit_copies, sim_await_copies, sim_await_all_copies;
// Fences: membar/fence, fence.mbarrier_init, fence.proxy.
Handler sim_fence, sim_fence_mbarrier_init, sim_fence_proxy;
// griddepcontrol: no effect, since the kernels of a stream run one after the other, but the observer is informed.
Handler sim_wait_for_prerequisites, sim_launch_dependents;
// Discards the warp's pending cp.async copies.
void sim_discard_copies(Warp *w);

// ---- texture.c: textures and surfaces. runtime/api/texture.c manages the objects.

// A member of the list of runtime/work/arrays.c until cudaFreeArray; guarded by the lock of lock.c. The texels are an allocation.
struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; // as requested: 0 in unused dimensions
    unsigned flags;
    size_t row_bytes, rows, slices; // slices: depth or number of layers
    uint8_t *texels;
    int device; // current device at creation
    struct cudaArray *next;
};

typedef struct Texels { // memory that a texture or surface object refers to
    uint64_t base;                       // address; 0: the array has been freed
    int dimensions;                      // of a layer
    bool layered, cube, linear, supports_gather; // cube: a layer has six faces; linear: linear memory, not an array
    int64_t size[3], layers;             // at least 1
    size_t row_bytes, slice_bytes;       // slice_bytes: bytes of a slice or layer
    int channels, channel_bytes;
    enum cudaChannelFormatKind kind;
} Texels;

// An entry of the table of texture_objects.c, guarded by the lock of lock.c; immutable while a kernel runs.
typedef struct TextureObject {
    bool is_surface;
    int device; // current device at creation
    Texels texels;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc sampling; // unused for a surface
} TextureObject;

// NULL if there is no such object.
const TextureObject *sim_texture_object(uint64_t handle);
cudaError_t sim_add_texture_object(const TextureObject *object, unsigned long long *handle); // copies the object
void sim_free_texture_object(uint64_t handle); // the handle must be valid
void sim_free_texture_objects(int device);
void sim_detach_array(cudaArray_const_t array); // called when the array is freed: its objects then refer to no memory

Handler sim_sample_texture, sim_texture_gather, sim_fetch_texel, sim_load_surface, sim_store_surface, sim_query_surface;

// ---- bulk.c: bulk asynchronous copies and mbarriers

Handler sim_mbarrier_init, sim_mbarrier_inval, sim_mbarrier_arrive, sim_mbarrier_test, sim_copy_bulk, sim_commit_bulk,
    sim_await_bulk, sim_arrive_after_copies, sim_store_async;
// Discards the records of pending bulk copies that read shared memory.
void sim_discard_sources(Warp *w);

// ---- matrix.c: tensor cores

Handler sim_load_matrix, sim_store_matrix;

// ---- warp_level.c: warp-level operations, and calls of functions that the simulator implements

// Copies argument `index` of a lane's call to `value`.
void sim_call_argument(const Warp *w, const Instr *i, int lane, int index, void *value, size_t bytes);
// Sets the return value of a lane's call.
void sim_return_value(const Warp *w, const Instr *i, int lane, const void *value, size_t bytes);

Handler sim_shuffle, sim_vote, sim_match, sim_reduce_warp, sim_activemask, sim_elect, sim_print,
    sim_fail_assertion, sim_malloc, sim_free, sim_trap, sim_read_clock;

#endif
