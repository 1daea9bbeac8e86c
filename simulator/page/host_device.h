// host_device.h: the simulated device's answers to queries of host code that the compiler evaluates.
#ifndef PAGE_HOST_DEVICE_H
#define PAGE_HOST_DEVICE_H

#include "compiler/compiler.h"

enum { MAX_KERNEL_ARGUMENTS = 256 };

typedef struct HostDeviceState { // state during one compilation
    struct Binary *binary;       // NULL until the host code first queries a kernel
    char *ptx;
} HostDeviceState;

HostDevice sim_host_device(HostDeviceState *state);
void sim_end_host_device(HostDeviceState *state);

#endif
