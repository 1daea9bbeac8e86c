// grid.h: launches, copies and fills that kernels start, as a family of them knows itself and its checker.
#ifndef GRID_H
#define GRID_H

#include "machine/block.h"

typedef struct FamilyUses FamilyUses;

typedef enum GridKind { KERNEL_GRID, COPY_GRID, FILL_GRID } GridKind;

typedef struct DeviceCopy { // or a fill: of rows
    uint64_t to, from;
    size_t to_pitch, from_pitch, width, height;
    int value;
} DeviceCopy;

typedef struct Reached { // of a stream: so many operations, the first ones
    uint32_t stream, count;
} Reached;

typedef struct Waits { // what a stream waits for, beside what it was given itself; never changes once it is made
    int count;
    Reached of[];
} Waits;

// A launch of a kernel, a copy or a fill, on the device. It lies in its family's arena, and ends with it. Blocks of a kernel
// that launches run on the thread that launched the family, one by one, under the lock of lock.c: so that alone touches it.
struct Grid {
    struct Family *family;
    Grid *parent; // NULL: the host launched it
    int depth, level; // level: of launches above it, of all; depth: but those in a tail
    GridKind kind;
    Launch launch; // of a kernel: which one, and its grid and block
    DeviceCopy copy;
    uint8_t *arguments;
    // What launched it, and its place among the operations of its parent's streams.
    uint64_t block;
    uint32_t thread;
    const Instr *from;
    bool tail;
    uint32_t stream, number; // number: in the stream, from 0 on
    const Waits *waits;
    // What it has launched itself, and made.
    Grid *first, *last, *first_tail, *last_tail; // that have not begun
    Grid *next;
    Grid *prepared; // whose arguments are being written
    struct DeviceStream *streams;
    struct DeviceEvent *events;
    struct ThreadError *errors, *no_error; // the second: NULL
    // For the checker: checker/dynamic_parallelism.c.
    FamilyUses *family_uses;   // NULL: nothing is checked
    const struct ClockSnapshot *knower; // what the thread that launched it knew then
    struct LaunchClocks *clocks;  // where this lies, of the grid's children; kept until they have ended
    struct Heard *heard;
    bool fences;                 // it has executed a fence
};

#endif
