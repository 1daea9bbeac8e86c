// limits.c: cudaDeviceSetLimit.
#include "runtime/work/limits.h"

typedef struct Limit {
    bool supported;
    size_t default_value, max;
    bool is_set[SIM_MAX_DEVICES]; // by the program
    size_t value[SIM_MAX_DEVICES];
} Limit;

// Only the limits of stack, heap and pending launches have an effect.
static Limit limits[] = {
    [cudaLimitStackSize] = {.supported = true, .default_value = 1024, .max = 1 << 20},
    [cudaLimitPrintfFifoSize] = {.supported = true, .default_value = 1 << 20, .max = SIZE_MAX},
    [cudaLimitMallocHeapSize] = {.supported = true, .default_value = SIM_DEFAULT_HEAP_LIMIT, .max = SIZE_MAX},
    [cudaLimitDevRuntimePendingLaunchCount] = {.supported = true, .default_value = 2048, .max = SIZE_MAX},
    [cudaLimitMaxL2FetchGranularity] = {.supported = true, .default_value = 64, .max = 128},
    [cudaLimitPersistingL2CacheSize] = {.supported = true, .default_value = 0, .max = SIZE_MAX},
};
enum { LIMITS = sizeof limits / sizeof *limits };

bool sim_is_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS && limits[limit].supported;
}

size_t sim_limit(enum cudaLimit limit)
{
    const Limit *l = &limits[limit];
    return l->is_set[sim_current_device] ? l->value[sim_current_device] : l->default_value;
}

cudaError_t sim_set_limit(enum cudaLimit limit, size_t value)
{
    if (value > limits[limit].max || (limit == cudaLimitMallocHeapSize && !sim_set_heap_limit(value)))
        return cudaErrorInvalidValue;
    limits[limit].is_set[sim_current_device] = true;
    limits[limit].value[sim_current_device] = value;
    return cudaSuccess;
}

void sim_reset_limits(void)
{
    for (size_t k = 0; k < LIMITS; k++)
        limits[k].is_set[sim_current_device] = false;
    sim_set_heap_limit(SIM_DEFAULT_HEAP_LIMIT);
}
