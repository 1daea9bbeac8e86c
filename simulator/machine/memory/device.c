// device.c: the properties of the simulated GPU, an H200 except where the environment variables set others.
#include "machine/block.h"
#include "base/platform.h"

_Thread_local int sim_current_device;

static Device device;
static int device_count;
static Once device_once; // `device` is immutable once it is done

static void initialise_device(void)
{
    const size_t host = sim_host_memory_bytes(), h200 = 150110011392;
    device_count = sim_settings()->devices;
    device = (Device){
        .sm_count = sim_settings()->sms,
        .shared_per_block = 49152,
        .shared_per_block_optin = 232448,
        .shared_per_sm = 233472,
        .threads_per_sm = 2048,
        .blocks_per_sm = 32,
        .registers_per_sm = 65536,
        .l2_bytes = 0, // caches are not simulated
        .memory_bytes = host / (size_t)device_count < h200 ? host / (size_t)device_count : h200,
        .host_bytes = host,
    };
}

int sim_device_count(void)
{
    sim_once(&device_once, initialise_device);
    return device_count;
}

const Device *sim_device(void)
{
    sim_once(&device_once, initialise_device);
    return &device;
}

int sim_blocks_per_sm(const Function *kernel, int threads, size_t dynamic_shared_bytes)
{
    const Device *d = sim_device();
    const size_t shared_bytes = kernel->shared_bytes + dynamic_shared_bytes + SIM_RESERVED_SHARED;
    const size_t shared_limit = (size_t)d->shared_per_sm / ((shared_bytes + SIM_SHARED_UNIT - 1) / SIM_SHARED_UNIT * SIM_SHARED_UNIT);
    const int warps = (threads + LANES - 1) / LANES, thread_limit = d->threads_per_sm / (warps * LANES);
    const int blocks = thread_limit < d->blocks_per_sm ? thread_limit : d->blocks_per_sm;
    return shared_limit < (size_t)blocks ? (int)shared_limit : blocks;
}
