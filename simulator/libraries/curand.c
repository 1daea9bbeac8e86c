// curand.c: cuRAND's host API for the simulator. Each call is an operation of its stream. The numbers have the same
// distributions as NVIDIA's, but other values, whatever the generator's type: number k of a seed is a hash of k and the seed.
// Quasirandom numbers are Sobol's.
#include "include/curand.h"
#include "sobol.h"

#include "runtime/api/library.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct curandGenerator_st {
    struct curandGenerator_st *next_generator;
    uint64_t seed, next; // next: index of the next number; of quasirandom ones, within each dimension
    int dimensions;      // of quasirandom numbers; 0: pseudorandom
    cudaStream_t stream;
    bool on_host;
};

#define API __attribute__((visibility("default")))
#define CURAND_REQUIRE(condition, error) \
    do {                                 \
        if (!(condition))                \
            return (error);              \
    } while (0)

// ---- Generators

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static curandGenerator_t generators; // list of the live generators; guarded by `lock`

static void add(curandGenerator_t generator)
{
    pthread_mutex_lock(&lock);
    generator->next_generator = generators;
    generators = generator;
    pthread_mutex_unlock(&lock);
}

// True if the generator is live; otherwise reports a finding. remove: also removes it from the list.
static bool check_generator(curandGenerator_t generator, const char *call, bool remove)
{
    pthread_mutex_lock(&lock);
    curandGenerator_t *at = &generators;
    while (*at && *at != generator)
        at = &(*at)->next_generator;
    const bool found = *at != NULL;
    if (found && remove)
        *at = generator->next_generator;
    pthread_mutex_unlock(&lock);
    if (!found)
        sim_report_invalid_handle(call, "a generator that curandCreateGenerator created and that has not been destroyed");
    return found;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool on_host)
{
    static bool reported;
    CURAND_REQUIRE(generator, CURAND_STATUS_NOT_INITIALIZED);
    const bool quasi = type >= CURAND_RNG_QUASI_DEFAULT;
    if (type < CURAND_RNG_PSEUDO_DEFAULT || (quasi && type > CURAND_RNG_QUASI_SOBOL32 && type != CURAND_RNG_QUASI_SOBOL64)) {
        fprintf(stderr, "simulator: curandCreateGenerator does not support scrambled quasirandom numbers\n");
        return CURAND_STATUS_TYPE_ERROR;
    }
    if (!reported && !quasi)
        fprintf(stderr, "simulator: cuRAND's host API has the distributions of NVIDIA's numbers, but not their values\n");
    reported |= !quasi;
    *generator = calloc(1, sizeof **generator);
    CURAND_REQUIRE(*generator, CURAND_STATUS_ALLOCATION_FAILED);
    (*generator)->on_host = on_host;
    (*generator)->dimensions = quasi ? 1 : 0;
    add(*generator);
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

API curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, true);
}

API curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    CURAND_REQUIRE(check_generator(generator, __func__, true), CURAND_STATUS_NOT_INITIALIZED);
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandGetVersion(int *version)
{
    CURAND_REQUIRE(version, CURAND_STATUS_OUT_OF_RANGE);
    *version = CUDART_VERSION / 1000 * 1000;
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    CURAND_REQUIRE(check_generator(generator, __func__, false), CURAND_STATUS_NOT_INITIALIZED);
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed)
{
    CURAND_REQUIRE(check_generator(generator, __func__, false), CURAND_STATUS_NOT_INITIALIZED);
    generator->seed = seed;
    generator->next = 0;
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator, unsigned dimensions)
{
    CURAND_REQUIRE(check_generator(generator, __func__, false), CURAND_STATUS_NOT_INITIALIZED);
    CURAND_REQUIRE(generator->dimensions, CURAND_STATUS_TYPE_ERROR);
    if (dimensions > SOBOL_DIMENSIONS)
        fprintf(stderr, "simulator: quasirandom numbers of at most %d dimensions are supported\n", SOBOL_DIMENSIONS);
    CURAND_REQUIRE(dimensions >= 1 && dimensions <= SOBOL_DIMENSIONS, CURAND_STATUS_OUT_OF_RANGE);
    generator->dimensions = (int)dimensions;
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set)
{
    CURAND_REQUIRE(vectors && set == CURAND_DIRECTION_VECTORS_32_JOEKUO6, CURAND_STATUS_OUT_OF_RANGE);
    *vectors = sobol_directions_32();
    return *vectors ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

API curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t *vectors[], curandDirectionVectorSet_t set)
{
    CURAND_REQUIRE(vectors && set == CURAND_DIRECTION_VECTORS_64_JOEKUO6, CURAND_STATUS_OUT_OF_RANGE);
    *vectors = (curandDirectionVectors64_t *)sobol_directions_64();
    return *vectors ? CURAND_STATUS_SUCCESS : CURAND_STATUS_ALLOCATION_FAILED;
}

API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset)
{
    CURAND_REQUIRE(check_generator(generator, __func__, false), CURAND_STATUS_NOT_INITIALIZED);
    generator->next = offset;
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order)
{
    (void)order; // only one order is supported
    CURAND_REQUIRE(check_generator(generator, __func__, false), CURAND_STATUS_NOT_INITIALIZED);
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    CURAND_REQUIRE(check_generator(generator, __func__, false), CURAND_STATUS_NOT_INITIALIZED);
    return CURAND_STATUS_SUCCESS;
}

// ---- Numbers

typedef struct Task {
    uint64_t seed, first;
    size_t count;
    int dimensions; // of quasirandom numbers, stored one dimension after the other; 0: pseudorandom
    void *out;
    bool on_host, in_double;
    double mean, standard_deviation;
} Task;

// The mixing function of SplitMix64 (Steele, Lea and Flood, 2014), applied to a seed and an index.
static uint64_t bits_at(const Task *t, uint64_t k)
{
    const uint64_t per_dimension = t->dimensions ? t->count / (uint64_t)t->dimensions : 0; // numbers of a dimension
    if (per_dimension)
        return sobol_number((int)(k / per_dimension), t->first + k % per_dimension);
    uint64_t z = t->seed * 0xd1342543de82ef95u + (t->first + k + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform_at(const Task *t, uint64_t k) // in (0, 1]
{
    if (t->dimensions)
        return ((double)(bits_at(t, k) >> 32) + 0.5) * 0x1p-32;
    return t->in_double ? ((double)(bits_at(t, k) >> 11) + 1) * 0x1p-53 : ((double)(bits_at(t, k) >> 40) + 1) * 0x1p-24;
}

// The Box-Muller transformation: two normal numbers from two uniform ones.
static double normal_at(const Task *t, uint64_t k)
{
    const double radius = sqrt(-2 * log(uniform_at(t, k & ~1ull))), angle = 2 * M_PI * uniform_at(t, k | 1);
    return t->mean + t->standard_deviation * radius * (k & 1 ? sin(angle) : cos(angle));
}

static double log_normal_at(const Task *t, uint64_t k)
{
    return exp(normal_at(t, k));
}

static void *output_of(const Task *t)
{
    return t->on_host ? t->out : sim_memory_at(t->out);
}

static void write_numbers(const Task *t, double (*number_at)(const Task *t, uint64_t k))
{
    for (size_t k = 0; k < t->count; k++)
        if (t->in_double)
            ((double *)output_of(t))[k] = number_at(t, k);
        else
            ((float *)output_of(t))[k] = (float)number_at(t, k);
}

static void write_bits(const void *task)
{
    const Task *t = task;
    for (size_t k = 0; k < t->count; k++)
        ((uint32_t *)output_of(t))[k] = (uint32_t)(bits_at(t, k) >> 32);
}

static void write_uniform(const void *task)
{
    write_numbers(task, uniform_at);
}

static void write_normal(const void *task)
{
    write_numbers(task, normal_at);
}

static void write_log_normal(const void *task)
{
    write_numbers(task, log_normal_at);
}

static curandStatus_t generate(curandGenerator_t g, const char *name, const void *from, void (*work)(const void *task),
                               Task t)
{
    CURAND_REQUIRE(check_generator(g, name, false), CURAND_STATUS_NOT_INITIALIZED);
    const bool normal = work == write_normal || work == write_log_normal;
    CURAND_REQUIRE(!normal || t.count % 2 == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CURAND_REQUIRE(!g->dimensions || t.count % (size_t)g->dimensions == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    if (normal && g->dimensions)
        fprintf(stderr, "simulator: quasirandom numbers of normal distributions are not supported\n");
    CURAND_REQUIRE(!normal || !g->dimensions, CURAND_STATUS_TYPE_ERROR);
    t.seed = g->seed, t.first = g->next, t.on_host = g->on_host, t.dimensions = g->dimensions;
    g->next += g->dimensions ? t.count / (size_t)g->dimensions : t.count;
    const size_t bytes = t.count * (t.in_double ? sizeof(double) : sizeof(float));
    if (t.on_host) {
        work(&t);
        return CURAND_STATUS_SUCCESS;
    }
    const LibraryCall call = {.name = name, .call_site = from, .stream = g->stream, .work = work, .data = &t,
                              .data_bytes = sizeof t, .used_count = 1,
                              .used = {{t.out, bytes, bytes, bytes > 0, false, true}}};
    return sim_call_library(&call) ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}
#define GENERATE(work, ...) \
    generate(generator, __func__, __builtin_return_address(0), (work), (Task){.out = out, .count = count, __VA_ARGS__})

API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *out, size_t count)
{
    return GENERATE(write_bits, .in_double = false);
}

API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t count)
{
    return GENERATE(write_uniform, .in_double = false);
}

API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t count)
{
    return GENERATE(write_uniform, .in_double = true);
}

API curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t count, float mean,
                                        float standard_deviation)
{
    return GENERATE(write_normal, .mean = mean, .standard_deviation = standard_deviation);
}

API curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean,
                                              double standard_deviation)
{
    return GENERATE(write_normal, .in_double = true, .mean = mean, .standard_deviation = standard_deviation);
}

API curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t count, float mean,
                                           float standard_deviation)
{
    return GENERATE(write_log_normal, .mean = mean, .standard_deviation = standard_deviation);
}

API curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean,
                                                 double standard_deviation)
{
    return GENERATE(write_log_normal, .in_double = true, .mean = mean, .standard_deviation = standard_deviation);
}
