// work.h: what the device is asked to do: copies, fills, allocations, launches of kernels, events.
//
// A function here does it, or says why it cannot be done. It takes no lock, knows of no capture, and remembers no
// error: who calls it holds the runtime's lock, has found that the work is to be done now, and has begun the operation of a
// stream (order.h) whose work it is.
#ifndef WORK_H
#define WORK_H

#include "runtime/work/binaries.h"

// ---- pointers.c. Nothing (no bytes) is everywhere.

// Whether a call may take [pointer, pointer + bytes) for device memory: it lies within one allocation.
bool sim_on_device(const void *pointer, size_t bytes);
// Whether the host may read and write it: pinned, registered, managed, or the program's own memory.
bool sim_on_host(const void *pointer, size_t bytes);
// Whether the process has memory there that the program may use.
bool sim_is_mapped(const void *pointer, size_t bytes);
// The allocation that holds the pointer, of memory that the program may hand to a call; or NULL.
const Allocation *sim_allocation_with(const void *pointer);

// ---- allocations.c

// An allocation that the program knows by the name of this call; NULL and no error for no bytes.
cudaError_t sim_allocate_memory(const char *call, void **pointer, size_t bytes, MemoryKind kind, unsigned flags);
// Ends one of this kind. Who frees what is none is told of.
cudaError_t sim_free_memory(const char *call, void *pointer, MemoryKind kind);

// ---- bytes.c

// All copies and fills go through these: of bytes that lie where the program's addresses say.
void sim_move_bytes(void *to, const void *from, size_t bytes);
void sim_set_bytes(void *pointer, int value, size_t bytes);
// The current operation has used these bytes, where the program's addresses say.
void sim_note_read(const void *pointer, size_t bytes);
void sim_note_write(const void *pointer, size_t bytes);

// ---- copies.c. Findings name the call.

typedef struct RowCopy { // a copy of `height` rows of `width` bytes that begin `pitch` bytes apart
    void *to;
    size_t to_pitch;
    const void *from;
    size_t from_pitch, width, height;
    enum cudaMemcpyKind kind;
} RowCopy;

// How many bytes rows of width bytes, pitch bytes apart, reach over; false where no size_t holds that.
bool sim_span_of_rows(size_t pitch, size_t width, size_t rows, size_t *bytes);
// Whether rows can lie so, wherever they are.
cudaError_t sim_check_rows(const RowCopy *rows);
// All is checked before the first row is copied.
cudaError_t sim_copy_rows(const char *call, const RowCopy *rows);
// A box in each of two memories, or arrays.
cudaError_t sim_check_boxes(const struct cudaMemcpy3DParms *p);
bool sim_is_empty_copy(const struct cudaMemcpy3DParms *p); // which is over at once
cudaError_t sim_copy_boxes(const char *call, const struct cudaMemcpy3DParms *p);
// Whether the host waits for such a copy, where it is none of a stream.
bool sim_host_waits(enum cudaMemcpyKind kind, const void *to, const void *from);

// ---- fills.c

cudaError_t sim_check_fill(const char *call, const void *pointer, size_t pitch, size_t width, size_t height);
cudaError_t sim_fill_rows(const char *call, void *pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t sim_fill_slices(const char *call, struct cudaPitchedPtr pitched, int value, struct cudaExtent extent);
// Rows of elements of one, two or four bytes.
cudaError_t sim_check_elements(const struct cudaMemsetParams *p);
cudaError_t sim_fill_elements(const struct cudaMemsetParams *p);

// ---- arrays.c

extern struct cudaArray *sim_arrays; // all that are alive

bool sim_is_array(cudaArray_const_t array); // and alive
bool sim_is_texel_format(const struct cudaChannelFormatDesc *format);
int sim_channels(const struct cudaChannelFormatDesc *format);
size_t sim_texel_bytes(const struct cudaChannelFormatDesc *format);
cudaError_t sim_copy_rows_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind);
cudaError_t sim_copy_rows_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, enum cudaMemcpyKind kind);
cudaError_t sim_copy_between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                    size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind);
// The deprecated copies know no height: `bytes` go from a place in a row on through the rows behind it.
cudaError_t sim_copy_linear_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind);
cudaError_t sim_copy_linear_from_array(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                    enum cudaMemcpyKind kind);
cudaError_t sim_copy_linear_between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                        size_t from_x, size_t from_y, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t sim_copy_arrays(const struct cudaMemcpy3DParms *p); // a copy in three dimensions, of at least one

// ---- launches.c

// For the time of a call: whoever makes it keeps the arguments.
typedef struct KernelLaunch {
    Kernel *kernel;
    const Function *function; // its code on the current device
    dim3 grid, block;
    size_t dynamic_bytes;
    void **arguments;
    bool cooperative;
    dim3 cluster; // 0: the kernel's own, or none
} KernelLaunch;

// Returns when the kernel has ended; what it failed with breaks the device.
cudaError_t sim_run_kernel(const KernelLaunch *launch, const void *from); // from: as sim_name_op has it

// ---- configuration.c: what a kernel and the device allow. A launch that is refused is told of.

enum { MAX_THREADS = 1024 }; // of a block

// What is wrong with a launch, its stream apart.
cudaError_t sim_check_launch(const void *host, dim3 grid, dim3 block, size_t dynamic_bytes, void **arguments,
                             bool cooperative,
                             dim3 cluster); // of the launch; 0: the kernel's own, or none
// The same of a launch by a kernel.
cudaError_t sim_check_configuration(const Kernel *kernel, const Function *f, dim3 grid, dim3 block,
                                    size_t dynamic_bytes);
int sim_largest_cluster(const Kernel *kernel); // in blocks
// How much dynamic shared memory a launch may ask for: what the program has set for the kernel, or what all have.
size_t sim_most_dynamic_bytes(const Kernel *kernel, const Function *function);

#endif
