// limits.c: cudaDeviceSetLimit.
#include "runtime/work/limits.h"

typedef struct Limit {
    bool known;
    size_t usual, largest;
    bool set[SIM_MAX_DEVICES]; // by the program; the lock guards this
    size_t value[SIM_MAX_DEVICES];
} Limit;

// Only the limits of stack and heap have an effect.
static Limit limits[] = {
    [cudaLimitStackSize] = {.known = true, .usual = 1024, .largest = 1 << 20},
    [cudaLimitPrintfFifoSize] = {.known = true, .usual = 1 << 20, .largest = SIZE_MAX},
    [cudaLimitMallocHeapSize] = {.known = true, .usual = SIM_DEFAULT_HEAP_LIMIT, .largest = SIZE_MAX},
    [cudaLimitDevRuntimePendingLaunchCount] = {.known = true, .usual = 2048, .largest = SIZE_MAX},
    [cudaLimitMaxL2FetchGranularity] = {.known = true, .usual = 64, .largest = 128},
    [cudaLimitPersistingL2CacheSize] = {.known = true, .usual = 0, .largest = SIZE_MAX},
};
enum { LIMITS = sizeof limits / sizeof *limits };

bool sim_is_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS && limits[limit].known;
}

size_t sim_limit(enum cudaLimit limit)
{
    const Limit *l = &limits[limit];
    return l->set[sim_current_device] ? l->value[sim_current_device] : l->usual;
}

cudaError_t sim_set_limit(enum cudaLimit limit, size_t value)
{
    if (value > limits[limit].largest || (limit == cudaLimitMallocHeapSize && !sim_set_heap_limit(value)))
        return cudaErrorInvalidValue;
    limits[limit].set[sim_current_device] = true;
    limits[limit].value[sim_current_device] = value;
    return cudaSuccess;
}

void sim_reset_limits(void)
{
    for (size_t k = 0; k < LIMITS; k++)
        limits[k].set[sim_current_device] = false;
    sim_set_heap_limit(SIM_DEFAULT_HEAP_LIMIT);
}
