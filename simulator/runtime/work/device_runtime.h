// device_runtime.h: dynamic parallelism (dynamic_parallelism.c).
//
// A nested launch is a launch by the host with all its descendant grids. One host thread runs it, holding the runtime's lock.
#ifndef DEVICE_RUNTIME_H
#define DEVICE_RUNTIME_H

#include "machine/grid.h"
#include "runtime/work/module.h"

// Decodes a call of a device runtime function, by its name; false: unknown, or the arguments do not match.
bool sim_decode_device_call(Slice name, const CallSite *call, size_t param_bytes, Instr *i);

// Makes a kernel ready and runs it to its end; an error is printed to stderr. `stack_bytes`: local memory of a thread for the
// frames of called functions.
cudaError_t sim_launch(Module *module, Function *kernel, dim3 grid, dim3 block,
                       size_t dynamic_shared_bytes, size_t stack_bytes, void **arguments);

// Runs a ready kernel to its end; `attributes`: of cooperative launches and clusters.
cudaError_t sim_launch_with_attributes(const Module *module, const Function *kernel, dim3 grid,
                               dim3 block, size_t dynamic_shared_bytes, size_t stack_bytes,
                               void **arguments, LaunchAttributes attributes);
// Does so for modules whose kernels launch others, with all descendants.
cudaError_t sim_launch_nested(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                              size_t stack_bytes, void **arguments, LaunchAttributes attributes);

#endif
