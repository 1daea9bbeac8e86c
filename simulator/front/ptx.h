// ptx.h: what a PTX text says, as a tree; and where it comes from.
#ifndef PTX_H
#define PTX_H

#include "base/base.h"

// ---- fatbin.c: the container in which nvcc puts PTX.

// The PTX texts in a fat binary, at most `most` of them; each is allocated in the arena and ends
// with a 0. Returns how many; -1 and a message in *why where the binary is damaged.
int sim_fatbin_texts(const void *data, size_t size, Arena *arena, const char **texts, int most,
                     const char **why);

// ---- ptx.c and the files of parser.h: the parser. Its tree is what decode.c makes executable.

typedef enum Type {
    NO_TYPE, B8, U8, S8, B16, U16, S16, F16, BF16, B32, U32, S32, F32, F16X2, BF16X2,
    S16X2, U16X2, TF32, E4M3X2, E5M2X2, B64, U64, S64, F64, B128, PRED, TYPES
} Type;

typedef enum Linkage { // who knows a name
    LINK_INTERNAL,
    LINK_EXTERNAL,
    LINK_WEAK, // all do; of many definitions one is taken
    LINK_UNDEFINED,   // all do; another text defines it
} Linkage;

typedef enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM, SPACES } Space;

typedef struct Register {
    Slice name;
    Type type;
    uint32_t slot; // where its lanes lie in a frame, in bytes
    uint32_t sole_def; // the one instruction whose first operand it is; NOWHERE: there is none; MANY_DEFS: there are more (decode.c)
} Register;
#define MANY_DEFS (UINT32_MAX - 1)

typedef struct Initialiser { // one value of a variable's initialiser
    size_t offset;
    int bytes;
    uint64_t value;
    Slice symbol;  // its address is added, if it has a name
    uint64_t mask; // the bits of this sum that are the value, down from their lowest
} Initialiser;

// Of its module; its address is set under the lock of lock.c (machine/), and never while a kernel runs. Bytes, all of
// it.
typedef struct Variable {
    Slice name;
    Linkage linkage;
    struct Variable *definition; // that stands in this one's place, in another text, or NULL
    Space space;
    Type type;
    size_t bytes, align;
    bool dynamic;     // extern .shared: as large as the launch says
    bool managed;     // the host may touch it, too
    uint64_t address; // offset in its space; of GLOBAL and CONST the one that the program knows
    Initialiser *initialisers;
    int initialiser_count;
    const char *error; // why its initial value is not known, or NULL
    struct Function *owner;       // whose body declares it, or NULL
    struct Use *uses;             // the kernels that use it, of a shared one (layout.c)
    int use_count;
    struct Variable *next, *next_shared; // the second: all of the module in shared memory
} Variable;

typedef enum OperandKind { IS_REGISTER, IS_INTEGER, IS_FLOAT, IS_SYMBOL, IS_LABEL, IS_VECTOR, IS_SINK } OperandKind;

typedef struct Operand {
    OperandKind kind;
    bool negated;         // !%p
    bool address;         // in square brackets
    Register *reg;        // of a register
    Register *second;     // q of p|q
    Slice name;           // of a symbol, label or special register
    Slice selector;       // b0 of %r1.b0: a part of a register
    Variable *variable;   // that the name stands for, if it does
    uint32_t label;       // statement that the label stands before
    int64_t integer;      // value, bits of a floating-point number, or offset of an address
    double real;          // of a floating-point number
    bool single;          // whose bits are a float's
    struct Operand *elements; // of a vector; of an address with coordinates these: [base, {x, y}]
    int count;
} Operand;

enum { MAX_OPERANDS = 8 };

// In the array of its function, which grows while a body is read: no pointer to one is kept until the function ends.
typedef struct Statement {
    Slice opcode; // all of it: "ld.global.f32"
    bool calls;   // it is a call: layout.c wants to know before a table has been asked
    Register *guard;
    bool guard_negated;
    Operand operands[MAX_OPERANDS];
    int count;
    int line, source_line, source_file;
    int caller_file; // of the function into which these were inlined directly, or source_file
    int own_line, own_file; // where these were inlined: the line of the function's own file, or 0
    const char *error; // why it cannot be read, or NULL
} Statement;

typedef struct Function {
    Slice name;
    Linkage linkage;
    bool entry, defined;
    Variable *params, *returned; // in order; returned also in a list, of one at most
    Register **registers;
    uint32_t register_count;
    Statement *statements;
    uint32_t count;
    const char *body; // in the text, at its brace: not read yet; else NULL
    int body_line;
    size_t local_bytes, param_bytes; // param: of a lane, formal ones and arguments
    size_t shared_bytes;             // of a block of this kernel, without the dynamic ones
    size_t shared_extent, shared_gap; // the same with the gaps that the checker leaves between them; the last gap
    const struct Function *visited_for; // the last kernel for which layout.c walked through it
    bool has_pointers; // it may be called through one (layout.c)
    size_t kernel_param_bytes;
    int max_threads;    // .maxntid or .reqntid, 0 if none
    bool exact_threads; // .reqntid
    dim3 cluster;       // .reqnctapercluster, 0 if none
    int most_cluster_blocks; // .maxclusterrank, 0 if none
    struct Program *program; // made when it is needed (ready.c); NULL before
    struct Function *next, *next_ready; // the second: of those that become ready together
} Function;

// Its maker's, who frees it (of a Binary in the runtime), with all functions, variables and programs that hang on it.
// It is made by one host thread, under the lock of lock.c. Later its functions become ready one by one, under the lock of
// ready.c; what has become ready changes no more, so that those who run a launch's blocks read it without a lock.
// Addresses and sizes are in bytes.
typedef struct Module {
    Arena arena; // of all that hangs on it, but for the text
    const struct Module *first; // the first device's, which has the managed variables of all; NULL: this is it
    int target; // 90 for sm_90
    int version; // 90 for PTX 9.0
    Function *functions;
    Variable *variables;
    Variable *shared;
    size_t dynamic_align; // of dynamic shared memory
    bool uses_reserved_shared; // one of its functions does: a kilobyte behind a block's own, for cooperative groups
    bool uses_bulk_copies; // one of the functions that are ready does
    bool launches_kernels; // one of them calls the device's runtime
    bool for_debugger; // compiled with -G: all variables are in memory
    Slice *files;
    int file_count;
    struct Decoder *decoder; // that makes its functions ready (decode.h)
    char error[256]; // why it cannot be used; empty if it can
} Module;

// The module that a PTX text describes; the text must outlive it, unchanged. What cannot be read of a statement, a
// variable or a function is kept as its error; where more is damaged, the module's error says in which
// line. Never NULL. A function's body is read later, when somebody needs it, unless it declares what concerns others.
Module *sim_parse(const char *text);
// Reads what has not been read yet: of a function, and of all.
void sim_read_body(Module *module, Function *function);
void sim_read_bodies(Module *module);
void sim_free_module(Module *module);
// What a call calls, behind the list of results; NULL: the statement is none (statements.c).
const Operand *sim_callee_of(const Statement *s);
// Gives shared variables their addresses, also anew, and kernels their size of shared memory (layout.c).
void sim_layout_shared(Module *module);
// The same for one kernel, whose body has just been read, with variables that are its own; false: they are too large.
bool sim_layout_shared_of(Module *module, Function *kernel);
bool sim_uses_shared(const Function *kernel, const Variable *variable);
Function *sim_find_function(const Module *module, Slice name);
Variable *sim_find_variable(Variable *list, Slice name);
// types.c
int sim_type_bytes(Type type);
bool sim_is_float(Type type);  // of one number, not of two halves
bool sim_is_signed(Type type); // a whole number
const char *sim_type_name(Type type);
Type sim_type_named(Slice name); // "f32"; NO_TYPE if there is none

// ---- leave_out.c: a program without some of its lines

typedef enum LineUse { OTHER_LINE, BARRIER_LINE, WARP_BARRIER_LINE, FENCE_LINE, TEST_LINE } LineUse;

// Calls `list` for each statement that can be left out.
void sim_list_lines(Module *m, void (*list)(Slice function, int line, LineUse use, void *context), void *context);
// Blanks the barriers and fences, or the `tests`, that a line of the source has in a text that can be parsed. What a test
// guards is then done by all. Returns how many statements there were.
int sim_leave_out(char *text, int line, bool tests);

// ---- link.c: texts that were compiled apart.

// Moves all that another module holds into the first, and gives the other back. What went wrong is the
// first one's error.
void sim_add_module(Module *module, Module *other);
// Behind the last one: extern variables become those that they stand for.
void sim_link(Module *module);
// Why the simulator cannot run a statement.
void sim_explain_unknown(const Module *module, const Statement *statement, char *why, size_t space);

#endif
