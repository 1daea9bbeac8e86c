// grid.h: kernels, copies and fills that kernels launch (dynamic parallelism). A nested launch is a launch by the host with all
// its descendant grids.
#ifndef GRID_H
#define GRID_H

#include "machine/block.h"

typedef enum GridKind { KERNEL_GRID, COPY_GRID, FILL_GRID } GridKind;

typedef struct DeviceCopy { // a copy or fill of `height` rows
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, height;
    int value;
} DeviceCopy;

typedef struct StreamPrefix { // the first `count` operations of a stream
    uint32_t stream, count;
} StreamPrefix;

typedef struct StreamDependencies { // the operations of other streams that a stream waits for; immutable
    int count;
    StreamPrefix prefixes[];
} StreamDependencies;

// A kernel, copy or fill launched on the device, allocated in its nested launch's arena. Owned by the thread of the
// host launch, which holds the lock of lock.c and runs the blocks of all its grids one by one.
struct Grid {
    struct NestedLaunch *nested_launch;
    Grid *parent;     // NULL: launched by the host
    int depth, level; // level: number of ancestors; depth: not counting tail launches
    GridKind kind;
    Launch launch; // of a kernel
    DeviceCopy copy;
    uint8_t *arguments;
    // The launching thread and instruction, and the position in the parent's streams.
    uint64_t block;
    uint32_t thread;
    const Instr *launch_instr;
    bool is_tail; // a tail launch
    uint32_t stream, stream_index; // number of the stream; index in the stream
    const StreamDependencies *dependencies; // NULL: none
    // The children and objects of this grid.
    Grid *first_child, *last_child, *first_tail, *last_tail; // children that have not started
    Grid *next;                                  // sibling
    Grid *prepared; // children whose arguments are being written
    struct DeviceStream *streams;
    struct DeviceEvent *events;
    struct ThreadError *errors, *null_error; // null_error: always NULL, the link of an error that is not in the list
    struct GridCheck *check; // the checker's state; NULL: not checked
};

#endif
