// device_call.h: internal header of the device runtime.
//
// All objects are allocated in the nested launch's arena, and used by its only host thread, which holds the runtime's lock.
#ifndef DEVICE_CALL_H
#define DEVICE_CALL_H

#include "runtime/work/device_runtime.h"

typedef struct NestedLaunch { // a launch by the host with all its descendants
    Arena arena;
    const Module *module;
    size_t stack_bytes;
    size_t pending; // number of launched grids that have not started
    uint32_t streams, handles; // numbers of those created so far
    int reported; // number of errors with a description
    struct Text { // list of strings copied to device memory
        char *text;
        struct Text *next;
    } *texts;
} NestedLaunch;

typedef struct DeviceStream { // of a grid
    uint64_t handle;
    uint64_t block; // of a default stream, because each block has its own
    uint32_t stream, count; // number of the stream in the nested launch; number of operations
    const StreamDependencies *dependencies;
    bool destroyed;
    struct DeviceStream *next;
} DeviceStream;

typedef struct DeviceEvent {
    uint64_t handle;
    const StreamDependencies *dependencies; // NULL: not recorded
    struct DeviceEvent *next;
} DeviceEvent;

typedef struct ThreadError { // a thread's last error
    uint64_t block;
    uint32_t thread;
    cudaError_t error;
    const char *what; // description for a finding; NULL if the thread has read the error, or beyond MAX_REPORTED
    const Instr *call_instr;
    struct ThreadError *next;
} ThreadError;

enum { MAX_REPORTED = 1000 }; // errors with a description in a nested launch
enum { MAX_DEPTH = 24, TAIL_STREAM = 3, FIRE_AND_FORGET_STREAM = 4, FIRST_HANDLE = 1 << 20 };

typedef struct Call { // one lane's call of a device runtime function
    Warp *w;
    const Instr *i;
    int lane;
    Grid *grid;
} Call;

// ---- device_call.c

uint64_t sim_argument(const Call *c, int index, size_t bytes);
dim3 sim_dim3_argument(const Call *c, int index);
uint32_t sim_device_thread(const Call *c);
// Stores a result through the program's pointer.
void sim_store_for_lane(const Call *c, uint64_t address, const void *value, size_t bytes);
// Sets the thread's last error, with a description for findings; returns the error.
__attribute__((format(printf, 3, 4)))
cudaError_t sim_set_device_error(const Call *c, cudaError_t error, const char *format, ...);
// The thread's last error, which no longer is a finding; `clear` resets it.
cudaError_t sim_get_device_error(const Call *c, bool clear);
void sim_report_device_errors(const Grid *g); // reports the errors that no thread has read

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
void sim_run_device_copy(Grid *g); // runs a copy or fill

#endif
