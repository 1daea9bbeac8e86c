// ir.h: kernels in static single assignment (SSA) form, between the front end and the PTX writer.
//
// A function is a list of basic blocks; a block is a list of instructions whose last one is a terminator; an instruction is
// the value that it computes. Everything is allocated in the arena of the compilation, and freed with it. One host
// thread compiles; nothing here is locked.
//
// The front end (lower.c) writes unoptimised code: each variable is an IR_ALLOCA with loads and stores, each call an IR_CALL, and there
// are no phis. The passes (passes.h) optimise it, as nvcc -O3 does. PTX can be written from both.
#ifndef IR_H
#define IR_H

#include "compiler/compiler.h"

typedef enum IrType { IR_VOID, IR_PRED, IR_B8, IR_B16, IR_B32, IR_B64, IR_F16, IR_BF16, IR_F32, IR_F64, IR_TYPES } IrType;

// Address spaces. A pointer is an IR_B64; in IR_SHARED it is an IR_B32, as in nvcc's PTX. In the front end's code all pointers except
// those to symbols and allocas are IR_GENERIC, with conversions by IR_TO_GENERIC; the pass spaces.c infers specific spaces.
typedef enum IrSpace { IR_GENERIC, IR_GLOBAL, IR_SHARED, IR_LOCAL, IR_CONSTANT, IR_PARAMETER } IrSpace;

typedef enum IrOp {
    // Values that no instruction computes
    IR_INTEGER,   // constant .integer, of type PRED to B64, sign-extended from its width
    IR_REAL,      // constant .real, of type F16 to F64, rounded to that type. Constants and IR_UNDEFINED are in no block.
    IR_UNDEFINED,
    IR_ARGUMENT,  // argument .index of the function; a struct by value is a pointer into IR_PARAMETER
    IR_SPECIAL,   // the special register .special, such as %tid.x: B32 or B64, never negative
    IR_SYMBOL,    // address of variable .symbol in global, shared or constant memory
    IR_ALLOCA,    // address of .memory_bytes of the thread's local memory, aligned to .alignment; in the entry block only
    // Arithmetic: operands and result have the type of the instruction
    IR_ADD, IR_SUB, IR_MUL, IR_MUL_HIGH, IR_DIV, IR_REM, IR_AND, IR_OR, IR_XOR,
    IR_SHL, IR_SHR, // the second operand is B32; a count of the width or more is undefined (C), PTX clamps it
    IR_MIN, IR_MAX, IR_NEG, IR_NOT, IR_ABS,
    IR_FMA,       // a * b + c: of floats fused; of integers modulo 2^width
    IR_MUL_WIDE,  // B32 x B32 -> B64
    // .compare of two operands of equal type -> PRED; comparisons of floats are ordered, except for NOT_EQUAL
    IR_COMPARE,
    IR_SELECT,    // PRED ? b : c
    IR_CONVERT,   // between number types; between integer widths it truncates or extends
    IR_BITCAST,   // to a type of equal width
    IR_PHI,       // one operand for each predecessor of the block, in the order of its list
    // Pointers
    IR_OFFSET,    // a + b * .scale + .integer: pointer a, optional index b (B32 or B64), in bytes; NO_WRAP: the
                  // index arithmetic does not overflow, so b may be widened early
    IR_TO_GENERIC, IR_FROM_GENERIC, // .space is the specific one
    // Memory: operand 0 is the address, plus .integer bytes
    IR_LOAD,      // .memory is the type in memory (B8 to F64), sign-extended (SIGNED) or zero-extended to the result type
    IR_STORE,     // operand 1 is stored as .memory
    IR_LOAD_VECTOR,  // .count elements of type .memory, aligned to their total size; its results are IR_ELEMENTs
    IR_STORE_VECTOR, // operands 1 to .count
    IR_ELEMENT,   // element .index of an IR_LOAD_VECTOR or of an IR_INTRINSIC with several results
    IR_COPY,      // copies .memory_bytes from operand 1 to operand 0, which do not overlap: a struct, in words of .memory at most, or of B64 if it is VOID
    // Operations with a row in the table of intrinsics: atomics, barriers, shuffles, votes, fences, cp.async, math
    IR_INTRINSIC, // .intrinsic
    IR_CALL,      // of device function .callee; inlined by inline.c
    // Terminators
    IR_JUMP,      // to .target[0]
    IR_BRANCH,    // on a PRED: to .target[0] if true, otherwise to .target[1]
    IR_RETURN,    // with at most one operand; a struct is returned through a pointer argument
    IR_UNREACHABLE, // after a trap or a call that does not return
    IR_OPS
} IrOp;

typedef enum IrCompare { IR_EQUAL, IR_NOT_EQUAL, IR_LESS, IR_LESS_EQUAL, IR_GREATER, IR_GREATER_EQUAL } IrCompare;

enum { // IrInstruction.flags
    IR_SIGNED = 1,    // of DIV, REM, SHR, MIN, MAX, MUL_HIGH, MUL_WIDE, COMPARE, CONVERT, LOAD: operands are signed
    IR_NO_WRAP = 2,   // signed overflow is undefined (C), so the result may be assumed not to wrap
    IR_VOLATILE = 4,  // of a memory access: kept unchanged, in order with other volatile accesses
    IR_READ_ONLY = 8, // of a load: the memory is not written while the kernel runs (ld.global.nc)
    IR_EXACT = 16,    // of a float operation: called by name (__fadd_rn, __fmul_rn, fmaf), thus never contracted to an fma
    IR_APPROXIMATE = 32, // of a float operation: the approximate variant (__fdividef, -use_fast_math)
    IR_UNORDERED = 64 // of a COMPARE of floats: true if an operand is NaN
};

typedef struct IrBlock IrBlock;
typedef struct IrFunction IrFunction;
typedef struct IrInstruction IrInstruction;

typedef struct IrUse { // an operand, in the list of the uses of its value
    IrInstruction *user;
    uint32_t operand; // index of the operand
    struct IrUse *previous, *next;
} IrUse;

typedef struct IrSymbol { // a variable in global, constant or shared memory; immutable after the front end
    const char *name;  // mangled as nvcc does
    IrSpace space;
    size_t bytes, alignment;
    IrType element;    // type of a scalar or of an array's elements; IR_B8 for structs
    bool dynamic;      // extern __shared__: bytes is 0
    bool external;     // visible to the host (__device__, __constant__, __managed__); false: .shared of a function
    const unsigned char *initial; // `bytes` bytes, or NULL
} IrSymbol;

struct IrInstruction {
    uint8_t op, type;    // IrOp, IrType of the result
    uint8_t space;       // IrSpace of a pointer result, or of the address of a memory access
    uint8_t memory;      // IrType in memory
    uint8_t compare;     // IrCompare
    uint8_t count;       // number of vector elements
    uint16_t flags;
    uint32_t id;         // unique in its function; index in tables of passes
    uint32_t line, file; // source position, for .loc; 0: none
    uint32_t operand_count;
    IrInstruction **operands; // changed only by functions of ir.c, such as ir_set_operand, which update the use lists
    IrUse *operand_uses;      // parallel to operands
    IrUse *uses;              // uses of this value, newest first
    union {
        int64_t integer; // IR_INTEGER; constant bytes of an address
        double real;
    };
    uint32_t scale;      // IR_OFFSET
    uint32_t index;      // IR_ARGUMENT, IR_ELEMENT; IR_BRANCH: 1 if target[1] should be the next block in the layout
    uint32_t memory_bytes, alignment; // of an alloca or a copy; alignment of a memory access: the known alignment of its address
    union {
        const char *special;              // "%tid.x"
        const IrSymbol *symbol;
        const struct Intrinsic *intrinsic; // intrinsics.h
        IrFunction *callee;
        IrBlock *target[2];
    };
    const char *text;    // IR_INTRINSIC: fills $x in the row's PTX, such as the scope and order of an atomic; or a format string
    uint32_t mark;       // for the pass that runs; 0 between passes
    IrBlock *block;      // the block that contains it, or NULL
    IrInstruction *previous, *next; // in the block
};

struct IrBlock {
    uint32_t id;
    IrInstruction *first, *last;
    IrBlock **predecessors; // one entry for each edge; updated by the functions of ir.c for terminators
    uint32_t predecessor_count;
    uint32_t unroll;        // of a loop header: #pragma unroll N; 0: no pragma, 1: never, UINT32_MAX: fully
    uint32_t max_trips;     // of the header of a remainder loop that is to be unrolled: it runs at most so many iterations; or 0
    IrFunction *function;
    IrBlock *previous, *next; // in layout order
};

typedef struct IrArgument {
    IrType type;         // of a struct by value: IR_VOID
    size_t bytes, alignment;
    bool is_pointer, restrict_pointer;
} IrArgument;

struct IrFunction {
    const char *name;    // mangled as nvcc does
    const char *readable; // for messages
    bool kernel;
    bool no_inline;      // __noinline__: a hint that inline.c may ignore
    int max_threads, min_blocks, max_blocks_per_cluster; // __launch_bounds__; 0: none
    int cluster[3];      // __cluster_dims__; 0: none
    IrType result;
    IrArgument *arguments;
    uint32_t argument_count;
    IrBlock *first, *last; // first: the entry block
    uint32_t next_instruction, next_block; // ids of the next ones created
    uint32_t line, file; // source position of its definition
    uint32_t mark;       // for the pass that runs
    IrInstruction **constants; // hash table of the constants and undefined values
    uint32_t constant_count, constant_capacity;
    IrFunction *next;
};

typedef struct IrModule {
    IrFunction *functions; // kernels and device functions, in the order of the source
    IrSymbol **symbols;
    uint32_t symbol_count;
    const char **files;    // for .file; index 0 is the main source, which has number 1 in PTX
    uint32_t file_count;
    Arena *arena;          // the compilation's arena
    Arena scratch;         // memory of the running pass, freed after it
    uint64_t max_instructions; // limit on the module's size; set by ir_optimise
    uint32_t line, file;   // source position of new instructions; set by the front end and the passes
} IrModule;

typedef struct IrProblem { // reason why a module cannot be compiled
    const char *message;   // NULL: no problem
    uint32_t line, file;
} IrProblem;

// ---- ir.c: building

IrFunction *ir_new_function(IrModule *module, const char *name, IrType result);
IrBlock *ir_new_block(IrModule *module, IrFunction *function); // after the last one
// Creates an instruction with `count` operands at the end of a block, or before another instruction.
IrInstruction *ir_append(IrModule *module, IrBlock *block, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands);
IrInstruction *ir_insert_before(IrModule *module, IrInstruction *insert_before, IrOp op, IrType type, uint32_t count, IrInstruction *const *operands);
IrInstruction *ir_integer(IrModule *module, IrFunction *function, IrType type, int64_t value);
IrInstruction *ir_real(IrModule *module, IrFunction *function, IrType type, double value);
IrInstruction *ir_undefined(IrModule *module, IrFunction *function, IrType type);
// Appends an operand to a phi; its operands are in the order of the block's predecessors.
void ir_add_operand(IrModule *module, IrInstruction *instruction, IrInstruction *value);
// Append a terminator, and update the predecessor lists of its targets.
void ir_jump(IrModule *module, IrBlock *from, IrBlock *to);
void ir_branch(IrModule *module, IrBlock *from, IrInstruction *condition, IrBlock *if_true, IrBlock *if_false);
void ir_return(IrModule *module, IrBlock *from, IrInstruction *value);
void ir_unreachable(IrModule *module, IrBlock *from);
// Whether the block has its terminator, so that code after it is unreachable.
bool ir_is_terminated(const IrBlock *block);

// ---- ir_print.c, ir_verify.c

void ir_print(FILE *out, const IrModule *module); // one line for each instruction
// NULL, or an error in the function: an operand that does not dominate its use, a wrong type, a block without a terminator.
const char *ir_verify(IrModule *module, const IrFunction *function);

// ---- passes.c, write.c

// Optimises the module's kernels, within options->max_instructions. options->skip: comma-separated names of passes to skip, or NULL.
// Device functions are always inlined; if that is impossible (recursion), the problem is returned.
IrProblem ir_optimise(IrModule *module, const CompileOptions *options);
// Writes the module's kernels and variables as PTX. Device functions must have been inlined.
void ir_write_ptx(FILE *out, const IrModule *module, const CompileOptions *options);

#endif
