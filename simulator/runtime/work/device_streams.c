// device_streams.c: streams and events created in kernels. They are visible only in their grid, and order its launches.
#include "runtime/work/device_call.h"

#include <string.h>

static DeviceStream *new_stream(Grid *g, uint64_t handle, uint64_t block)
{
    DeviceStream *s = sim_allocate(&g->nested_launch->arena, sizeof *s);
    *s = (DeviceStream){.handle = handle, .block = block, .stream = g->nested_launch->streams++, .next = g->streams};
    return g->streams = s;
}

DeviceStream *sim_device_stream(const Call *c, uint64_t handle)
{
    const uint64_t block = handle < FIRST_HANDLE && handle != TAIL_STREAM ? c->w->block->number : 0;
    const uint64_t key = handle == 1 || handle == 2 ? 0 : handle; // cudaStreamLegacy and cudaStreamPerThread are the default stream
    if (handle == FIRE_AND_FORGET_STREAM)
        return new_stream(c->grid, handle, block);
    for (DeviceStream *s = c->grid->streams; s; s = s->next)
        if (s->handle == key && s->block == block && !s->destroyed)
            return s;
    return handle < FIRST_HANDLE && handle <= TAIL_STREAM ? new_stream(c->grid, key, block) : NULL;
}

static const StreamDependencies *join_dependencies(Grid *g, const StreamDependencies *one, const StreamDependencies *two, const DeviceStream *recorded)
{
    const int one_count = one ? one->count : 0, two_count = two ? two->count : 0;
    StreamDependencies *joined = sim_allocate(&g->nested_launch->arena, sizeof *joined + (size_t)(one_count + two_count + 1) * sizeof *joined->prefixes);
    if (one_count)
        memcpy(joined->prefixes, one->prefixes, (size_t)one_count * sizeof *joined->prefixes);
    if (two_count)
        memcpy(joined->prefixes + one_count, two->prefixes, (size_t)two_count * sizeof *joined->prefixes);
    joined->count = one_count + two_count;
    if (recorded)
        joined->prefixes[joined->count++] = (StreamPrefix){recorded->stream, recorded->count};
    return joined;
}

cudaError_t sim_device_create_stream(const Call *c)
{
    if (sim_argument(c, 1, 4) != cudaStreamNonBlocking)
        return sim_set_device_error(
            c, cudaErrorInvalidValue,
            "cudaStreamCreateWithFlags needs cudaStreamNonBlocking on the device");
    const uint64_t handle = FIRST_HANDLE + c->grid->nested_launch->handles++;
    new_stream(c->grid, handle, 0);
    sim_store_for_lane(c, sim_argument(c, 0, 8), &handle, sizeof handle);
    return cudaSuccess;
}

cudaError_t sim_device_destroy_stream(const Call *c)
{
    const uint64_t handle = sim_argument(c, 0, 8);
    DeviceStream *s = handle < FIRST_HANDLE ? NULL : sim_device_stream(c, handle);
    if (!s)
        return sim_set_device_error(c, cudaErrorInvalidResourceHandle, "cudaStreamDestroy: no stream of this grid");
    s->destroyed = true; // its pending work still runs
    return cudaSuccess;
}

static DeviceEvent **event_of(const Call *c, uint64_t handle)
{
    DeviceEvent **link = &c->grid->events;
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

cudaError_t sim_device_create_event(const Call *c)
{
    if (!(sim_argument(c, 1, 4) & cudaEventDisableTiming))
        return sim_set_device_error(
            c, cudaErrorInvalidValue,
            "cudaEventCreateWithFlags needs cudaEventDisableTiming on the device");
    DeviceEvent *e = sim_allocate(&c->grid->nested_launch->arena, sizeof *e);
    *e = (DeviceEvent){.handle = FIRST_HANDLE + c->grid->nested_launch->handles++, .next = c->grid->events};
    c->grid->events = e;
    sim_store_for_lane(c, sim_argument(c, 0, 8), &e->handle, sizeof e->handle);
    return cudaSuccess;
}

cudaError_t sim_device_destroy_event(const Call *c)
{
    DeviceEvent **link = event_of(c, sim_argument(c, 0, 8));
    if (!*link)
        return sim_set_device_error(c, cudaErrorInvalidResourceHandle, "cudaEventDestroy: no event of this grid");
    *link = (*link)->next;
    return cudaSuccess;
}

cudaError_t sim_device_record_event(const Call *c)
{
    DeviceEvent *e = *event_of(c, sim_argument(c, 0, 8));
    const uint64_t handle = sim_argument(c, 1, 8);
    const DeviceStream *s = handle == TAIL_STREAM || handle == FIRE_AND_FORGET_STREAM ? NULL : sim_device_stream(c, handle);
    if (!e || !s)
        return sim_set_device_error(c, cudaErrorInvalidResourceHandle,
                                "cudaEventRecord: no event or no stream of this grid");
    e->dependencies = join_dependencies(c->grid, s->dependencies, NULL, s);
    return cudaSuccess;
}

cudaError_t sim_device_await_event(const Call *c)
{
    const uint64_t handle = sim_argument(c, 0, 8);
    DeviceStream *s = handle == TAIL_STREAM || handle == FIRE_AND_FORGET_STREAM ? NULL : sim_device_stream(c, handle);
    const DeviceEvent *e = *event_of(c, sim_argument(c, 1, 8));
    if (!e || !s)
        return sim_set_device_error(c, cudaErrorInvalidResourceHandle,
                                "cudaStreamWaitEvent: no event or no stream of this grid");
    if (e->dependencies)
        s->dependencies = join_dependencies(c->grid, s->dependencies, e->dependencies, NULL);
    return cudaSuccess;
}
