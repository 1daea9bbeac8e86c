// ops.h: instructions that the machine runs, by the names that other files ask for.
#ifndef OPS_H
#define OPS_H

#include "machine/warp.h"

// ---- convert.c: half precision.

float sim_half_to_float(uint16_t bits);
double sim_half_value(uint16_t bits, bool brain); // brain: bf16
// Rounded to `digits` binary digits, the last of them 2^`lowest` or above.
double sim_rounded(double value, int digits, int lowest, int rounding);
uint16_t sim_half_from_double(double value, int rounding);
uint16_t sim_brain_from_double(double value, int rounding);

// ---- memory.c, atomics.c, async.c: instructions that read and write.

// Accesses and barriers of a block, which its host thread adds to those of the launch when it ends: counters.md defines them.
typedef struct Counters {
    uint64_t warp_instructions, active_lanes, divergent_branches, shared_loads, shared_stores, bank_conflicts,
        global_load_requests, global_load_sectors, global_store_requests, global_store_sectors, atomics,
        shuffles, block_barriers, warp_barriers, uneven_loops;
} Counters;

// ---- access_cost.c: adds to these counters. Counts a load or a store, after sim_access.
void sim_count_access(Warp *w, const Access *access);
// Counts only its bank conflicts.
void sim_count_conflicts(Warp *w, const Access *access);
// Counts what a cp.async reads.
void sim_count_async_load(Warp *w, const Access *access);

Handler sim_load, sim_store, sim_load_kernel_param, sim_load_argument, sim_store_argument, sim_atomic, sim_copy_async,
    sim_commit_copies, sim_await_copies, sim_await_all_copies;
// Fences: of memory, of the mbarriers that were made, for the copy engine.
Handler sim_fence, sim_fence_inits, sim_fence_proxy;
// Forgets the copies that no thread of the warp has waited for.
void sim_drop_copies(Warp *w);

// ---- texture.c: textures and surfaces. The objects themselves are the runtime's, in runtime/api/texture.c.

// In the list of runtime/work/arrays.c, under the lock of lock.c, until cudaFreeArray; its texels are an allocation.
struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; // as asked for: 0 in dimensions that it has not
    unsigned flags;
    size_t row_bytes, rows, slices; // slices: in the third dimension, or layers
    uint8_t *texels;
    int device; // that was current when it was made
    struct cudaArray *next;
};

typedef struct Texels { // what a texture or surface object shows
    uint64_t first; // the address; 0: the array has been freed
    int dimensions; // of a layer
    bool layered, cube, linear, gathers; // cube: a layer has six faces; linear: memory without a pitch; gathers: made for tld4
    int64_t size[3], layers;             // at least 1
    size_t row_bytes, slice_bytes; // slice: or layer
    int channels, channel_bytes;
    enum cudaChannelFormatKind kind;
} Texels;

// In the table of texture_objects.c, changed under the lock of lock.c: never while a kernel runs, whose blocks read it.
typedef struct TextureObject {
    bool surface;
    int device; // that was current when it was made
    Texels texels;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc sampling; // of a texture
} TextureObject;

// NULL: none has this number, or it has been destroyed.
const TextureObject *sim_texture_object(uint64_t number);
cudaError_t sim_add_texture_object(const TextureObject *object, unsigned long long *number); // a copy of it
void sim_end_texture_object(uint64_t number); // which there is
void sim_end_texture_objects(int device);
void sim_forget_array(cudaArray_const_t array); // what shows it shows nothing any more

Handler sim_sample_texture, sim_gather_texels, sim_fetch_texel, sim_load_surface, sim_store_surface, sim_query_surface;

// ---- bulk.c: the copy engine, and barriers in shared memory.

Handler sim_mbarrier_init, sim_mbarrier_inval, sim_mbarrier_arrive, sim_mbarrier_test, sim_copy_bulk, sim_commit_bulk,
    sim_await_bulk, sim_arrive_after_copies, sim_store_async;
// Forgets the sources that no thread of the warp has waited for.
void sim_drop_sources(Warp *w);

// ---- matrix.c: the tensor cores.

Handler sim_load_matrix, sim_store_matrix;

// ---- across.c: operations between the lanes of a warp, and what they tell the outside.

// Of a call of a function that the simulator has: one of a lane's arguments; what it returns.
void sim_call_argument(const Warp *w, const Instr *i, int lane, int index, void *value, size_t bytes);
void sim_return_value(const Warp *w, const Instr *i, int lane, const void *value, size_t bytes);

Handler sim_shuffle, sim_vote, sim_match, sim_reduce_warp, sim_activemask, sim_elect, sim_print,
    sim_fail_assertion, sim_malloc, sim_free, sim_trap, sim_read_clock;

#endif
