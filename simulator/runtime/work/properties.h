// properties.h: what the devices and kernels are like, for the host and for kernels that ask; what errors are called.
#ifndef PROPERTIES_H
#define PROPERTIES_H

#include "runtime/work/binaries.h"

bool sim_is_device(int device); // whether there is one with this number
bool sim_is_device_attribute(enum cudaDeviceAttr attribute);
int sim_device_attribute(enum cudaDeviceAttr attribute); // of any: all are alike
void sim_describe_kernel(struct cudaFuncAttributes *attributes, const Kernel *kernel, const Function *f);
const char *sim_error_name(cudaError_t error);
const char *sim_error_text(cudaError_t error);

#endif
