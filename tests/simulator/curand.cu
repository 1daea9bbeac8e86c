// The simulator's cuRAND host functions: distributions, seeds, offsets, memory. With 1: too little memory; with 2: no generator.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <curand.h>

#define OK(call)                                           \
    do {                                                   \
        const int error = (int)(call);                     \
        if (error) {                                       \
            printf("FAIL line %d: %d\n", __LINE__, error); \
            exit(1);                                       \
        }                                                  \
    } while (0)

enum { COUNT = 1 << 16 };

template <typename T> std::vector<T> back(const T *there)
{
    std::vector<T> values(COUNT);
    OK(cudaMemcpy(values.data(), there, COUNT * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

template <typename T> void expect(const std::vector<T> &values, double mean, double deviation)
{
    double sum = 0, squares = 0;
    for (const T value : values)
        sum += value, squares += (double)value * value;
    const double of = sum / COUNT, spread = sqrt(squares / COUNT - of * of);
    if (fabs(of - mean) > 0.03 * deviation || fabs(spread - deviation) > 0.03 * deviation) {
        printf("FAIL: mean %g, deviation %g; wanted %g, %g\n", of, spread, mean, deviation);
        exit(1);
    }
}

// Quasirandom numbers: each dimension equals what the direction vectors generate.
static void expect_sobol(float *x)
{
    enum { DIMENSIONS = 32, EACH = COUNT / DIMENSIONS };
    static const float FIRST[2][4] = {{0, 0.5f, 0.75f, 0.25f}, {0, 0.5f, 0.25f, 0.75f}};
    curandGenerator_t quasi;
    curandDirectionVectors32_t *vectors;
    curandDirectionVectors64_t *wide;
    OK(curandCreateGenerator(&quasi, CURAND_RNG_QUASI_SOBOL32));
    OK(curandSetQuasiRandomGeneratorDimensions(quasi, DIMENSIONS));
    OK(curandGenerateUniform(quasi, x, COUNT));
    OK(curandGetDirectionVectors32(&vectors, CURAND_DIRECTION_VECTORS_32_JOEKUO6));
    OK(curandGetDirectionVectors64(&wide, CURAND_DIRECTION_VECTORS_64_JOEKUO6));
    const std::vector<float> numbers = back(x);
    for (int k = 0; k < COUNT; k++) {
        const int dimension = k / EACH, n = k % EACH;
        unsigned sum = 0;
        for (int bit = 0; bit < 32; bit++)
            sum ^= (n ^ n >> 1) >> bit & 1 ? vectors[dimension][bit] : 0;
        const bool first = dimension < 2 && n < 4;
        if (numbers[k] != (float)((sum + 0.5) * 0x1p-32) || (first && fabs(numbers[k] - FIRST[dimension][n]) > 1e-6) ||
            wide[dimension][n % 32] >> 32 != vectors[dimension][n % 32]) {
            printf("FAIL: number %d of dimension %d is %g\n", n, dimension, numbers[k]);
            exit(1);
        }
    }
    if (curandSetQuasiRandomGeneratorDimensions(quasi, DIMENSIONS + 1) != CURAND_STATUS_OUT_OF_RANGE ||
        curandGenerateNormal(quasi, x, COUNT, 0, 1) != CURAND_STATUS_TYPE_ERROR)
        puts("FAIL: what there is not"), exit(1);
    OK(curandDestroyGenerator(quasi));
}

int main(int argc, char **arguments)
{
    curandGenerator_t generator, other, host;
    float *x;
    double *y;
    OK(cudaMalloc(&x, COUNT * sizeof *x));
    OK(cudaMalloc(&y, COUNT * sizeof *y));
    OK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT));
    OK(curandSetPseudoRandomGeneratorSeed(generator, 1234));
    if (argc > 1 && arguments[1][0] == '2') {
        OK(curandDestroyGenerator(generator));
        return curandGenerateUniform(generator, x, COUNT) != CURAND_STATUS_NOT_INITIALIZED;
    }
    if (argc > 1)
        return curandGenerateUniform(generator, x, COUNT + 1) != CURAND_STATUS_LAUNCH_FAILURE;
    OK(curandGenerateUniform(generator, x, COUNT));
    const std::vector<float> uniform = back(x);
    expect(uniform, 0.5, sqrt(1 / 12.0));
    for (const float value : uniform)
        if (!(value > 0 && value <= 1))
            return printf("FAIL: %g\n", value), 1;
    OK(curandGenerateNormal(generator, x, COUNT, 5, 2));
    expect(back(x), 5, 2);
    OK(curandGenerateUniformDouble(generator, y, COUNT));
    expect(back(y), 0.5, sqrt(1 / 12.0));
    OK(curandGenerateNormalDouble(generator, y, COUNT, -1, 0.5));
    expect(back(y), -1, 0.5);
    OK(curandGenerateLogNormal(generator, x, COUNT, 0, 0.25));
    expect(back(x), exp(1 / 32.0), exp(1 / 32.0) * sqrt(exp(1 / 16.0) - 1));
    if (curandGenerateNormal(generator, x, 3, 0, 1) != CURAND_STATUS_LENGTH_NOT_MULTIPLE)
        return puts("FAIL: 3 normal numbers"), 1;

    OK(curandCreateGenerator(&other, CURAND_RNG_PSEUDO_MTGP32)); // the same seed and offset: the same numbers
    OK(curandSetPseudoRandomGeneratorSeed(other, 1234));
    OK(curandSetGeneratorOffset(other, 1));
    OK(curandGenerateUniform(other, x, COUNT));
    if (back(x)[0] != uniform[1])
        return puts("FAIL: offset"), 1;
    OK(curandSetPseudoRandomGeneratorSeed(other, 1235));
    OK(curandGenerateUniform(other, x, COUNT));
    if (back(x)[0] == uniform[0] || back(x)[0] == uniform[1])
        return puts("FAIL: seed"), 1;
    std::vector<float> on_host(COUNT);
    OK(curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_DEFAULT));
    OK(curandGenerateUniform(host, on_host.data(), COUNT));
    expect(on_host, 0.5, sqrt(1 / 12.0));
    expect_sobol(x);
    OK(curandDestroyGenerator(generator));
    puts("PASS");
}
