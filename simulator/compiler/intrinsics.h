// intrinsics.h: CUDA's built-in functions and variables. A table (intrinsics.c) has for each its signature, its PTX, its effects, and
// where it is documented. A new intrinsic is a new row.
#ifndef INTRINSICS_H
#define INTRINSICS_H

#include "compiler/ir.h"

enum { // Intrinsic.effects
    INTRINSIC_PURE = 1,        // the result depends only on the operands: may be moved, merged and removed
    INTRINSIC_READS = 2,       // reads memory
    INTRINSIC_WRITES = 4,      // writes memory
    INTRINSIC_ORDERS = 8,      // memory accesses are not moved across it: barriers, fences
    INTRINSIC_CONVERGENT = 16, // depends on which lanes execute it together (LLVM's `convergent`): its control dependences must not change
    INTRINSIC_NO_RETURN = 32,
    INTRINSIC_UNIQUE = 64      // two executions may have different results: clocks, %activemask
};

// One row. The template `ptx` is a line of PTX, or several with newlines between them:
//
//   $0        the result register; $0a, $0b, ... for several results (IR_ELEMENT)
//   $$        a dollar sign
//   $1 ... $9 an operand: a register, or an immediate if it is a constant
//   %1 ... %9 an operand, always as a register
//   @1 ... @9 an address operand: [register + bytes]; bytes is IrInstruction.integer for the first one
//   $s        ".global", ".shared", ... of IrInstruction.space; nothing if it is generic
//   $m, $b    the type in memory: s32, u64, f32, ...; as untyped bits: b32, b64
//   $x        IrInstruction.text, such as ".acq_rel.gpu"
//   $t1 ...   a scratch register of 32 bits, $T1 of 64 bits, $p1 a predicate, each declared by the writer
typedef struct Intrinsic {
    const char *name;      // "__shfl_down_sync", "cuda::ptx::mbarrier_arrive", "cooperative_groups::sync"
    const char *signature; // result, then parameters: intrinsics.c explains the letters; overloads are rows of one name
    const char *ptx;       // NULL: lower.c has a function for it
    uint16_t effects;
    uint16_t since;        // the minimum architecture, such as 90; 0: any
    const char *source;    // "CUDA C++ Programming Guide 10.22", "PTX ISA 9.7.9.6"
} Intrinsic;

// The first row with this name, followed by its overloads; or NULL.
const Intrinsic *intrinsic_named(const char *name, size_t length);
// An intrinsic whose name is close to an unknown name, for "did you mean"; or NULL.
const char *intrinsic_suggestion(const char *name, size_t length);

#endif
