// properties.h: device properties, kernel attributes and error names, for the host and device runtimes.
#ifndef PROPERTIES_H
#define PROPERTIES_H

#include "runtime/work/binaries.h"

bool sim_is_device(int device);
bool sim_is_device_attribute(enum cudaDeviceAttr attribute);
int sim_device_attribute(enum cudaDeviceAttr attribute); // equal for all devices
// The kernel and its function as sim_find_kernel returns them.
void sim_describe_kernel(struct cudaFuncAttributes *attributes, const Kernel *kernel, const Function *f);
const char *sim_error_name(cudaError_t error);
const char *sim_error_text(cudaError_t error);

#endif
