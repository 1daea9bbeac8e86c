// Random numbers in a kernel: curand_kernel.h, cuRAND's device functions. Each thread has its own sequence; the host calls the
// same functions and must get the same numbers.
#if __has_include(<curand_kernel.h>) // missing in a minimal toolkit
#define QUALIFIERS static __forceinline__ __host__ __device__
#include <curand_kernel.h>
#endif
#include <cmath>

#include "check.h"

#ifdef QUALIFIERS
enum { WORDS = 5, THREADS = 64, TRIES = 100 };

struct Draws {
    unsigned words[WORDS];
    float uniform, normal;
};

template <class State> __host__ __device__ Draws draw(unsigned thread)
{
    State state;
    Draws draws;
    curand_init(1234, thread, 3 * thread, &state); // seed, sequence, offset
    for (int k = 0; k < WORDS; k++)
        draws.words[k] = curand(&state);
    draws.uniform = curand_uniform(&state);
    draws.normal = curand_normal(&state);
    return draws;
}

template <class State> __global__ void generate(Draws *out)
{
    out[threadIdx.x] = draw<State>(threadIdx.x);
}

template <class State> static void compare()
{
    Draws *out = managed<Draws>(THREADS);
    generate<State><<<1, THREADS>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (unsigned thread = 0; thread < THREADS; thread++) {
        const Draws expected = draw<State>(thread);
        for (int k = 0; k < WORDS; k++)
            CHECK(out[thread].words[k] == expected.words[k]);
        CHECK(out[thread].uniform == expected.uniform);
        CHECK(fabsf(out[thread].normal - expected.normal) <= 1e-5f * (1 + fabsf(expected.normal))); // the host's logarithm differs
    }
}

// The area of a quarter circle is pi / 4 of its square.
__global__ void count_inside(unsigned *inside)
{
    curandStatePhilox4_32_10_t state;
    curand_init(42, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    unsigned mine = 0;
    for (int k = 0; k < TRIES; k++) {
        const float4 point = curand_uniform4(&state);
        mine += (point.x * point.x + point.y * point.y <= 1) + (point.z * point.z + point.w * point.w <= 1);
    }
    atomicAdd(inside, mine);
}

int main()
{
    compare<curandStateXORWOW_t>();
    compare<curandStatePhilox4_32_10_t>();
    compare<curandStateMRG32k3a_t>();
    unsigned *inside = managed<unsigned>(1);
    *inside = 0;
    count_inside<<<4, THREADS>>>(inside);
    CUDA(cudaDeviceSynchronize());
    CHECK(fabs(4.0 * *inside / (4 * THREADS * TRIES * 2) - 3.14159) < 0.03);
    printf("PASS\n");
}
#else
int main()
{
    printf("PASS, without curand_kernel.h\n");
}
#endif
