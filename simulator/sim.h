// sim.h: what the simulator's files share. README.md tells how they work together.
#ifndef SIM_H
#define SIM_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

enum { LANES = 32, MAX_WARPS = 32, BARRIERS = 16, MAX_VECTOR = 8, MAX_READ = 16 };
#define ALL_LANES 0xffffffffu
#define NOWHERE UINT32_MAX // no program counter, no register

// ---- arena.c: memory that is given back as a whole.

typedef struct Arena {
    struct ArenaBlock *blocks;
} Arena;

// size bytes of zeros, aligned for any type; ends the program when memory runs out.
void *sim_allocate(Arena *arena, size_t size);
void sim_join_arenas(Arena *arena, Arena *other); // what was allocated in the other one belongs to the first
void sim_free_arena(Arena *arena);

// ---- fatbin.c: the container in which nvcc puts PTX.

// The PTX texts in a fat binary, at most `most` of them; each is allocated in the arena and ends
// with a 0. Returns how many; -1 and a message in *why where the binary is damaged.
int sim_fatbin_texts(const void *data, size_t size, Arena *arena, const char **texts, int most,
                     const char **why);

// ---- ptx.c: the parser. Its tree is what decode.c makes executable.

typedef struct Slice {
    const char *text;
    size_t length;
} Slice;

typedef enum Type {
    NO_TYPE, B8, U8, S8, B16, U16, S16, F16, BF16, B32, U32, S32, F32, F16X2, BF16X2,
    S16X2, U16X2, TF32, E4M3X2, E5M2X2, B64, U64, S64, F64, B128, PRED, TYPES
} Type;

typedef enum Linkage { // who knows a name: its own text; all; all, of many definitions one is taken; all, another text defines it
    OWN_TEXT, ALL_TEXTS, ONE_OF_MANY, ELSEWHERE
} Linkage;

typedef enum Space { GENERIC, GLOBAL, SHARED, LOCAL, CONST, PARAM, SPACES } Space;

typedef struct Register {
    Slice name;
    Type type;
    uint32_t slot; // where its lanes lie in a frame, in bytes
} Register;

typedef struct Initial { // one value of a variable's initialiser
    size_t offset;
    int bytes;
    uint64_t value;
    Slice symbol;  // its address is added, if it has a name
    uint64_t mask; // the bits of this sum that are the value, down from their lowest
} Initial;

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
    Initial *initials;
    int initial_count;
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

typedef struct Statement {
    Slice opcode; // all of it: "ld.global.f32"
    Register *guard;
    bool guard_negated;
    Operand operands[MAX_OPERANDS];
    int count;
    int line, source_line, source_file;
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
    struct Program *program; // made by decode.c
    struct Function *next;
} Function;

typedef struct Module {
    Arena arena;
    const struct Module *first; // the first device's, which has the managed variables of all; NULL: this is it
    int target; // 90 for sm_90
    int version; // 90 for PTX 9.0
    Function *functions;
    Variable *variables;
    Variable *shared;
    size_t dynamic_align; // of dynamic shared memory
    bool uses_reserved_shared; // a kilobyte behind a block's own, for cooperative groups
    bool uses_copy_engine;
    bool launches_kernels; // its kernels call the device's runtime
    bool for_debugger; // compiled with -G: all variables are in memory
    Slice *files;
    int file_count;
    char error[256]; // why it cannot be used; empty if it can
} Module;

// The module that a PTX text describes; the text must outlive it. What cannot be read of a statement, a
// variable or a function is kept as its error; where more is damaged, the module's error says in which
// line. Never NULL.
Module *sim_parse(const char *text);
void sim_free_module(Module *module);
static inline size_t sim_aligned(size_t offset, size_t align)
{
    return (offset + align - 1) / align * align;
}
// Gives shared variables their addresses, also anew, and kernels their size of shared memory (layout.c).
void sim_place_shared(Module *module);
bool sim_uses_shared(const Function *kernel, const Variable *variable);
Function *sim_find_function(const Module *module, Slice name);
Variable *sim_find_variable(Variable *list, Slice name);
int sim_type_bytes(Type type);
const char *sim_type_name(Type type);
Type sim_type_named(Slice name); // "f32"; NO_TYPE if there is none
bool sim_slice_is(Slice slice, const char *text);

// ---- link.c: texts that were compiled apart.

// Moves all that another module holds into the first, and gives the other back. What went wrong is the
// first one's error.
void sim_add_module(Module *module, Module *other);
// Behind the last one: extern variables become those that they stand for.
void sim_link(Module *module);
// Why the simulator cannot run a statement.
void sim_say_unknown(const Module *module, const Statement *statement, char *why, size_t space);

// ---- decode.c: statements become instructions with resolved operands.

typedef struct Warp Warp;
typedef struct Instr Instr;
typedef void Handler(Warp *w, const Instr *i, uint32_t mask);

typedef enum Control { // what the warp's loop itself has to do
    PLAIN, BRANCH, BRANCH_INDEXED, CALL, RETURN, EXIT, BLOCK_BARRIER, CLUSTER_BARRIER, WARP_BARRIER, GATHER, PHASE_TEST, UNKNOWN
} Control;

typedef struct Address { // of an operand in brackets
    uint32_t base; // its register, or NOWHERE
    uint8_t base_bytes, space;
    int64_t offset;
} Address;

struct Instr {
    Handler *run;
    uint32_t d, a, b, c, e; // operands: offsets of their lanes in the frame
    uint32_t second;        // a second predicate that is written, or NOWHERE
    uint32_t carry;         // where add.cc and the like keep it
    uint32_t members;       // lanes that take part in an operation between them: an offset, too
    uint32_t guard;         // predicate, or NOWHERE
    bool guard_negated;
    uint8_t control;
    uint32_t straight;      // so many instructions from this one on are PLAIN and have no guard
    uint8_t op, type, from; // which of a handler's operations; types of the result, or of all, and of the operands
    uint8_t combine;        // how a comparison and a predicate become one, with COMBINE
    uint8_t rounding;
    uint16_t flags;
    uint8_t bytes, count;   // of a value that is moved or exchanged; values
    uint8_t register_bytes; // of the registers that hold such a value, or a conversion's result
    uint8_t source_bytes;   // of the register that holds what is converted
    uint32_t target, join;  // where a branch goes, and where its lanes meet again; NOWHERE: where others do
    uint8_t loop;           // of a branch, or a volatile load: QUIET_LOOP and so on
    uint32_t target_count;  // of an indexed branch
    uint32_t groups;        // of copies that cp.async.wait_group does not wait for
    Address at;             // of a load, a store or an atomic operation,
    uint8_t semantics, scope; // and how it is ordered
    uint32_t *list;         // offsets of the elements that a vector has, or a load, a store or an atomic operation
    uint32_t *values;       // of an atomic operation: offsets of what it is done with
    union {
        const struct CallSite *call; // of a CALL, also of a function that the simulator has
        const Address *addresses;    // of a copy or an mbarrier
        const uint32_t *targets;     // of an indexed branch
        const struct VideoOperation *video;
        const struct MatrixOperation *matrix; // of the tensor cores
    };
    uint32_t site; // its number for the checker
    const Statement *statement;
    const char *reason; // why an UNKNOWN one is none; NULL where it is not in the table
};

enum { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY }; // Instr.rounding
typedef enum Semantics { WEAK, VOLATILE, RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE } Semantics; // Instr.semantics
enum { NO_SCOPE, BLOCK_SCOPE, CLUSTER_SCOPE, DEVICE_SCOPE, SYSTEM_SCOPE };                       // Instr.scope
enum { ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_INC, ATOMIC_DEC, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_EXCH,
       ATOMIC_CAS };                               // Instr.op of atom and red
enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR }; // of bar
enum { CLUSTER_ARRIVE, CLUSTER_WAIT };                    // of barrier.cluster
enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, SHUFFLE_INDEX }; // of shfl
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };            // of vote
enum { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR, REDUCE_XOR }; // of redux
enum { FLUSH = 1, SATURATE = 2, NAN_WINS = 4, RELU = 8, SIGNED_VALUE = 16, COMBINE = 32,
       COMBINE_NEGATED = 64, ASKS_OTHERS = 128,
       DROPS = 256, WITHIN_CLUSTER = 512, READ_ONLY = 1024 }; // Instr.flags

// Instr.loop: the branch turns a loop that changes nothing in memory; that also asks there what others did; some lanes
// may leave a loop by it that loads or stores; what is loaded decides whether a loop goes on
enum { QUIET_LOOP = 1, ASKING_LOOP = 2, LEAVES_LOOP = 4, AWAITED = 8, DECIDES = 16, ASKS_IN_LOOP = 64 };

typedef struct CallSite {
    const Function *callee; // NULL: the address is in a register
    uint32_t *arguments, *results; // offsets in the parameter area, and bytes, in turn
    int argument_count, result_count;
} CallSite;

typedef enum Special {
    TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z, CTAID_X, CTAID_Y, CTAID_Z, CLUSTERID_X, CLUSTERID_Y,
    CLUSTERID_Z, CLUSTER_CTAID_X, CLUSTER_CTAID_Y, CLUSTER_CTAID_Z, CLUSTER_CTARANK, NCTAID_X, NCTAID_Y, NCTAID_Z,
    NCLUSTERID_X, NCLUSTERID_Y, NCLUSTERID_Z, CLUSTER_NCTAID_X, CLUSTER_NCTAID_Y, CLUSTER_NCTAID_Z, CLUSTER_NCTARANK,
    IS_EXPLICIT_CLUSTER, LANEID, WARPID, NWARPID, SMID, NSMID, GRIDID, LANEMASK_EQ, LANEMASK_LE, LANEMASK_LT, LANEMASK_GE,
    LANEMASK_GT, CLOCK, CLOCK_HI, CLOCK64, GLOBALTIMER, GLOBALTIMER_LO, GLOBALTIMER_HI,
    DYNAMIC_SMEM_SIZE, TOTAL_SMEM_SIZE, DYNAMIC_SHARED, RESERVED_SHARED, LOCAL_BASE,
    PARAM_BASE, GRID_WORKSPACE_HIGH, GRID_WORKSPACE_LOW, SPECIALS
} Special;

typedef struct Slot { // of a constant or special register, set when a frame is made
    uint32_t offset;
    uint8_t bytes;
    int special; // or -1
    uint64_t value;
} Slot;

// How far blocks may run side by side: freely; until they tell others something or ask them; not at all.
typedef enum Order { FREE, IN_TURN, ONE_BY_ONE } Order;

typedef struct FramePart { // of a frame
    uint32_t offset, bytes;
} FramePart;

typedef struct Does { // some instructions, and those of functions that they call
    bool accesses; // memory that is not the thread's own
    bool writes;   // to memory, or lets others know in another way
    bool asks;     // what others did
    bool tells_host; // how far it is, perhaps: it uses the scope of the system, or calls what is not known
    bool hands_over;  // may order what threads do by more than barriers of the whole block, and of warps
    bool some_lanes;  // may have barriers for some lanes of a warp
    bool launches;    // kernels
} Does;

typedef struct Program { // an executable function
    Instr *code; // `count` instructions and an end, which returns
    uint32_t count;
    uint32_t frame_bytes, register_bytes; // registers come first in a frame
    Slot *slots;
    int slot_count;
    FramePart *ranges; // of the registers that may be read before they are written: they start as zero
    int range_count;
    Order order;
    Does does;
    bool calls;
} Program;

// Makes all functions of a module executable. What it does not know becomes UNKNOWN.
void sim_decode(Module *module);

// Finds out what a function does, as far as is known of those that it calls; whether that is new: loops.c.
bool sim_sum_up(const Function *function);
// A number for an instruction, by which the checker knows it: check_clocks.c.
uint32_t sim_new_site(const Instr *i);
// fence, membar
void sim_fence(Warp *w, const Instr *i, uint32_t mask);
// fence.mbarrier_init, fence.proxy.async
void sim_fence_inits(Warp *w, const Instr *i, uint32_t mask);
void sim_fence_proxy(Warp *w, const Instr *i, uint32_t mask);
// Finds out what a program's ways tell, before it runs: flow.c. The module's arena holds what stays.
void sim_analyse(Arena *module, const Function *function, Program *program);

// ---- convert.c: half precision.

float sim_half_to_float(uint16_t bits);
double sim_half_value(uint16_t bits, bool brain); // brain: bf16
// Rounded to `digits` binary digits, the last of them 2^`lowest` or above.
double sim_rounded(double value, int digits, int lowest, int rounding);
uint16_t sim_half_from_double(double value, int rounding);
uint16_t sim_brain_from_double(double value, int rounding);

// ---- allocations.c: the memory that a kernel may touch.

typedef enum MemoryKind {
    DEVICE_MEMORY, PINNED_MEMORY, MANAGED_MEMORY, // cudaMalloc's, cudaMallocHost's, cudaMallocManaged's
    HEAP_MEMORY,                                  // malloc's in a kernel
    GRAPH_MEMORY,                                 // of a graph's allocation node
    ARRAY_MEMORY,                                 // of an array, which textures and surfaces show
    RESERVED_MEMORY,                              // addresses of cuMemAddressReserve, whatever is mapped there
    HOST_MEMORY, MODULE_MEMORY, PARAMETER_MEMORY  // the program's own; of variables; of a kernel's arguments
} MemoryKind;

enum { SIM_GRANULE = 2 << 20 };
typedef struct Granule { // so many bytes of RESERVED_MEMORY
    struct Piece *piece;       // of memory that is mapped there, or NULL
    uint32_t readers, writers; // the devices whose kernels may do so, a bit each
} Granule;

typedef struct Allocation {
    uint64_t address;
    uint8_t *memory; // where it lies in this process
    size_t bytes;
    MemoryKind kind;
    Granule *granules; // of RESERVED_MEMORY; else NULL
    int number; // of those that are no kernel's arguments, in the order in which they were made
    uint64_t writer; // of an IN_TURN launch: 1 + the place of the last block that wrote here
    unsigned flags;  // that the program asked for it with
    cudaMemPool_t pool; // that it came from, or NULL
    int device;         // that was current when it was made
    uint32_t open_to;   // the devices whose kernels may touch it, a bit each
    struct Line *lines; // what kernels did to it, for the checker; NULL: nothing as yet
    atomic_bool lines_grew; // some of these lines have memory of their own
    atomic_uint written_in; // the run (check.h) of the last kernel that wrote to it
    const char *call;   // the program's, that made it, or NULL,
    int call_number;    // and how many of these there were by then
    struct Uses *uses;  // of check_shared.c, of what host and device share; or NULL
    struct Shadow *shadow; // of check_family.c, or NULL
} Allocation;

typedef struct Freed { // what an allocation was
    uint64_t address;
    size_t bytes;
    const char *call, *freed_by;
    int call_number;
} Freed;

cudaError_t sim_new_allocation(size_t bytes, MemoryKind kind, void **pointer); // the pointer that the program gets
cudaError_t sim_end_allocation(void *pointer, MemoryKind kind); // an error if it is of another kind
uint64_t sim_reserve_addresses(size_t bytes, size_t alignment); // 0 where there are none
// Where the first of these bytes of an allocation lies that no memory is mapped for, or that the device may not use so;
// their end, if there is none.
uint64_t sim_first_closed(const Allocation *a, int device, uint64_t address, size_t bytes, bool writes);
bool sim_has_memory(int device, size_t bytes);         // so many bytes that nobody has
void sim_count_memory(int device, int64_t difference); // of what is allocated
void sim_end_all_allocations(void); // of the current device, all but modules'
// Whether a device's kernels may touch what another's cudaMalloc gives, now and later.
void sim_open_memory(int owner, int device, bool open);
bool sim_is_open(int owner, int device);
bool sim_place_variable(Variable *v);                           // gives it its address; false without memory
void sim_end_variable(const Variable *v);                       // which has been placed
void sim_register_memory(void *pointer, size_t bytes, MemoryKind kind); // memory that others have allocated
void sim_unregister_memory(void *pointer);                              // which has been registered
// The allocation that holds the address, or the next below it, or NULL.
Allocation *sim_allocation_at(uint64_t address);
Allocation *sim_allocation_above(uint64_t address); // the next one that begins above it, or NULL
const Freed *sim_freed_at(uint64_t address); // that held the address, and was freed last; NULL if that is not known
void sim_forget_writers(void);
size_t sim_allocated_bytes(void);
enum { SIM_USUAL_HEAP = 8 << 20 }; // bytes that malloc in kernels gives at most
bool sim_set_heap_limit(size_t bytes); // false: a kernel has called malloc already

// ---- ranges.c: where allocations lie.

// Finds an address for so many bytes, and the memory that belongs to it: at the address itself, unless it is on the
// device. NULL without memory.
uint8_t *sim_take_memory(size_t bytes, size_t alignment, bool on_device, uint64_t *address);
bool sim_make_fresh(uint8_t *memory, size_t bytes); // of the device, as if nobody had written it; false where that fails
void sim_return_memory(uint64_t address, uint8_t *memory, size_t bytes); // of an allocation that is off the list
bool sim_in_device_range(const void *pointer); // where the host must not read or write
bool sim_in_shared_range(const void *pointer); // that both may touch
bool sim_handles_faults(void); // the program has not put a handler of its own in place of the simulator's
void *sim_memory_at(const void *pointer);      // where the bytes lie that the program knows under this pointer

// ---- spaces.c: address spaces, and the way to memory.

enum { SHARED_WINDOW_BIT = 60, LOCAL_WINDOW_BIT = 61 };
#define SHARED_WINDOW (1ull << SHARED_WINDOW_BIT) // generic addresses of shared memory
#define LOCAL_WINDOW (1ull << LOCAL_WINDOW_BIT)

// ASYNC: of a copy that goes on by itself. What it writes is there when it has been waited for.
typedef enum AccessKind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC, ACCESS_ASYNC_READ, ACCESS_ASYNC_WRITE } AccessKind;

typedef enum Pattern { SCATTERED, CONSECUTIVE, ALL_SAME } Pattern; // the last two: with all lanes on

typedef struct Access { // by some lanes of a warp, to one address space
    AccessKind kind;
    Space space;  // not GENERIC
    uint32_t mask; // the lanes
    size_t bytes, alignment; // of each lane; a power of two, but for copies of the copy engine
    uint64_t address[LANES]; // in the space
    Pattern pattern;         // sim_access finds it, and where the bytes lie in this process
    uint8_t *pointer[LANES];
    bool has_unwritten;        // of what it reads nobody wrote these bytes, a bit each
    uint32_t unwritten[LANES];
} Access;

// Whatever a kernel reads or writes in memory goes through this function, before it is read or written: it finds
// where the lanes' bytes lie, and ends the launch where they lie nowhere. (A kernel's arguments that ld.param
// names are no memory.) The instruction tells semantics and scope.
void sim_access(Warp *w, const Instr *i, Access *access);
// The same for one lane and an address that may be generic.
uint8_t *sim_access_lane(Warp *w, const Instr *i, int lane, Space space, uint64_t address, size_t bytes, size_t alignment,
                         AccessKind kind);

Space sim_space_at(uint64_t address); // of a generic one
uint64_t sim_window(Space space);     // where its generic addresses begin; 0 of device memory
// What a generic address of the lane's block, or of the lane's own local memory, has added beside the window: whose it
// is, where the program is checked.
uint64_t sim_owner_of(const Warp *w, int lane, Space space);
// The address in its space that a generic one stands for.
uint64_t sim_offset_of_generic(uint64_t address);
// The same where a lane uses it: it is a finding if it is another block's, or another thread's.
uint64_t sim_use_generic(Warp *w, const Instr *i, int lane, uint64_t address);
// Makes generic addresses, which lanes use, those of their spaces, and tells which lanes are in each.
void sim_split_generic(Warp *w, const Instr *i, uint64_t *address, uint32_t mask, uint32_t in[SPACES]);
// The addresses that a load, a store or an atomic operation has in each of the 32 lanes.
void sim_find_addresses(const Warp *w, const Instr *i, uint64_t *address);
// The address that an operand in brackets has in a lane.
uint64_t sim_operand_address(const Warp *w, const Address *operand, int lane);

Handler sim_is_space;

// ---- memory.c, atomics.c, async.c: instructions that read and write.

// Accesses and barriers of a warp or a whole launch: README.md defines them.
typedef struct Counters {
    uint64_t warp_instructions, lanes_on, divergent_branches, shared_loads, shared_stores, bank_conflicts,
        global_load_requests, global_load_sectors, global_store_requests, global_store_sectors, atomics,
        shuffles, block_barriers, warp_barriers, uneven_loops;
} Counters;

// Counts a load or a store, after sim_access.
void sim_count_access(Warp *w, const Access *access);
// Counts only its bank conflicts.
void sim_count_conflicts(Warp *w, const Access *access);
// Counts what a cp.async reads.
void sim_count_async_load(Warp *w, const Access *access);

Handler sim_load, sim_store, sim_load_kernel_param, sim_load_argument, sim_store_argument, sim_atomic, sim_copy_async,
    sim_commit_copies, sim_await_copies, sim_await_all_copies;
// Forgets the copies that no thread of the warp has waited for.
void sim_drop_copies(Warp *w);

// ---- texture.c: textures and surfaces. The objects themselves are the runtime's, in calls_texture.c.

struct cudaArray {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; // as asked for: 0 in dimensions that it has not
    unsigned flags;
    size_t row_bytes, rows, slices; // slices: in the third dimension, or layers
    uint8_t *texels;
    int device; // that was current when it was made
    struct cudaArray *next;
};

typedef struct Texels { // what a texture or surface object shows
    uint64_t first; // the address; 0: the array has been freed
    int dimensions; // of a layer
    bool layered, linear, gathers; // linear: memory without a pitch; gathers: made for tld4
    int64_t size[3], layers;       // at least 1
    size_t row_bytes, slice_bytes; // slice: or layer
    int channels, channel_bytes;
    enum cudaChannelFormatKind kind;
} Texels;

typedef struct TextureObject {
    bool surface;
    int device; // that was current when it was made
    Texels texels;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc sampling; // of a texture
} TextureObject;

// NULL: none has this number, or it has been destroyed.
const TextureObject *sim_texture_object(uint64_t number);

Handler sim_sample_texture, sim_gather_texels, sim_fetch_texel, sim_load_surface, sim_store_surface, sim_query_surface;

// ---- bulk.c: the copy engine, and barriers in shared memory.

Handler sim_mbarrier_init, sim_mbarrier_inval, sim_mbarrier_arrive, sim_mbarrier_test, sim_copy_bulk, sim_commit_bulk,
    sim_await_bulk, sim_arrive_after_copies;
// Forgets the sources that no thread of the warp has waited for.
void sim_drop_sources(Warp *w);

// ---- matrix.c: the tensor cores.

Handler sim_load_matrix, sim_store_matrix;

// ---- warp.c: 32 lanes step by step.

typedef struct Frame { // of one call of a function by some lanes of a warp
    const Function *function;
    struct Frame *caller;
    const Instr *call;
    uint64_t local_base, local_end; // of its variables in local memory; behind them is nothing as yet
    uint32_t inside; // lanes that have not come back from it
    uint8_t *params; // the lanes' arguments and formal parameters
    uint8_t *lanes;  // registers, constants, special registers
    struct Frame *next_free;
} Frame;

typedef enum Waiting { RUNS, WAITS_FOR_PATHS, WAITS_AT_BARRIER, WAITS_AT_CLUSTER, WAITS_FOR_LANES } Waiting;

typedef struct Path { // lanes of a warp that run together
    uint32_t mask, pc, join;
    Waiting waiting;
    uint32_t overlooked; // so many times that the warp was looked at, while its lanes could have gone on
    uint32_t served;   // of lanes that wait for others: those that have had their result
    int barrier, children;
    uint32_t jumped, landed; // where it was before its last jump, or NOWHERE, and where that led
    Frame *frame;
    struct Path *parent, *next;
    // Of a path that goes round a loop that changes nothing in memory: see count_turn in warp.c.
    const Instr *loop;
    const Frame *loop_frame;
    uint32_t turns, inner; // of loops in it, or in functions called there
    bool same;             // it came back with the same registers as when it was looked at last,
    uint64_t state, stirs; // these, after so many stirs
} Path;

// What the warps of a block do, or those of all blocks that take turns: as long as nobody does more than go round loops
// that change nothing in memory, it stays as it is.
typedef struct Watch {
    uint64_t stirs;   // how often a warp has done more than that
    uint64_t in_vain; // instructions since then, where all of them ask what others did
} Watch;

struct Warp {
    uint8_t *lanes; // of the running path's frame
    Path *path;     // the running one
    Path *paths;    // all of them, the newest first
    Frame *entry;   // the kernel's frame, kept from block to block
    struct Block *block;
    Allocation *near; // where the last global access fell
    uint32_t live;          // lanes that have not ended
    uint32_t last[LANES], jumped[LANES]; // of those that have: what they ran last, and their last jump, for the checker
    uint32_t arrived;       // lanes that have come to the cluster's barrier, which others have not yet
    uint32_t passed;        // lanes that may go on there, and have not waited yet
    bool yields;            // its path asked in vain whether a phase is over: the others have their turn
    struct {
        uint32_t missing, expected; // arrivals; none expected: its last question was not in vain
        int64_t bytes;
    } awaited; // at the mbarrier that it asked
    int number;
    uint64_t instructions;
    uint64_t unfair; // instructions since it was looked at last whether lanes are overlooked
    uint32_t undefined; // registers that hold what nobody wrote: these,
    struct Undefined *values;
    struct AsyncCopy *copies; // of cp.async, that their threads have not waited for, in order
    uint64_t groups[LANES];   // of copies, that each lane has committed
    struct BulkSource *sources;  // of bulk copies out of shared memory, that their threads have not waited for
    uint64_t bulk_groups[LANES]; // of these, that each lane has committed
};

// Lanes that could go on do so at the latest after twice so many instructions of their warp, if those that run in their
// place go round a loop that asks what others did; in a block where that has happened, sooner and sooner.
enum { SIM_PATIENCE = 1 << 18, SIM_LEAST_PATIENCE = 1 << 11 };
// Makes the lanes of `live` ready to run the kernel's first instruction.
void sim_start_warp(Warp *w, uint32_t live);
// Runs a warp until it ends or waits, or for a while. False if it could do nothing.
bool sim_run_warp(Warp *w);
// The path that the warp runs next, or NULL.
Path *sim_next_path(const Warp *w);
// The branch that turns the loop in which the path is, or NULL.
const Instr *sim_loop_around(const Path *p);
// Whether nothing that the warp could run leads anywhere, unless another one does something.
bool sim_is_stuck(const Warp *w);
// Of a warp that is stuck: lets another of its paths run, or lanes go on that have come to a join. False if there are none.
bool sim_give_way(Warp *w);
// Lets the lanes go on that wait at a join while others wait for them: those of a set, or, with all of them, whoever waits.
bool sim_open_join(Warp *w, uint32_t wanted);
// The lanes for which others of their warp wait at a barrier or an operation between lanes.
uint32_t sim_wanted_lanes(const Warp *w);

// ---- across.c: operations between the lanes of a warp, and what they tell the outside.

// Of a call of a function that the simulator has: one of a lane's arguments; what it returns.
void sim_call_argument(const Warp *w, const Instr *i, int lane, int index, void *value, size_t bytes);
void sim_return_value(const Warp *w, const Instr *i, int lane, const void *value, size_t bytes);

Handler sim_shuffle, sim_vote, sim_match, sim_reduce_warp, sim_activemask, sim_elect, sim_print,
    sim_fail_assertion, sim_malloc, sim_free, sim_trap, sim_read_clock;

// ---- cluster.c: blocks that reach each other's shared memory.

Handler sim_map_address, sim_rank_of_address;
// Whether an address in shared memory tells of which block of the cluster.
bool sim_names_block(uint64_t address);
// Which one it is, where the address has been found to lie in one.
struct Block *sim_block_named(const Warp *w, uint64_t address);
// Where a lane's bytes lie at such an address; ends the launch where they lie nowhere, or the block has ended.
uint8_t *sim_find_in_cluster(Warp *w, const Instr *i, int lane, uint64_t address, size_t bytes);
// The path arrives at the cluster's barrier, or waits there.
void sim_come_to_cluster_barrier(Warp *w, Path *p, const Instr *i);
// Lets the threads of the block's cluster go on that wait at its barrier, if the last one has come.
void sim_check_cluster_barrier(struct Block *block);

// ---- block.c: blocks, barriers, the host's threads.

typedef struct Barrier {
    uint32_t arrived[MAX_WARPS]; // lanes of each warp
    uint32_t expected;           // threads, of whole warps
    bool counted;                // it names how many: not all threads of the block
    uint32_t count, true_count;  // lanes that have come; of these, with a true predicate
} Barrier;

typedef struct Fault { // where a launch went wrong, for the checker
    int kind;      // of a finding, if the one that the error stands for will not do; else -1
    const Instr *instr;
    int thread;    // of the block, or -1
    uint64_t block;
    size_t text;   // where in the message it says what happened
} Fault;

typedef struct Launch {
    uint64_t number; // of the program's launches, from 1 on
    const Module *module;
    int device;
    const Function *kernel;
    dim3 grid, block, cluster;
    uint32_t cluster_blocks; // at least 1
    bool explicit_cluster;   // the kernel or the launch names a cluster
    size_t dynamic_bytes, asked_shared; // asked for; with the static ones,
    size_t shared_bytes;                // and the gaps that the checker leaves between them
    uint32_t dynamic_shared, reserved_shared; // where these parts begin
    uint8_t *params;
    uint8_t *workspace; // of a cooperative launch: where its blocks wait for each other; NULL: it is none
    size_t local_bytes; // of a thread
    uint64_t blocks;
    Counters counters;
    Order order;
    bool together;      // blocks take turns
    bool on_one_thread; // of the host
    struct Block *held; // waits for later blocks, in a launch whose blocks did not take turns until then; or NULL
    Watch watch;
    bool traced;        // blocks of it: trace.c
    bool noted;         // what it uses of memory that it shares with the host: check_shared.c
    uint64_t *shuffled; // the blocks in the order in which they begin; NULL: in that of their numbers
    // Places in that order: of the first that nobody runs yet, of the first that went wrong.
    uint64_t next_block, fault_block;
    _Atomic uint64_t ended;           // of an IN_TURN launch: so many blocks, the first ones
    atomic_uint restarts;
    struct LaunchCheck *check; // NULL: nothing is checked
    struct Grid *family_grid;  // where kernels launch kernels, else NULL
    bool watched;              // the checker looks for its races with its parent and its children: check_family.c
    cudaError_t error;
    Fault fault;
    char message[1024];
} Launch;

typedef struct Passer { // for the checker: threads that ended behind an instruction, and a barrier
    uint32_t barrier, last, jumped;
    bool known, goes_past;
} Passer;

typedef struct Block {
    Launch *launch;
    uint64_t number, place; // place: in the order in which blocks begin
    dim3 index;
    uint32_t rank; // in its cluster,
    uint32_t pause; // turns that it lets pass
    struct Block **cluster, *alone; // whose blocks these are; it alone, where it is a cluster by itself
    Warp warps[MAX_WARPS];
    int warp_count;
    uint32_t threads, live;
    bool traced; // what its warps do is written to a file
    uint8_t *shared, *local;
    struct Origins *origins;  // of values that nobody wrote: check_values.c
    uint8_t *local_written;   // for the checker: a byte for each of local memory
    struct Line *lines;       // of shared memory,
    struct BlockCheck *check; // and what else the checker keeps; NULL: nothing is checked
    uint64_t patience; // instructions of a warp until lanes may count as overlooked
    Passer passers[8];
    uint32_t passer; // found so many times
    size_t local_used; // of a thread: so much has been given to functions, and was poison then
    Barrier barriers[BARRIERS];
    Watch *watch, own_watch; // its own, or that of the launch whose blocks take turns
    Counters counters;
    Arena arena; // of frames and paths
    Frame *free_frames;
    Path *free_paths;
    struct AsyncCopy *free_copies;
    struct BulkSource *free_sources;
    struct EngineCheck *engine; // of check_engine.c; NULL where the kernel's module does not use the copy engine
    // A block that runs ahead of its turn has seen what `seen` blocks did, and read these allocations.
    bool ahead;
    uint64_t seen;
    Allocation *read[MAX_READ];
    int read_count;
    jmp_buf on_fault; // also left for what is no fault: see Departure in block.c
    cudaError_t error;
    Fault fault;
    char message[1024];
} Block;

// Waits until all blocks before this one have ended. One that ran ahead and read what they changed
// since does not return: it starts again.
void sim_await_turn(Block *block);

// Makes so many bytes of each thread's local memory ready for use: what nobody in the block has written is poison.
void sim_use_local(Block *block, size_t bytes);

// Lets the threads go on that wait at a barrier, if the last one has come; the same for all barriers, after threads have ended.
void sim_check_barrier(Block *block, int number);
void sim_check_barriers(Block *block);

typedef struct Grid Grid; // of device_runtime.h

// Runs a kernel to its end; the result, with a message on stderr where it is no success. A thread
// that calls functions gets stack_bytes of local memory for theirs.
cudaError_t sim_launch(const Module *module, const Function *kernel, dim3 grid, dim3 block,
                       size_t dynamic_bytes, size_t stack_bytes, void **arguments);

typedef struct Grouping { // which blocks of a launch run together
    bool cooperative; // all of them, which the device must hold at once
    dim3 cluster;     // those of a cluster of this size; 0: of the kernel's own, or none
} Grouping;

// The same for blocks that may wait for each other.
cudaError_t sim_launch_grouped(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                               size_t stack_bytes, void **arguments, Grouping grouping);
// The same for one of the grids that are launched there, where kernels launch kernels; else NULL.
cudaError_t sim_launch_grid(const Module *module, const Function *kernel, dim3 grid, dim3 block, size_t dynamic_bytes,
                            size_t stack_bytes, void **arguments, Grouping grouping, Grid *family_grid);

// The instruction of a lane (or -1) went wrong: the launch ends with the block, unless something else did before.
void sim_note_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
// The same, and ends the block. Does not return.
_Noreturn void sim_fault(Warp *w, const Instr *i, int lane, cudaError_t error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// ---- module.c: from a PTX text to functions that can be launched.

// The same of texts that nvcc -rdc=true compiled apart, linked by their names. For a further device `first` is the
// first one's module of the same texts, whose managed variables it shares; else NULL.
Module *sim_load_texts(const char *const *texts, int count, const Module *first);
Module *sim_load_module(const char *text);
void sim_unload_module(Module *module); // with its variables
void sim_set_variables(Module *module); // in device memory, to their initial values

// ---- counters.c, names.c

// Adds the launch to the file that $SIM_COUNTERS names, if it does.
void sim_count_launch(const Launch *launch, double host_seconds);
// The function's own name in a mangled one: "reduce" in _Z6reduceILj256EEvPKfPfm.
Slice sim_plain_name(Slice mangled);
// The name with its namespaces and template arguments, cut to the space: "reduce<256u>".
void sim_readable_name(Slice mangled, char *name, size_t space);

// ---- trace.c: what the warps of one block do, instruction by instruction; or all blocks, in device memory.

// Starts the launch's part of the file that $SIM_TRACE names, if it does. False if it does not.
bool sim_trace_launch(const Launch *launch);
// Whether the file gets rows of all blocks.
bool sim_traces_all(void);
// Whether the block with this number is to be traced.
bool sim_is_traced(const Launch *launch, uint64_t number);
// Adds a row for the instruction that the path is about to run.
void sim_trace_instruction(const Warp *w, const Path *p);
// Adds a row for the path that waited at a barrier and may go on.
void sim_trace_release(const Warp *w, const Path *p);
void sim_end_trace_of_launch(void);

// ---- device.c: the GPU that is reported, $SIM_DEVICES of them, all alike.

enum { SIM_MOST_DEVICES = 16, SIM_ALL_DEVICES = 0xffff };
extern _Thread_local int sim_current_device; // of a host thread: cudaSetDevice
int sim_device_count(void);

typedef struct Device {
    int sm_count, shared_per_block, shared_per_block_optin, shared_per_sm, threads_per_sm, blocks_per_sm,
        registers_per_sm, l2_bytes;
    size_t memory_bytes, host_bytes; // the second: of the machine that it is in
} Device;

const Device *sim_device(void);
enum { SIM_RESERVED_SHARED = 1024 }; // bytes of shared memory that each block takes for the system
// How many blocks of a kernel an SM holds at once.
int sim_blocks_per_sm(const Function *kernel, int threads, size_t dynamic_bytes);

// ---- settings.c: what the environment asks for; README.md says what each variable sets.

typedef struct Settings {
    uint64_t threads; // of the host, that run blocks; 0: as many as there are cores
    uint64_t max_instructions; // of a block, until it counts as endless
    int sms, devices;
    bool together, shuffles;
    uint64_t block_order;
    bool checks, checks_leaks;
    const char *counters, *findings, *trace; // names of files, or NULL
    bool traces_all;
    uint64_t traced_block; // otherwise
    bool says_speed;
} Settings;

const Settings *sim_settings(void);
// Whether programs are checked for races and the like.
bool sim_checks(void);

#endif
