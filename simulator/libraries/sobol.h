// sobol.h: Sobol's quasirandom numbers, used by curand.c.
#ifndef SOBOL_H
#define SOBOL_H

#include <stdint.h>

enum { SOBOL_DIMENSIONS = 32 };
// Returns number n of a dimension, both counted from 0, as a 64-bit fraction. The upper 32 bits are the 32-bit number.
uint64_t sobol_number(int dimension, uint64_t n);
// Return the direction vectors of all dimensions; NULL if out of memory.
uint32_t (*sobol_directions_32(void))[32];
uint64_t (*sobol_directions_64(void))[64];

#endif
