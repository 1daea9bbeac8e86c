// sobol.c: Sobol's quasirandom numbers (1967). Number n of a dimension is the XOR of the direction vectors of the bits set in
// n's Gray code (Antonov and Saleev, 1979). The direction vectors are those of Joe and Kuo ("Constructing Sobol sequences with
// better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008), which cuRAND also uses; JOE_AND_KUO has only
// the first dimensions.
#define _GNU_SOURCE // MAP_ANONYMOUS
#include "sobol.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

// For each dimension except the first: the degree of a polynomial, its inner coefficients as bits, and the initial odd numbers.
static const struct {
    unsigned char degree, coefficients, initial[7];
} JOE_AND_KUO[SOBOL_DIMENSIONS - 1] = {
    {1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}, {3, 2, {1, 1, 1}}, {4, 1, {1, 1, 3, 3}}, {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}}, {5, 4, {1, 1, 5, 5, 5}}, {5, 7, {1, 1, 7, 11, 19}}, {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}}, {5, 14, {1, 3, 5, 5, 31}}, {6, 1, {1, 3, 3, 9, 7, 49}}, {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}}, {6, 19, {1, 1, 1, 15, 7, 5}}, {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}}, {7, 1, {1, 3, 7, 11, 23, 15, 103}}, {7, 4, {1, 3, 7, 13, 13, 15, 69}},
    {7, 7, {1, 1, 3, 13, 7, 35, 63}}, {7, 8, {1, 3, 5, 9, 1, 25, 53}}, {7, 14, {1, 3, 1, 13, 9, 35, 107}},
    {7, 19, {1, 3, 1, 5, 27, 61, 31}}, {7, 21, {1, 1, 5, 11, 19, 41, 61}}, {7, 28, {1, 3, 5, 3, 3, 13, 69}},
    {7, 31, {1, 1, 7, 13, 1, 19, 1}}, {7, 32, {1, 3, 7, 5, 13, 19, 59}}, {7, 37, {1, 1, 3, 9, 25, 29, 41}},
    {7, 41, {1, 3, 5, 13, 23, 1, 55}}, {7, 42, {1, 3, 7, 3, 13, 59, 17}}};

static uint64_t directions[SOBOL_DIMENSIONS][64];

static void fill_dimension(int d)
{
    const int degree = d == 0 ? 0 : JOE_AND_KUO[d - 1].degree;
    uint64_t *v = directions[d];
    for (int i = 0; i < 64; i++) {
        if (i < degree || d == 0) {
            v[i] = (uint64_t)(d == 0 ? 1 : JOE_AND_KUO[d - 1].initial[i]) << (63 - i);
            continue;
        }
        v[i] = v[i - degree] ^ v[i - degree] >> degree;
        for (int k = 1; k < degree; k++)
            if (JOE_AND_KUO[d - 1].coefficients >> (degree - 1 - k) & 1)
                v[i] ^= v[i - k];
    }
}

static void compute_directions(void)
{
    for (int d = 0; d < SOBOL_DIMENSIONS; d++)
        fill_dimension(d);
}

static void ensure_directions(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compute_directions);
}

uint64_t sobol_number(int dimension, uint64_t n)
{
    uint64_t sum = 0;
    ensure_directions();
    for (uint64_t gray = n ^ n >> 1; gray; gray &= gray - 1)
        sum ^= directions[dimension][__builtin_ctzll(gray)];
    return sum;
}

// cuRAND has 20,000 dimensions. Memory of the unsupported dimensions is unreadable, so that a program cannot use wrong numbers.
static void *reserve_table(size_t vector_bytes, size_t dimensions)
{
    static bool is_reported;
    const size_t supported_bytes = SOBOL_DIMENSIONS * vector_bytes; // whole pages
    char *table = mmap(NULL, dimensions * vector_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED || mprotect(table, supported_bytes, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    if (!is_reported)
        fprintf(stderr, "simulator: cuRAND's direction vectors are supported for the first %d dimensions only\n", SOBOL_DIMENSIONS);
    is_reported = true;
    ensure_directions();
    return table;
}

enum { CURAND_DIMENSIONS = 20000 };

uint32_t (*sobol_directions_32(void))[32]
{
    static uint32_t (*table)[32];
    if (table || !(table = reserve_table(sizeof *table, CURAND_DIMENSIONS)))
        return table;
    for (int d = 0; d < SOBOL_DIMENSIONS; d++)
        for (int i = 0; i < 32; i++)
            table[d][i] = (uint32_t)(directions[d][i] >> 32);
    return table;
}

uint64_t (*sobol_directions_64(void))[64]
{
    static uint64_t (*table)[64];
    if (table || !(table = reserve_table(sizeof *table, CURAND_DIMENSIONS)))
        return table;
    for (int d = 0; d < SOBOL_DIMENSIONS; d++)
        for (int i = 0; i < 64; i++)
            table[d][i] = directions[d][i];
    return table;
}
