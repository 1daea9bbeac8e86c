// sobol.h: Sobol's quasirandom numbers, for curand.c.
#ifndef SOBOL_H
#define SOBOL_H

#include <stdint.h>

enum { SOBOL_DIMENSIONS = 32 };
// Number n of a dimension, both counted from 0: 64 bits behind the point, of which the first 32 are those of 32-bit numbers.
uint64_t sobol_number(int dimension, uint64_t n);
// The direction vectors of the dimensions, one behind the other; NULL without memory.
uint32_t (*sobol_directions_32(void))[32];
uint64_t (*sobol_directions_64(void))[64];

#endif
