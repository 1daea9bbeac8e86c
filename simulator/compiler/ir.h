// ir.h: kernels in static single assignment (SSA) form, between the front end and the PTX writer.
//
// A function is a list of basic blocks; a block is a list of instructions whose last one is a terminator; an instruction is
// the value that it computes. Everything is allocated in the arena of the compilation, and freed with it. One host
// thread compiles; nothing here is locked.
//
// The front end (lower.c) writes plain code: each variable is an IR_ALLOCA with loads and stores, each call an IR_CALL, no
// phis. The passes (passes.h) turn that into what nvcc -O3 would write. Both kinds of code are correct PTX.
#ifndef IR_H
#define IR_H

#include "compiler/compiler.h"

typedef enum IrType { IR_VOID, IR_PRED, IR_B8, IR_B16, IR_B32, IR_B64, IR_F16, IR_BF16, IR_F32, IR_F64, IR_TYPES } IrType;

// Address spaces. A pointer is an IR_B64, but an IR_B32 in IR_SHARED (as nvcc's are). The front
// end makes IR_GENERIC pointers of everything but symbols and allocas, converts those with IR_TO_GENERIC, and leaves it to
// the pass spaces.c to find out where a generic pointer points.
typedef enum IrSpace { IR_GENERIC, IR_GLOBAL, IR_SHARED, IR_LOCAL, IR_CONSTANT, IR_PARAMETER } IrSpace;

typedef enum IrOp {
    // Values that no instruction computes
    IR_INTEGER,   // .integer, of type PRED to B64, sign-extended from its width
    IR_REAL,      // .real, of type F16 to F64, rounded to it. Constants and IR_UNDEFINED are in no block.
    IR_UNDEFINED,
    IR_ARGUMENT,  // .index: of the function; a struct by value is a pointer into IR_PARAMETER
    IR_SPECIAL,   // .special: a register such as %tid.x, always B32 or B64 and not negative
    IR_SYMBOL,    // .symbol: address of a variable in global, shared or constant memory
    IR_ALLOCA,    // address of .memory_bytes of the thread's local memory, aligned to .alignment; in the entry block only
    // Arithmetic: operands and result have the type of the instruction
    IR_ADD, IR_SUB, IR_MUL, IR_MUL_HIGH, IR_DIV, IR_REM, IR_AND, IR_OR, IR_XOR,
    IR_SHL, IR_SHR, // the second operand is B32; a count of the width or more is undefined (C), PTX clamps it
    IR_MIN, IR_MAX, IR_NEG, IR_NOT, IR_ABS,
    IR_FMA,       // a * b + c: of floats fused; of integers modulo 2^width
    IR_MUL_WIDE,  // B32 x B32 -> B64
    // IR_COMPARE: .compare of two operands of equal type -> PRED; of floats ordered but for NOT_EQUAL
    IR_COMPARE,
    IR_SELECT,    // PRED ? b : c
    IR_CONVERT,   // between numbers, see IrConversion; to and from B8 and B16 also truncates or extends
    IR_BITCAST,   // same width, other type
    IR_PHI,       // one operand for each predecessor of the block, in the order of its list
    // Pointers
    IR_OFFSET,    // a + b * .scale + .integer: pointer a (its space), index b (B32 or B64, or none), .scale bytes; NO_WRAP: the
                  // index arithmetic does not overflow, so b may be widened early
    IR_TO_GENERIC, IR_FROM_GENERIC, // .space is the specific one
    // Memory: operand 0 is the address, plus .integer bytes
    IR_LOAD,      // .memory is the type in memory (B8 to F64), extended as SIGNED says to the result's
    IR_STORE,     // operand 1 is stored as .memory
    IR_LOAD_VECTOR,  // .count elements of .memory, aligned to all of it; its results are IR_ELEMENTs
    IR_STORE_VECTOR, // operands 1 to .count
    IR_ELEMENT,   // element .index of an IR_LOAD_VECTOR or of an IR_INTRINSIC with several results
    IR_COPY,      // operand 1's .memory_bytes to operand 0, which do not overlap: a struct
    // Everything that has its own row in the table of intrinsics: atomics, barriers, shuffles, votes, fences, cp.async, math
    IR_INTRINSIC, // .intrinsic
    IR_CALL,      // .callee: a device function; inlined by inline.c
    // Terminators
    IR_JUMP,      // to .target[0]
    IR_BRANCH,    // on PRED: to .target[0] if true, else .target[1]
    IR_RETURN,    // with at most one operand; a struct is returned through a pointer argument
    IR_UNREACHABLE, // after a trap or a call that does not return
    IR_OPS
} IrOp;

typedef enum IrCompare { IR_EQUAL, IR_NOT_EQUAL, IR_LESS, IR_LESS_EQUAL, IR_GREATER, IR_GREATER_EQUAL } IrCompare;

enum { // IrInstruction.flags
    IR_SIGNED = 1,    // of DIV, REM, SHR, MIN, MAX, MUL_HIGH, MUL_WIDE, COMPARE, CONVERT, LOAD: operands are signed
    IR_NO_WRAP = 2,   // signed overflow is undefined (C), so the result may be assumed not to wrap
    IR_VOLATILE = 4,  // of a memory access: kept exactly as it is, in order with other volatile ones
    IR_READ_ONLY = 8, // of a load: nothing writes there while the kernel runs (ld.global.nc)
    IR_EXACT = 16,    // of a float operation: never contracted to an fma (__fadd_rn, __fmul_rn)
    IR_APPROXIMATE = 32, // of a float operation: the fast one (__fdividef, -use_fast_math)
    IR_UNORDERED = 64 // of a COMPARE of floats: true if one of them is not a number
};

typedef struct IrBlock IrBlock;
typedef struct IrFunction IrFunction;
typedef struct IrInstruction IrInstruction;

typedef struct IrUse { // an operand, in the list of the uses of its value
    IrInstruction *user;
    uint32_t operand; // index
    struct IrUse *previous, *next;
} IrUse;

typedef struct IrSymbol { // a variable in global, constant or shared memory; immutable once the front end has made it
    const char *name;  // mangled as nvcc does
    IrSpace space;
    size_t bytes, alignment;
    IrType element;    // of a scalar or an array of scalars; IR_B8 for structs
    bool dynamic;      // extern __shared__: bytes is 0
    bool external;     // visible to the host (__device__, __constant__, __managed__); else .shared of its function
    const unsigned char *initial; // `bytes` of them, or NULL
} IrSymbol;

struct IrInstruction {
    uint8_t op, type;    // IrOp, IrType of the result
    uint8_t space;       // IrSpace of a pointer result, or of the address of a memory access
    uint8_t memory;      // IrType in memory
    uint8_t compare;     // IrCompare
    uint8_t count;       // of vector elements
    uint16_t flags;
    uint32_t id;         // unique in its function; passes index tables by it
    uint32_t line, file; // of the source, for .loc; 0: none
    uint32_t operand_count;
    IrInstruction **operands; // changed only by ir_set_operand and its kin, which keep the lists of uses
    IrUse *operand_uses;      // parallel to operands
    IrUse *uses;              // of this value, the latest first
    union {
        int64_t integer; // IR_INTEGER; constant bytes of an address
        double real;
    };
    uint32_t scale;      // IR_OFFSET
    uint32_t index;      // IR_ARGUMENT, IR_ELEMENT; 1 of an IR_BRANCH: its second way should follow it in the text
    uint32_t memory_bytes, alignment; // of an alloca or a copy; of a memory access: what its address is known to be aligned to
    union {
        const char *special;              // "%tid.x"
        const IrSymbol *symbol;
        const struct Intrinsic *intrinsic; // intrinsics.h
        IrFunction *callee;
        IrBlock *target[2];
    };
    const char *text;    // IR_INTRINSIC: what completes the row's PTX, such as the scope and order of an atomic, or a format string
    uint32_t mark;       // for the pass that runs; 0 between passes
    IrBlock *block;      // that holds it
    IrInstruction *previous, *next; // in the block
};

struct IrBlock {
    uint32_t id;
    IrInstruction *first, *last;
    IrBlock **predecessors; // kept up to date by ir.c's functions for terminators; one entry for each edge
    uint32_t predecessor_count;
    uint32_t unroll;        // of a loop's header: #pragma unroll N; 0: the compiler decides, 1: not at all, UINT32_MAX: fully
    IrFunction *function;
    IrBlock *previous, *next; // in the order in which the source has them
};

typedef struct IrArgument {
    IrType type;         // of a struct by value: IR_VOID
    size_t bytes, alignment;
    bool is_pointer, restrict_pointer, points_to_const;
} IrArgument;

struct IrFunction {
    const char *name;    // mangled as nvcc does
    const char *readable; // for messages
    bool kernel;
    bool no_inline;      // __noinline__: a hint; inline.c may inline it all the same
    int max_threads, min_blocks, max_blocks_per_cluster; // __launch_bounds__; 0: none
    int cluster[3];      // __cluster_dims__; 0: none
    IrType result;
    IrArgument *arguments;
    uint32_t argument_count;
    IrBlock *first, *last; // first: the entry block
    uint32_t next_instruction, next_block; // ids
    uint32_t line, file; // of its definition
    uint32_t mark;       // for the pass that runs
    IrInstruction **constants; // hash table of the constants and undefined values
    uint32_t constant_count, constant_capacity;
    IrFunction *next;
};

typedef struct IrModule {
    IrFunction *functions; // kernels and device functions, in the order of the source
    IrSymbol **symbols;
    uint32_t symbol_count;
    const char **files;    // for .file; index 0 is the source itself and has number 1 in PTX
    uint32_t file_count;
    Arena *arena;          // the compilation's
    Arena scratch;         // of the pass that runs; freed after it
    uint64_t max_instructions; // that passes may make, set by ir_optimise
    uint32_t line, file;   // that ir.c gives to each new instruction: the front end and the passes set it
} IrModule;

typedef struct IrProblem { // why a module cannot be compiled
    const char *message;   // NULL: there is none
    uint32_t line, file;
} IrProblem;

// ---- ir.c: building

IrFunction *ir_new_function(IrModule *module, const char *name, IrType result);
IrBlock *ir_new_block(IrModule *module, IrFunction *function); // after the last one
// An instruction at the end of a block, with `count` operands, or before another one.
IrInstruction *ir_append(IrModule *module, IrBlock *block, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands);
IrInstruction *ir_insert_before(IrModule *module, IrInstruction *place, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands);
IrInstruction *ir_integer(IrModule *module, IrFunction *function, IrType type, int64_t value);
IrInstruction *ir_real(IrModule *module, IrFunction *function, IrType type, double value);
IrInstruction *ir_undefined(IrModule *module, IrFunction *function, IrType type);
// A phi's operands are appended in the order of the block's predecessors.
void ir_add_operand(IrModule *module, IrInstruction *instruction, IrInstruction *value);
// Terminators; they keep the predecessors' lists.
void ir_jump(IrModule *module, IrBlock *from, IrBlock *to);
void ir_branch(IrModule *module, IrBlock *from, IrInstruction *condition, IrBlock *if_true, IrBlock *if_false);
void ir_return(IrModule *module, IrBlock *from, IrInstruction *value);
void ir_unreachable(IrModule *module, IrBlock *from);
// Whether the block has its terminator, so that code after it cannot run.
bool ir_is_terminated(const IrBlock *block);

// ---- ir_print.c, ir_verify.c

void ir_print(FILE *out, const IrModule *module); // for tests and for people: one line an instruction
// NULL, or what is wrong with a function: an operand that does not dominate its use, a wrong type, a block without an end.
const char *ir_verify(IrModule *module, const IrFunction *function);

// ---- passes.c, write.c

// Turns the module's kernels into what nvcc -O3 would write, within options->max_instructions. options->skip names passes to
// leave out, separated by commas, or is NULL. Device functions are inlined, whatever is skipped, or are a problem (recursion).
IrProblem ir_optimise(IrModule *module, const CompileOptions *options);
// The module's kernels and variables as PTX. Functions that are not kernels have been inlined.
void ir_write_ptx(FILE *out, const IrModule *module, const CompileOptions *options);

#endif
