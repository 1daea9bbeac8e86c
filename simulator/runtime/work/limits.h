// limits.h: the limits of cudaDeviceSetLimit, such as sizes of stack and heap. Guarded by the runtime's lock.
#ifndef LIMITS_H
#define LIMITS_H

#include "machine/block.h"

bool sim_is_limit(enum cudaLimit limit); // true if the limit is supported
size_t sim_limit(enum cudaLimit limit);  // of the current device: the value that the program set, or the default
cudaError_t sim_set_limit(enum cudaLimit limit, size_t value); // of the current device
void sim_reset_limits(void);                                   // of the current device

#endif
