// intrinsics.h: the functions and variables that CUDA has built in. One table (intrinsics.c) says of each how the source
// calls it, what PTX it becomes, what a pass may assume, and where that is documented. A new one is one row.
#ifndef INTRINSICS_H
#define INTRINSICS_H

#include "compiler/ir.h"

enum { // Intrinsic.effects: what a pass has to know
    INTRINSIC_PURE = 1,        // depends on its operands only: may be moved, merged and dropped
    INTRINSIC_READS = 2,       // memory
    INTRINSIC_WRITES = 4,      // memory
    INTRINSIC_ORDERS = 8,      // memory accesses before it stay before it, those after it after it: barriers, fences
    INTRINSIC_CONVERGENT = 16, // depends on which lanes execute it together: must not become control-dependent on more or fewer branches
    INTRINSIC_NO_RETURN = 32,
    INTRINSIC_UNIQUE = 64      // two executions may differ: a clock, %activemask
};

// One row. The template `ptx` is a line of PTX, or several with newlines between them:
//
//   $0        the result, as a register; $0a, $0b, ... of several results (IR_ELEMENT)
//   $$        a dollar
//   $1 ... $9 an operand: a register, or an immediate if it is a constant
//   %1 ... %9 an operand, always as a register
//   @1 ... @9 an address operand: [register + bytes]; bytes is IrInstruction.integer for the first one
//   $s        ".global", ".shared", ... of IrInstruction.space; nothing if it is generic
//   $m, $b    the type in memory: s32, u64, f32, ...; the same as bits: b32, b64
//   $x        IrInstruction.text, such as ".acq_rel.gpu"
//   $t1 ...   a scratch register of 32 bits, $T1 of 64 bits, $p1 a predicate, each declared by the writer
typedef struct Intrinsic {
    const char *name;      // "__shfl_down_sync", "cuda::ptx::mbarrier_arrive", "cooperative_groups::sync"
    const char *signature; // result, then parameters: intrinsics.c explains the letters; overloads are rows of one name
    const char *ptx;       // NULL: lower.c has a function for it
    uint16_t effects;
    uint16_t since;        // the least architecture, such as 90; 0: any that is supported
    const char *source;    // "CUDA C++ Programming Guide 10.22", "PTX ISA 9.7.9.6"
} Intrinsic;

// The first row of that name, or NULL; its overloads follow it.
const Intrinsic *intrinsic_named(const char *name, size_t length);
// A name that is close to one that is not known, for the help of a message; or NULL.
const char *intrinsic_like(const char *name, size_t length);

#endif
