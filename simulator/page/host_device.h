// host_device.h: what the simulated device answers to host code that the compiler evaluates.
#ifndef PAGE_HOST_DEVICE_H
#define PAGE_HOST_DEVICE_H

#include "compiler/compiler.h"

enum { MAX_KERNEL_ARGUMENTS = 256 };

typedef struct HostDeviceState { // of one compilation
    struct Binary *binary;       // NULL until a kernel is asked about
    char *text;                  // its PTX
} HostDeviceState;

HostDevice sim_host_device(HostDeviceState *state);
void sim_end_host_device(HostDeviceState *state);

#endif
