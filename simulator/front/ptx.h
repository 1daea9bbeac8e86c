// ptx.h: the syntax tree of PTX, extraction of PTX from fat binaries, and linking.
#ifndef PTX_H
#define PTX_H

#include "base/base.h"

// ---- fatbin.c: fat binaries, the container format of nvcc

// Stores at most `max_count` PTX texts of a fat binary, each NUL-terminated and allocated in the arena. Returns their number, or
// -1 with a message in *why if the binary is damaged.
int sim_extract_ptx(const void *data, size_t size, Arena *arena, const char **texts, int max_count,
                     const char **why);

// ---- ptx.c and the files of parser.h: the parser

typedef enum Type {
    NO_TYPE, B8, U8, S8, B16, U16, S16, F16, BF16, B32, U32, S32, F32, F16X2, BF16X2,
    S16X2, U16X2, TF32, E4M3X2, E5M2X2, B64, U64, S64, F64, B128, PRED, TYPES
} Type;

typedef enum Linkage {
    LINK_INTERNAL,
    LINK_EXTERNAL,  // .visible
    LINK_WEAK,      // .weak, .common: one of several definitions is used
    LINK_UNDEFINED, // .extern: defined in another text
} Linkage;

typedef enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM, SPACES } Space;

typedef struct Register {
    Slice name;
    Type type;
    uint32_t slot; // byte offset of the lanes' values in a frame
    uint32_t sole_def; // index of the only instruction that defines it; NO_INDEX: none; MANY_DEFS: several (decode.c)
} Register;
#define MANY_DEFS (UINT32_MAX - 1)

typedef struct Initialiser { // one value of a variable's initialiser
    size_t offset;
    int bytes;
    uint64_t value;
    Slice symbol;  // symbol whose address is added to `value`, or empty
    uint64_t mask; // selects bits of the sum, which are then shifted down to bit 0
} Initialiser;

// Owned by its module. `address` is set under the lock of machine/memory/lock.c, and never while a kernel runs. Sizes are in bytes.
typedef struct Variable {
    Slice name;
    Linkage linkage;
    struct Variable *definition; // the definition that replaces an undefined variable, or NULL
    Space space;
    Type type;
    size_t bytes, align;
    bool is_dynamic;  // extern .shared, so the launch sets its size
    bool is_managed;  // the host may access it
    uint64_t address; // offset in its space; of GLOBAL and CONST variables a virtual address
    Initialiser *initialisers;
    int initialiser_count;
    const char *error; // syntax error of the initialiser, or NULL
    struct Function *owner; // the function that declares it, or NULL
    struct Use *uses;       // kernels that use a shared variable (layout.c)
    int use_count;
    struct Variable *next;
    struct Variable *next_shared; // the next in Module.shared
} Variable;

typedef enum OperandKind { IS_REGISTER, IS_INTEGER, IS_FLOAT, IS_SYMBOL, IS_LABEL, IS_VECTOR, IS_SINK } OperandKind;

typedef struct Operand {
    OperandKind kind;
    bool is_negated;      // as in !%p
    bool is_address;      // in square brackets
    Register *reg;        // of a register
    Register *second;     // q of p|q
    Slice name;           // of a symbol, label or special register
    Slice selector;       // b0 of %r1.b0: a part of a register
    Variable *variable;   // the variable that the symbol names, or NULL
    uint32_t label;       // index of the statement after the label
    int64_t integer;      // the value of an integer, the bits of a floating-point number, or an address's offset
    double floating;      // value of a floating-point number
    bool is_float32;      // `integer` has the bits of a float, not of a double
    struct Operand *elements; // of a vector, or of an address with coordinates such as [base, {x, y}]
    int count;
} Operand;

enum { MAX_OPERANDS = 8 };

// An element of its function's array. Parsing the body reallocates the array, so keep no pointers before it is complete.
typedef struct Statement {
    Slice opcode; // with all modifiers: "ld.global.f32"
    bool is_call; // for layout.c, which runs before decoding
    Register *guard;
    bool guard_negated;
    Operand operands[MAX_OPERANDS];
    int count;
    int line, source_line, source_file;
    int caller_file; // file of the innermost inlined call, or source_file
    int outer_line, outer_file; // the source line or, if inlined, the outermost call, in the function's own file; 0: unknown
    const char *error; // syntax error, or NULL
} Statement;

typedef struct Function {
    Slice name;
    Linkage linkage;
    bool is_kernel, is_defined;
    Variable *params, *returned; // in order; `returned` has at most one element
    Register **registers;
    uint32_t register_count;
    Statement *statements;
    uint32_t count;
    const char *body; // opening brace of a body that is not parsed yet, or NULL
    int body_line;
    size_t local_bytes; // a lane's local memory
    size_t param_bytes; // a lane's parameters, and the arguments of its calls
    size_t shared_bytes;             // static shared memory of a block of this kernel
    size_t shared_extent; // `shared_bytes` with the checker's redzones between variables
    size_t shared_redzone; // size of the last redzone
    const struct Function *visited_for; // last kernel for which layout.c visited it
    bool is_address_taken; // layout.c
    size_t kernel_param_bytes;
    int max_threads;    // .maxntid or .reqntid; 0: none
    bool requires_max_threads; // .reqntid
    dim3 cluster;       // .reqnctapercluster; 0: none
    int max_cluster_blocks; // .maxclusterrank; 0: none
    struct Program *program; // NULL until first use (prepare.c)
    struct Function *next;
    struct Function *next_in_batch; // the next in PrepareBatch
} Function;

// Owned by its creator (in the runtime, a Binary). Owns all its functions, variables and programs. Created under the lock of
// machine/memory/lock.c. Functions are prepared later, under the lock of prepare.c; a prepared function is immutable and read without a
// lock. Addresses and sizes are in bytes.
typedef struct Module {
    Arena arena; // holds everything but the text
    const struct Module *first; // the first device's module, which owns all devices' managed variables; NULL if it is this one
    int target; // 90 for sm_90
    int version; // 90 for PTX 9.0
    Function *functions;
    Variable *variables;
    Variable *shared;
    size_t dynamic_align; // of dynamic shared memory
    size_t constant_bytes; // of the constant variables
    bool uses_reserved_shared; // a prepared function other than a kernel uses the shared memory reserved for cooperative groups
    bool uses_bulk_copies; // a prepared function starts bulk asynchronous copies
    bool launches_kernels; // a prepared function calls the device runtime
    bool is_debug; // compiled with -G, so that all variables are in memory
    Slice *files;
    int file_count;
    struct Decoder *decoder; // decode.h
    char error[256]; // a syntax or link error; empty: none
} Module;

// Parses a PTX text, which must outlive the module unchanged. Never returns NULL: a syntax error is stored in the innermost
// statement, variable, function or module that contains it. Bodies are parsed on first use, except those that declare variables
// for other functions.
Module *sim_parse(const char *text);
// Parse one body or all bodies, unless they are already parsed.
void sim_read_body(Module *module, Function *function);
void sim_read_bodies(Module *module);
void sim_free_module(Module *module);
// statements.c: the callee operand of a call; NULL for other statements.
const Operand *sim_callee_of(const Statement *s);
// layout.c: assigns addresses to all shared variables, and shared-memory sizes to kernels; may be called again. If
// sim_shares_variables, all bodies must have been parsed.
void sim_layout_shared(Module *module);
// True if several kernels may use the same shared variable.
bool sim_shares_variables(const Module *module);
// Assigns addresses to the shared variables that a kernel declares, after its body has been parsed. False: too large.
bool sim_layout_shared_of(Module *module, Function *kernel);
// True if a kernel, or a function that it may call, uses a shared variable.
bool sim_uses_shared(const Function *kernel, const Variable *variable);
Function *sim_find_function(const Module *module, Slice name);
Variable *sim_find_variable(Variable *list, Slice name);
// types.c
int sim_type_bytes(Type type);
bool sim_is_float(Type type);  // a scalar floating-point type
bool sim_is_signed(Type type); // a signed integer type
const char *sim_type_name(Type type);
Type sim_type_named(Slice name); // "f32"; NO_TYPE if there is none

// ---- remove_lines.c: removes the barriers, fences or conditional branches of single source lines

typedef enum LineUse { OTHER_LINE, BARRIER_LINE, WARP_BARRIER_LINE, FENCE_LINE, TEST_LINE } LineUse;

// Calls `list` for each statement that sim_remove_line can remove.
void sim_list_lines(Module *m, void (*list)(Slice function, int line, LineUse use, void *context), void *context);
// Blanks the barriers and fences of a source line in a text without syntax errors or, with `tests`, the conditional branches, so
// that all threads execute the guarded code. Returns the number of statements.
int sim_remove_line(char *text, int line, bool tests);

// ---- link.c: links separately compiled PTX

// Moves all contents of `other` to the module, and frees `other`. Errors are stored in module->error.
void sim_add_module(Module *module, Module *other);
// Resolves extern variables, after the last module has been added.
void sim_link(Module *module);
// Explains why the simulator cannot run a statement.
void sim_explain_unknown(const Module *module, const Statement *statement, char *why, size_t space);

#endif
