// limits.h: what a program can set for a device: sizes of the stack, the heap and the like.
//
// The runtime's lock guards it.
#ifndef LIMITS_H
#define LIMITS_H

#include "machine/block.h"

bool sim_is_limit(enum cudaLimit limit); // that this device knows
size_t sim_limit(enum cudaLimit limit);  // of the current device: as set, or the usual one
cudaError_t sim_set_limit(enum cudaLimit limit, size_t value); // of the current device
void sim_reset_limits(void);                                   // of the current device

#endif
