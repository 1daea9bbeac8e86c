// device_call.h: what the files share that hold the functions of the device's runtime.
//
// All that a family has is its arena's, and ends with it. Its one host thread holds the runtime's lock.
#ifndef DEVICE_CALL_H
#define DEVICE_CALL_H

#include "runtime/work/device_runtime.h"

typedef struct LaunchTree {
    Arena arena;
    const Module *module;
    size_t stack_bytes;
    size_t pending; // grids that have not begun
    uint32_t streams, handles;
    int reported; // errors with their text
    struct Text { // that the program knows as a string on the device
        char *text;
        struct Text *next;
    } *texts;
} LaunchTree;

typedef struct DeviceStream { // of a grid
    uint64_t handle;
    uint64_t block; // of the default stream, which each block has for itself
    uint32_t stream, count; // its number in the family; operations
    const Waits *waits;
    bool ended;
    struct DeviceStream *next;
} DeviceStream;

typedef struct DeviceEvent {
    uint64_t handle;
    const Waits *waits; // NULL: not recorded as yet
    struct DeviceEvent *next;
} DeviceEvent;

typedef struct ThreadError { // a thread's last error, which it has not asked for
    uint64_t block;
    uint32_t thread;
    cudaError_t error;
    const char *what; // NULL: it has asked, or enough has been said
    const Instr *from;
    struct ThreadError *next;
} ThreadError;

enum { MAX_REPORTED = 1000 }; // so many errors of a family have a text
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
// Writes where the program's pointer says, a piece at a time.
void sim_store_for_lane(const Call *c, uint64_t address, const void *value, size_t bytes);
// The thread's last error is this one from now on, with what happened; returns it.
__attribute__((format(printf, 3, 4)))
cudaError_t sim_set_device_error(const Call *c, cudaError_t error, const char *format, ...);
void sim_report_device_errors(const Grid *g); // that no thread of the grid has asked for

// ---- device_streams.c

DeviceStream *sim_device_stream(const Call *c, uint64_t handle); // NULL: there is none of this handle
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
