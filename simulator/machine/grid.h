// grid.h: the kernels, copies and fills that kernels launch (dynamic parallelism). A launch tree is all that one host launch
// starts.
#ifndef GRID_H
#define GRID_H

#include "machine/block.h"

typedef struct LaunchTreeUses LaunchTreeUses;

typedef enum GridKind { KERNEL_GRID, COPY_GRID, FILL_GRID } GridKind;

typedef struct DeviceCopy { // or a fill; of rows
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, height;
    int value;
} DeviceCopy;

typedef struct Reached { // the first `count` operations of a stream
    uint32_t stream, count;
} Reached;

typedef struct Waits { // what a stream waits for besides its own operations; immutable
    int count;
    Reached of[];
} Waits;

// A kernel, copy or fill launched on the device, allocated in its launch tree's arena. Only the thread of the launch tree's host
// launch uses it: it runs the launch tree's blocks one by one, holding the lock of lock.c.
struct Grid {
    struct LaunchTree *tree;
    Grid *parent;     // NULL: launched by the host
    int depth, level; // ancestors; level: all of them, depth: without tail launches
    GridKind kind;
    Launch launch; // of a kernel
    DeviceCopy copy;
    uint8_t *arguments;
    // The launching thread, and the position among the operations of its grid's streams.
    uint64_t block;
    uint32_t thread;
    const Instr *from;
    bool tail;
    uint32_t stream, number; // index in the stream
    const Waits *waits;
    // What this grid has launched and created.
    Grid *first, *last, *first_tail, *last_tail; // not yet started
    Grid *next;
    Grid *prepared; // its arguments are being written
    struct DeviceStream *streams;
    struct DeviceEvent *events;
    struct ThreadError *errors, *no_error; // no_error is NULL
    // For checker/dynamic_parallelism.c
    LaunchTreeUses *tree_uses;                     // NULL: not checked
    const struct ClockSnapshot *launch_snapshot; // the launching thread's clock
    struct LaunchClocks *clocks;                 // memory of `launch_snapshot`s of the children; kept until they have ended
    struct AcquiredGrid *acquired_grids;
    bool fences; // the grid has executed a fence
};

#endif
