// work.h: copies, fills, allocations and kernel launches.
//
// These functions work synchronously, or return an error. They do not lock, capture, or set the last error. The caller holds the
// runtime's lock, and has begun an operation of a stream (checker/order.h).
#ifndef WORK_H
#define WORK_H

#include "runtime/work/binaries.h"

// ---- pointers.c. The predicates are true for 0 bytes.

// True if [pointer, pointer + bytes) is in one allocation of device memory.
bool sim_on_device(const void *pointer, size_t bytes);
// True if the host may access these bytes: pinned, registered or managed memory, or memory that CUDA did not allocate.
bool sim_on_host(const void *pointer, size_t bytes);
// True if the bytes are mapped memory of the program.
bool sim_is_mapped(const void *pointer, size_t bytes);
// The allocation that contains the pointer, if the program may pass it to a call; or NULL.
const Allocation *sim_allocation_containing(const void *pointer);

// ---- allocations.c

// Allocates memory. Findings name the API function `call`. For 0 bytes, *pointer becomes NULL without an error.
cudaError_t sim_allocate_memory(const char *call, void **pointer, size_t bytes, MemoryKind kind, unsigned flags);
// Frees an allocation of this kind. An invalid free is a finding.
cudaError_t sim_free_memory(const char *call, void *pointer, MemoryKind kind);

// ---- bytes.c

// All copies and fills use these two functions. Pointers are the program's addresses.
void sim_copy_bytes(void *to, const void *from, size_t bytes);
void sim_set_bytes(void *pointer, int value, size_t bytes);
// Record accesses of the current operation.
void sim_note_read(const void *pointer, size_t bytes);
void sim_note_write(const void *pointer, size_t bytes);

// ---- copies.c. Findings name the API function `call`.

typedef struct RowCopy { // a copy of `height` rows of `width` bytes that begin `pitch` bytes apart
    void *to;
    size_t to_pitch;
    const void *from;
    size_t from_pitch, width, height;
    enum cudaMemcpyKind kind;
} RowCopy;

// Sets *bytes to the distance from the first byte to the end of the last row; false on overflow.
bool sim_span_of_rows(size_t pitch, size_t width, size_t rows, size_t *bytes);
// Checks pitches and direction, but not addresses.
cudaError_t sim_check_rows(const RowCopy *rows);
// Checks all rows before it copies the first one.
cudaError_t sim_copy_rows(const char *call, const RowCopy *rows);
// 3D copies between memory and arrays.
cudaError_t sim_check_3d_copy(const struct cudaMemcpy3DParms *p);
bool sim_is_empty_copy(const struct cudaMemcpy3DParms *p);
cudaError_t sim_copy_3d(const char *call, const struct cudaMemcpy3DParms *p);
// True if a copy of this kind, without a stream, is synchronous.
bool sim_is_synchronous_copy(enum cudaMemcpyKind kind, const void *to, const void *from);
// True if a copy from pageable to device memory goes through a staging buffer, so that a synchronous call may return before its transfer
// has completed.
bool sim_is_staged(const void *to, const void *from);

// ---- fills.c

cudaError_t sim_check_fill(const char *call, const void *pointer, size_t pitch, size_t width, size_t height);
cudaError_t sim_fill_rows(const char *call, void *pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t sim_fill_slices(const char *call, struct cudaPitchedPtr pitched, int value, struct cudaExtent extent);
// Fill rows of elements of one, two or four bytes.
cudaError_t sim_check_elements(const struct cudaMemsetParams *p);
cudaError_t sim_fill_elements(const struct cudaMemsetParams *p);

// ---- arrays.c

extern struct cudaArray *sim_arrays; // list of all arrays

bool sim_is_array(cudaArray_const_t array); // false if it was freed
bool sim_is_texel_format(const struct cudaChannelFormatDesc *format);
int sim_channels(const struct cudaChannelFormatDesc *format);
size_t sim_texel_bytes(const struct cudaChannelFormatDesc *format);
cudaError_t sim_copy_rows_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                   size_t height, enum cudaMemcpyKind kind);
cudaError_t sim_copy_rows_from_array(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                     size_t height, enum cudaMemcpyKind kind);
cudaError_t sim_copy_between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                    size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind);
// Deprecated copies without a height: `bytes` bytes from a position in a row, continued in the following rows.
cudaError_t sim_copy_linear_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                  enum cudaMemcpyKind kind);
cudaError_t sim_copy_linear_from_array(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                    enum cudaMemcpyKind kind);
cudaError_t sim_copy_linear_between_arrays(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from,
                                        size_t from_x, size_t from_y, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t sim_copy_arrays(const struct cudaMemcpy3DParms *p); // with an array on at least one side

// ---- launches.c

typedef struct KernelLaunch { // valid during a call; the caller owns the arguments
    Kernel *kernel;
    const Function *function; // on the current device
    dim3 grid, block;
    size_t dynamic_shared_bytes;
    void **arguments;
    bool is_cooperative;
    dim3 cluster; // 0: the kernel's __cluster_dims__, or none
    bool is_dependent; // it may begin before the previous kernel of its stream has ended
} KernelLaunch;

// Runs the kernel to its end. `call_site`: the return address of the call, or NULL (sim_name_op).
cudaError_t sim_run_kernel(const KernelLaunch *launch, const void *call_site);

// ---- configuration.c: limits of kernel and device. Prints the reasons for the first rejections.

enum { MAX_THREADS = 1024 }; // of a block

// Checks a launch of a kernel that sim_find_kernel has found, but not its stream.
cudaError_t sim_check_launch(const KernelLaunch *launch);
const char *sim_last_rejection(void); // the reason for which a launch was last rejected
// Checks a launch by a kernel.
cudaError_t sim_check_configuration(const Kernel *kernel, const Function *f, dim3 grid, dim3 block,
                                    size_t dynamic_shared_bytes);
int sim_max_cluster_blocks(const Kernel *kernel);
// The limit of dynamic shared memory: the value that the program set for the kernel, or the default.
size_t sim_max_dynamic_shared_bytes(const Kernel *kernel, const Function *function);
// Sets pointers to the arguments in a launch's `extra` buffer, at most max_count of them.
cudaError_t sim_unpack_arguments(const Function *f, void **extra, void **arguments, size_t max_count);

#endif
