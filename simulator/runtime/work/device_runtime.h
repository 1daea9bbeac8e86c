// device_runtime.h: dynamic parallelism (dynamic_parallelism.c).
//
// A nested launch is a launch by the host with all its descendant grids. One host thread runs it, holding the runtime's lock.
#ifndef DEVICE_RUNTIME_H
#define DEVICE_RUNTIME_H

#include "machine/grid.h"
#include "runtime/work/module.h"

// Decodes a call of a device runtime function. False if the name is unknown or the arguments do not match.
bool sim_decode_device_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i);

// Prepares a kernel and runs it to its end; prints an error to stderr. `stack_bytes`: local memory of a thread for the frames
// of called functions.
cudaError_t sim_launch(Module *module, Function *kernel, dim3 grid, dim3 block,
                       size_t dynamic_shared_bytes, size_t stack_bytes, void **arguments);

// Runs a prepared kernel to its end. `attributes`: of cooperative launches and clusters.
cudaError_t sim_launch_with_attributes(const Module *module, const Function *kernel, dim3 grid,
                               dim3 block, size_t dynamic_shared_bytes, size_t stack_bytes,
                               void **arguments, LaunchAttributes attributes);
// Runs a prepared kernel of a module whose kernels launch kernels, with all descendants.
cudaError_t sim_launch_nested(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                              size_t stack_bytes, void **arguments, LaunchAttributes attributes);

#endif
