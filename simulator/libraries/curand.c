// curand.c: cuRAND's host API for the simulator. Each call is an operation of the generator's stream. Pseudorandom numbers have
// the distributions of NVIDIA's, but other values, independently of the generator's type: number k is a hash of k and the seed.
// Quasirandom numbers are Sobol numbers.
#include "include/curand.h"
#include "sobol.h"

#include "runtime/api/library.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct curandGenerator_st {
    struct curandGenerator_st *next_in_list;
    uint64_t seed, next_index; // next_index: of the next number; for quasirandom numbers, in each dimension
    int dimensions;      // of quasirandom numbers; 0: pseudorandom
    cudaStream_t stream;
    bool is_on_host;
};

#define API __attribute__((visibility("default")))
#define CURAND_REQUIRE(condition, error) \
    do {                                 \
        if (!(condition))                \
            return (error);              \
    } while (0)

// ---- Generators

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static curandGenerator_t generators; // list of all generators; guarded by `lock`

static void add_generator(curandGenerator_t generator)
{
    pthread_mutex_lock(&lock);
    generator->next_in_list = generators;
    generators = generator;
    pthread_mutex_unlock(&lock);
}

// True if the generator exists; if not, reports a finding. `should_remove`: also removes it from the list.
static bool check_generator(curandGenerator_t generator, const char *call, bool should_remove)
{
    pthread_mutex_lock(&lock);
    curandGenerator_t *link = &generators;
    while (*link && *link != generator)
        link = &(*link)->next_in_list;
    const bool is_found = *link != NULL;
    if (is_found && should_remove)
        *link = generator->next_in_list;
    pthread_mutex_unlock(&lock);
    if (!is_found)
        sim_report_invalid_handle(call, "a generator that curandCreateGenerator created and that has not been destroyed");
    return is_found;
}

static curandStatus_t create_generator(curandGenerator_t *generator, curandRngType_t type, bool is_on_host)
{
    static bool is_reported;
    CURAND_REQUIRE(generator, CURAND_STATUS_NOT_INITIALIZED);
    const bool is_quasi = type >= CURAND_RNG_QUASI_DEFAULT;
    if (type < CURAND_RNG_PSEUDO_DEFAULT || (is_quasi && type > CURAND_RNG_QUASI_SOBOL32 && type != CURAND_RNG_QUASI_SOBOL64)) {
        fprintf(stderr, "simulator: curandCreateGenerator does not support scrambled quasirandom numbers\n");
        return CURAND_STATUS_TYPE_ERROR;
    }
    if (!is_reported && !is_quasi)
        fprintf(stderr, "simulator: cuRAND's host API has the distributions of NVIDIA's numbers, but not their values\n");
    is_reported |= !is_quasi;
    *generator = calloc(1, sizeof **generator);
    CURAND_REQUIRE(*generator, CURAND_STATUS_ALLOCATION_FAILED);
    (*generator)->is_on_host = is_on_host;
    (*generator)->dimensions = is_quasi ? 1 : 0;
    add_generator(*generator);
    return CURAND_STATUS_SUCCESS;
}

API curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create_generator(generator, type, false);
}

API curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type)
{
    return create_generator(generator, type, true);
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
    generator->next_index = 0;
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
    generator->next_index = offset;
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

typedef struct Request {
    uint64_t seed, first_index;
    size_t count;
    int dimensions; // of quasirandom numbers, which are stored in order of their dimension; 0: pseudorandom
    void *out;
    bool is_on_host, is_double;
    double mean, standard_deviation;
} Request;

// The mixing function of SplitMix64 (Steele, Lea and Flood, 2014), applied to a seed and an index.
static uint64_t bits_at(const Request *request, uint64_t k)
{
    const uint64_t numbers_per_dimension = request->dimensions ? request->count / (uint64_t)request->dimensions : 0;
    if (numbers_per_dimension)
        return sobol_number((int)(k / numbers_per_dimension), request->first_index + k % numbers_per_dimension);
    uint64_t z = request->seed * 0xd1342543de82ef95u + (request->first_index + k + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform_at(const Request *request, uint64_t k) // in (0, 1]
{
    if (request->dimensions)
        return ((double)(bits_at(request, k) >> 32) + 0.5) * 0x1p-32;
    return request->is_double ? ((double)(bits_at(request, k) >> 11) + 1) * 0x1p-53 : ((double)(bits_at(request, k) >> 40) + 1) * 0x1p-24;
}

// The Box-Muller transformation: two normal numbers from two uniform ones.
static double normal_at(const Request *request, uint64_t k)
{
    const double radius = sqrt(-2 * log(uniform_at(request, k & ~1ull))), angle = 2 * M_PI * uniform_at(request, k | 1);
    return request->mean + request->standard_deviation * radius * (k & 1 ? sin(angle) : cos(angle));
}

static double log_normal_at(const Request *request, uint64_t k)
{
    return exp(normal_at(request, k));
}

static void *output_pointer(const Request *request)
{
    return request->is_on_host ? request->out : sim_memory_at(request->out);
}

static void write_numbers(const Request *request, double (*number_at)(const Request *request, uint64_t k))
{
    for (size_t k = 0; k < request->count; k++)
        if (request->is_double)
            ((double *)output_pointer(request))[k] = number_at(request, k);
        else
            ((float *)output_pointer(request))[k] = (float)number_at(request, k);
}

static void write_bits(const void *data)
{
    const Request *request = data;
    for (size_t k = 0; k < request->count; k++)
        ((uint32_t *)output_pointer(request))[k] = (uint32_t)(bits_at(request, k) >> 32);
}

static void write_uniform(const void *data)
{
    write_numbers(data, uniform_at);
}

static void write_normal(const void *data)
{
    write_numbers(data, normal_at);
}

static void write_log_normal(const void *data)
{
    write_numbers(data, log_normal_at);
}

static curandStatus_t generate(curandGenerator_t g, const char *name, const void *call_site, void (*work)(const void *data),
                               Request request)
{
    CURAND_REQUIRE(check_generator(g, name, false), CURAND_STATUS_NOT_INITIALIZED);
    const bool is_normal = work == write_normal || work == write_log_normal;
    CURAND_REQUIRE(!is_normal || request.count % 2 == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CURAND_REQUIRE(!g->dimensions || request.count % (size_t)g->dimensions == 0, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    if (is_normal && g->dimensions)
        fprintf(stderr, "simulator: quasirandom numbers of normal distributions are not supported\n");
    CURAND_REQUIRE(!is_normal || !g->dimensions, CURAND_STATUS_TYPE_ERROR);
    request.seed = g->seed, request.first_index = g->next_index, request.is_on_host = g->is_on_host, request.dimensions = g->dimensions;
    g->next_index += g->dimensions ? request.count / (size_t)g->dimensions : request.count;
    const size_t bytes = request.count * (request.is_double ? sizeof(double) : sizeof(float));
    if (request.is_on_host) {
        work(&request);
        return CURAND_STATUS_SUCCESS;
    }
    const LibraryCall call = {.name = name, .call_site = call_site, .stream = g->stream, .work = work, .data = &request,
                              .data_bytes = sizeof request, .used_count = 1,
                              .used = {{request.out, bytes, bytes, bytes > 0, false, true}}};
    return sim_call_library(&call) ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}
#define GENERATE(work, ...) \
    generate(generator, __func__, __builtin_return_address(0), (work), (Request){.out = out, .count = count, __VA_ARGS__})

API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *out, size_t count)
{
    return GENERATE(write_bits, .is_double = false);
}

API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t count)
{
    return GENERATE(write_uniform, .is_double = false);
}

API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t count)
{
    return GENERATE(write_uniform, .is_double = true);
}

API curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t count, float mean,
                                        float standard_deviation)
{
    return GENERATE(write_normal, .mean = mean, .standard_deviation = standard_deviation);
}

API curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean,
                                              double standard_deviation)
{
    return GENERATE(write_normal, .is_double = true, .mean = mean, .standard_deviation = standard_deviation);
}

API curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t count, float mean,
                                           float standard_deviation)
{
    return GENERATE(write_log_normal, .mean = mean, .standard_deviation = standard_deviation);
}

API curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *out, size_t count, double mean,
                                                 double standard_deviation)
{
    return GENERATE(write_log_normal, .is_double = true, .mean = mean, .standard_deviation = standard_deviation);
}
