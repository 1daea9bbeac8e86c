// device_runtime.h: kernels that launch kernels. dynamic_parallelism.c tells how.
//
// A launch by the host, and all that its kernel and theirs launch, are a family of grids. One thread of the host runs
// it, and holds the lock of the runtime.
#ifndef DEVICE_RUNTIME_H
#define DEVICE_RUNTIME_H

#include "machine/grid.h"
#include "runtime/work/module.h"

// A call of a function of the device's runtime, by its name; false if there is none, or the call does not fit.
bool sim_decode_device_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i);

// Makes a kernel ready and runs it to its end; the result, with a message on stderr where it is no success. A thread
// that calls functions gets stack_bytes of local memory for theirs.
cudaError_t sim_launch(Module *module, Function *kernel, dim3 grid, dim3 block,
                       size_t dynamic_bytes, size_t stack_bytes, void **arguments);

// The same of one that is ready, for blocks that may wait for each other.
cudaError_t sim_launch_grouped(const Module *module, const Function *kernel, dim3 grid,
                               dim3 block, size_t dynamic_bytes, size_t stack_bytes,
                               void **arguments, Grouping grouping);
// What sim_launch_grouped does where kernels of the module launch others: returns when all of the family has ended.
cudaError_t sim_launch_tree(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                              size_t stack_bytes, void **arguments, Grouping grouping);

#endif
