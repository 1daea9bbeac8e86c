// known_names.c: names that beginners use in kernels although they are unavailable there, with suggested replacements.
#include "compiler/build.h"

#include <string.h>

typedef struct KnownName {
    const char *name, *help;
} KnownName;

// Host functions of the C library. CUDA's host functions are recognised by the prefix "cuda".
static const char *const HOST_FUNCTIONS[] = {
    "rand", "srand", "rand_r", "random", "drand48", "exit", "abort", "atexit", "fprintf", "sprintf", "snprintf", "puts", "putchar", "scanf", "fscanf",
    "sscanf", "fopen", "fclose", "fread", "fwrite", "fgets", "getchar", "perror", "time", "sleep", "usleep", "getenv", "system", "atoi", "atof", "atol",
    "strtol", "strtod", "strlen", "strcmp", "strcpy", "strcat", "strncpy", "strdup", "qsort", "bsearch", "calloc", "realloc", "memmove", "gettimeofday",
    "clock_gettime", "assert_perror", "omp_get_thread_num", "omp_get_num_threads",
};

static const KnownName HOST_TYPES[] = {
    {"vector", NULL}, {"string", "use an array of characters"}, {"map", NULL}, {"unordered_map", NULL}, {"set", NULL}, {"list", NULL}, {"deque", NULL},
    {"queue", NULL}, {"stack", NULL}, {"array", "use an array: T name[n]"}, {"pair", "write a struct"}, {"tuple", "write a struct"}, {"unique_ptr", NULL},
    {"shared_ptr", NULL}, {"optional", NULL}, {"function", "pass a functor or a lambda as a template's argument"}, {"complex", "use float2 or double2"},
    {"mutex", "use atomicCAS, or a barrier"}, {"thread", NULL}, {"bitset", "use an unsigned"}, {"atomic", "use atomicAdd and the like, or cuda::atomic"},
};

static const KnownName HOST_OBJECTS[] = {
    {"cout", "write printf(...)"}, {"cerr", "write printf(...)"}, {"endl", "write printf(\"...\\n\")"}, {"cin", NULL}, {"sort", NULL},
    {"accumulate", "write a loop"}, {"fill", "write a loop"}, {"copy", "write a loop"},
};

static const KnownName REPLACED_NAMES[] = {
    {"__shfl", "write __shfl_sync(0xffffffff, ...)"}, {"__shfl_up", "write __shfl_up_sync(0xffffffff, ...)"},
    {"__shfl_down", "write __shfl_down_sync(0xffffffff, ...)"}, {"__shfl_xor", "write __shfl_xor_sync(0xffffffff, ...)"},
    {"__any", "write __any_sync(0xffffffff, ...)"}, {"__all", "write __all_sync(0xffffffff, ...)"},
    {"__ballot", "write __ballot_sync(0xffffffff, ...)"},
    {"cudaThreadSynchronize", "write __syncthreads()"}, {"cudaDeviceSynchronize", "the host calls it; threads of a block wait with __syncthreads()"},
};

#define HELP_BLOCK_REDUCTION "use __shfl_down_sync in each warp and a __shared__ array between the warps, or #include <cooperative_groups/reduce.h> and cg::reduce"
#define HELP_NO_INTRINSIC "compute it on the host, or approximate it by a polynomial"
// Libraries and features that nvcc supports and this compiler does not.
static const KnownName UNSUPPORTED[] = {
    {"cub", HELP_BLOCK_REDUCTION}, {"thrust", "write a kernel; the host may use Thrust where nvcc compiles it"}, {"nvcuda", "write the matrix multiplication as a loop"},
    {"malloc", "use an array of the kernel's own, shared memory, or memory that the host allocates"},
    {"free", "use memory that the kernel need not free: an array of its own, shared memory, or memory that the host allocates"},
    {"block_tile_memory", "use a tile of up to 32 threads, or the whole block with block.sync()"},
    {"curandState", "compute numbers from the index, such as x = x * 1664525u + 1013904223u"}, {"curandState_t", "compute numbers from the index"},
    {"curand_init", "compute numbers from the index, such as x = x * 1664525u + 1013904223u"}, {"curand", "compute numbers from the index"},
    {"sinf", "use __sinf(x), which is less accurate"}, {"cosf", "use __cosf(x), which is less accurate"}, {"tanf", "use __tanf(x), which is less accurate"},
    {"powf", "use __powf(x, y), which is less accurate"}, {"log10f", "use __log10f(x), which is less accurate"},
    {"sin", "use __sinf(x) of a float, which is less accurate"}, {"cos", "use __cosf(x) of a float, which is less accurate"},
    {"tan", "use __tanf(x) of a float, which is less accurate"}, {"pow", "multiply, or use __powf(x, y) of floats, which is less accurate"},
    {"tanhf", "compute it with __expf"}, {"tanh", "compute it with __expf"}, {"fmodf", "use x - y * truncf(x / y)"}, {"fmod", "use x - y * trunc(x / y)"},
    {"hypotf", "use sqrtf(x * x + y * y)"}, {"hypot", "use sqrt(x * x + y * y)"}, {"cbrtf", "use __powf(x, 1.0f / 3)"},
    {"__frsqrt_rn", "use rsqrtf(x), which is less accurate"},
    {"atan2f", HELP_NO_INTRINSIC}, {"atan2", HELP_NO_INTRINSIC}, {"atanf", HELP_NO_INTRINSIC}, {"atan", HELP_NO_INTRINSIC}, {"asinf", HELP_NO_INTRINSIC}, {"asin", HELP_NO_INTRINSIC},
    {"acosf", HELP_NO_INTRINSIC}, {"acos", HELP_NO_INTRINSIC}, {"erff", HELP_NO_INTRINSIC}, {"erf", HELP_NO_INTRINSIC}, {"log1pf", HELP_NO_INTRINSIC}, {"expm1f", HELP_NO_INTRINSIC},
    {"curand_uniform", "compute numbers from the index"}, {"curand_normal", "compute numbers from the index"},
};

static const KnownName USAGES[] = {
    {"__shfl_sync", "__shfl_sync(mask, value, lane): the mask of all lanes is 0xffffffff"},
    {"__shfl_up_sync", "__shfl_up_sync(mask, value, distance): the mask of all lanes is 0xffffffff"},
    {"__shfl_down_sync", "__shfl_down_sync(mask, value, distance): the mask of all lanes is 0xffffffff"},
    {"__shfl_xor_sync", "__shfl_xor_sync(mask, value, lanes): the mask of all lanes is 0xffffffff"},
    {"__ballot_sync", "__ballot_sync(mask, condition): the mask of all lanes is 0xffffffff"},
    {"__any_sync", "__any_sync(mask, condition): the mask of all lanes is 0xffffffff"},
    {"__all_sync", "__all_sync(mask, condition): the mask of all lanes is 0xffffffff"},
    {"atomicAdd", "atomicAdd(address, value): the address of the element, such as &sum[0]"},
    {"atomicCAS", "atomicCAS(address, compare, value)"},
    {"min", "min(a, b) takes two values"}, {"max", "max(a, b) takes two values"},
};

static const KnownName *find(const KnownName *list, size_t count, const char *name)
{
    for (size_t k = 0; k < count; k++)
        if (!strcmp(list[k].name, name))
            return &list[k];
    return NULL;
}

#define FIND(list, name) find((list), sizeof(list) / sizeof *(list), (name))

const char *known_usage(const char *name)
{
    const KnownName *known = FIND(USAGES, name);
    return known ? known->help : NULL;
}

bool is_known_host_function(const char *name)
{
    for (size_t k = 0; k < sizeof HOST_FUNCTIONS / sizeof *HOST_FUNCTIONS; k++)
        if (!strcmp(HOST_FUNCTIONS[k], name))
            return true;
    return !strncmp(name, "cuda", 4) && name[4] >= 'A' && name[4] <= 'Z';
}

const char *known_replacement(const char *name)
{
    const KnownName *known = FIND(REPLACED_NAMES, name);
    return known ? known->help : NULL;
}

const char *known_unsupported(const char *name)
{
    const KnownName *known = FIND(UNSUPPORTED, name);
    return known ? known->help : NULL;
}

bool is_known_host_type(const char *name, const char **help)
{
    const KnownName *known = FIND(HOST_TYPES, name);
    if (known)
        *help = known->help ? known->help : "use an array of the kernel's own, shared memory, or memory that the host allocates";
    return known != NULL;
}

bool is_iostream_name(const char *name)
{
    return !strcmp(name, "cout") || !strcmp(name, "cerr") || !strcmp(name, "cin") || !strcmp(name, "endl");
}

bool is_known_host_object(const char *name, const char **help)
{
    const KnownName *known = FIND(HOST_OBJECTS, name);
    if (known)
        *help = known->help;
    return known != NULL;
}
