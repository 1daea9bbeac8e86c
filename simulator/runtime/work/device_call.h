// device_call.h: internal header of the device runtime.
//
// Everything is allocated in the launch tree's arena. Its single host thread holds the runtime's lock.
#ifndef DEVICE_CALL_H
#define DEVICE_CALL_H

#include "runtime/work/device_runtime.h"

typedef struct LaunchTree { // a launch by the host with all its descendants
    Arena arena;
    const Module *module;
    size_t stack_bytes;
    size_t pending; // launched grids that have not started
    uint32_t streams, handles; // numbers given so far
    int reported; // errors whose text was kept
    struct Text { // strings copied to device memory
        char *text;
        struct Text *next;
    } *texts;
} LaunchTree;

typedef struct DeviceStream { // of a grid
    uint64_t handle;
    uint64_t block; // of a default stream: its block, since each block has its own
    uint32_t stream, count; // its number in the tree; number of its operations
    const StreamDependencies *waits;
    bool ended;
    struct DeviceStream *next;
} DeviceStream;

typedef struct DeviceEvent {
    uint64_t handle;
    const StreamDependencies *waits; // NULL: not recorded
    struct DeviceEvent *next;
} DeviceEvent;

typedef struct ThreadError { // a thread's last error
    uint64_t block;
    uint32_t thread;
    cudaError_t error;
    const char *what; // text for a report; NULL: the thread has read the error, or MAX_REPORTED is reached
    const Instr *from;
    struct ThreadError *next;
} ThreadError;

enum { MAX_REPORTED = 1000 }; // errors of a launch tree with a text
enum { MAX_DEPTH = 24, TAIL_STREAM = 3, FIRE_AND_FORGET_STREAM = 4, FIRST_HANDLE = 1 << 20 };

typedef struct Call {
    Warp *w;
    const Instr *i;
    int lane;
    Grid *grid;
} Call;

// ---- device_runtime.c

uint64_t sim_argument(const Call *c, int index, size_t bytes);
dim3 sim_size_argument(const Call *c, int index);
uint32_t sim_device_thread(const Call *c);
// Stores a result through the program's pointer.
void sim_store_for_lane(const Call *c, uint64_t address, const void *value, size_t bytes);
// Sets the thread's last error, with a text; returns it.
__attribute__((format(printf, 3, 4)))
cudaError_t sim_set_device_error(const Call *c, cudaError_t error, const char *format, ...);
void sim_report_device_errors(const Grid *g); // those that no thread of the grid has read

// ---- device_streams.c

DeviceStream *sim_device_stream(const Call *c, uint64_t handle); // NULL: invalid handle
cudaError_t sim_device_create_stream(const Call *c);
cudaError_t sim_device_destroy_stream(const Call *c);
cudaError_t sim_device_create_event(const Call *c);
cudaError_t sim_device_destroy_event(const Call *c);
cudaError_t sim_device_record_event(const Call *c);
cudaError_t sim_device_await_event(const Call *c);

// ---- device_launches.c

uint64_t sim_device_parameter_buffer(const Call *c);
cudaError_t sim_device_launch(const Call *c);
cudaError_t sim_device_copy(const Call *c);
cudaError_t sim_device_copy_rows(const Call *c);
cudaError_t sim_device_fill(const Call *c);
cudaError_t sim_device_fill_rows(const Call *c);
void sim_run_device_copy(Grid *g); // or fill

#endif
