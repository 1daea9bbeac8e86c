// program.h: decoded programs: instructions with resolved operands, which the machine executes.
#ifndef PROGRAM_H
#define PROGRAM_H

#include "front/ptx.h"

// ---- decode.c: from statements to instructions

typedef struct Warp Warp;
typedef struct Instr Instr;
typedef void Handler(Warp *w, const Instr *i, uint32_t mask);

typedef enum Control { // how the interpreter loop handles an instruction; CONVERGE: warp-level operations such as a shuffle
    PLAIN, BRANCH, BRANCH_INDEXED, CALL, RETURN, EXIT, BLOCK_BARRIER, CLUSTER_BARRIER, WARP_BARRIER, CONVERGE, PHASE_TEST, UNKNOWN
} Control;

// What an instruction computes, for the analyses; from the instruction table. A function's parameters count as registers, so
// instructions that load or store parameters are OTHER_KIND.
typedef enum Kind {
    OTHER_KIND, LOAD, STORE, ATOMIC, ASYNC_COPY, ASYNC_STORE, ARRIVE_AFTER_COPIES, BULK_COPY, AWAIT_BULK, MBARRIER, FENCE, SHUFFLE,
    VOTE, MATCH, ELECT, LOGICAL_AND, LOGICAL_OR, COMPARE, SELECT, INSERT,
    MOVE, SHIFT_LEFT, PRODUCT, QUOTIENT, REMAINDER, SUM, SHIFT_RIGHT, EXTRACT, PERMUTE,
    LOGICAL_XOR, COMPLEMENT, DIFFERENCE, NEGATIVE, MULTIPLY_ADD, FUNNEL_LEFT, FUNNEL_RIGHT, DOT_PRODUCT_4,
    BIT_REVERSAL, FIND_HIGHEST_BIT,
    LOP3,            // a bitwise operation on three words, given by its truth table
    PACKED_HALVES,   // on packed pairs, if the type is packed
    CONVERT_INTEGER, // to another width
    CONVERT_ADDRESS  // between the generic address and one of a space
} Kind;

typedef enum Effect { // bits of Instr.effects
    ACCESSES = 1,           // accesses memory, even if only the thread's own
    PUBLISHES = 2,          // has an effect that other threads see: writes memory, prints, allocates, arrives at a barrier
    OBSERVES = 4,           // may observe effects of other threads
    SYNCHRONISES = 8,       // orders earlier accesses, like a fence or an mbarrier
    PUBLISHES_TO_HOST = 16, // has system scope, so the host may observe the kernel's progress
    LAUNCHES = 32,          // launches kernels, copies or fills by the device runtime
    FAILS = 64,             // ends the launch with an error

    UNCOUNTED = 128,        // has an effect that the counters of stores and atomic operations miss
    WRITES_DESTINATION = 256, // every active lane writes all bits of the first operand
    NONDETERMINISTIC = 512  // depends on more than memory and arguments, such as a clock
} Effect;

typedef struct Address { // of an operand in brackets
    uint32_t base; // frame offset of its register, or NO_OFFSET
    uint8_t base_bytes, space;
    int64_t offset;
} Address;

// Immutable after prepare.c, so host threads read it without a lock. Owned by the module's arena.
// Operands are byte offsets from Frame.registers; code addresses are indices into Program.code.
struct Instr {
    Handler *run;
    uint32_t d, a, b, c, e; // destination and sources: frame offsets of the lanes' values
    uint32_t second;        // offset of a second predicate result, or NO_OFFSET
    uint32_t carry;         // offset of the carry flag, for add.cc and similar instructions
    uint32_t members;       // offset of the member mask of a warp-level operation
    uint32_t guard;         // offset of the guard predicate, or NO_OFFSET
    bool guard_negated;
    uint8_t control;
    uint8_t kind;
    uint32_t straight_line_count; // length of the sequence of PLAIN unguarded instructions that begins here
    uint8_t op;             // selects among a handler's operations
    uint8_t type;           // of the result and, unless `from` is set, of the operands
    uint8_t from;           // type of the operands, if it differs
    uint8_t combine;        // with COMBINE: how the comparison and a predicate are combined
    uint8_t rounding;
    uint16_t flags;
    uint8_t bytes;          // size of an element that is loaded, stored, updated or shuffled
    uint8_t count;          // number of such elements
    uint8_t register_bytes; // size of the register of an element, or of a conversion's result
    uint8_t source_bytes;   // size of a conversion's source register
    uint32_t target;        // of a branch
    uint32_t reconvergence_pc; // of a branch; NO_INDEX: use the enclosing branch's
    uint16_t loop;          // of a branch or load: flags such as READ_ONLY_LOOP
    uint32_t target_count;  // of an indexed branch
    uint32_t groups;        // pending groups that cp.async.wait_group allows
    Address at;             // of a load, a store or an atomic operation
    uint8_t semantics, scope; // memory order and scope of that access
    uint16_t effects;
    uint32_t opcode;        // of a warp-level operation: number of its opcode in the module
    uint32_t *elements;     // frame offsets of the elements of a vector, a load, a store or an atomic operation
    uint32_t *values;       // frame offsets of an atomic operation's operands
    union {
        const struct CallSite *call; // of a CALL, or of a call of a built-in function
        const Address *addresses;    // of a copy or an mbarrier
        const uint32_t *targets;     // of an indexed branch
        const struct VideoOperation *video;
        const struct MatrixOperation *matrix; // of the tensor cores
    };
    uint32_t site;      // number of the instruction for the checker (sites.c)
    const Statement *statement;
    const char *reason; // of UNKNOWN: the syntax error; NULL if the table has no such instruction
};

// True if an element of a vector operand is `_`, which discards a result.
static inline bool is_sink(const Instr *i, int element)
{
    return i->elements[element] == NO_OFFSET;
}

enum { ROUND_NEAREST, ROUND_ZERO, ROUND_DOWN, ROUND_UP, ROUND_AWAY }; // Instr.rounding
typedef enum Semantics { WEAK, VOLATILE, RELAXED, ACQUIRE, RELEASE, ACQUIRE_RELEASE } Semantics; // Instr.semantics
enum { NO_SCOPE, BLOCK_SCOPE, CLUSTER_SCOPE, DEVICE_SCOPE, SYSTEM_SCOPE };                       // Instr.scope
enum { ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_INC, ATOMIC_DEC, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR, ATOMIC_EXCH,
       ATOMIC_CAS };                               // Instr.op of atom and red
enum { COMBINE_AND, COMBINE_OR, COMBINE_XOR }; // Instr.combine
enum { FUNNEL_CLAMPS, FUNNEL_WRAPS }; // Instr.op of a FUNNEL_LEFT or FUNNEL_RIGHT
enum { COMPARES_EQUAL, COMPARES_NOT_EQUAL, COMPARES_LESS, COMPARES_NOT_LESS, COMPARES_GREATER,
       COMPARES_NOT_GREATER };                         // Instr.op of a COMPARE of integers
enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR };      // Instr.op of bar
enum { CLUSTER_ARRIVE, CLUSTER_WAIT };                         // Instr.op of barrier.cluster
enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, SHUFFLE_INDEX }; // Instr.op of shfl
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };            // Instr.op of vote
enum { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR, REDUCE_XOR }; // Instr.op of redux
enum { // Instr.flags
    FLUSH = 1, SATURATE = 2, PROPAGATE_NAN = 4, RELU = 8, SIGNED_VALUE = 16, COMBINE = 32, COMBINE_NEGATED = 64,
    POLLS_OTHERS = 128, // a strong access to memory that other threads may write
    DROPS_ARRIVALS = 256, // mbarrier.arrive_drop
    WITHIN_CLUSTER = 512, // may access other blocks' shared memory
    READ_ONLY = 1024,     // ld.global.nc
    COUNTS_AS_LOAD = 4096, // an atomic operation whose result is used, with SIM_ATOMIC_LOADS
    FAST_PATH_ACCESS = 2048 // weak, in device memory, one element as wide as its register
};

enum { // Instr.loop
    READ_ONLY_LOOP = 1, // back edge of a loop that writes nothing
    POLLING_LOOP = 2,  // back edge of a read-only loop that observes other threads
    LEAVES_LOOP = 4,   // branch by which some lanes may leave a loop with memory accesses while others continue it
    IN_SPIN_LOOP = 8,  // volatile load on which the exit of its loop depends
    FEEDS_BRANCH = 16, // volatile load that a branch depends on
    REREAD = 32,       // volatile load followed in its loop by a fence and another read, as in a sequence lock
    POLLS_IN_LOOP = 64, // back edge of a loop that observes other threads
    CAS_GUESS = 128,   // weak load whose value a compare-and-swap of that word tests
    WAITS_FOR_CLOCK = 256, // back edge of a read-only loop that observes only a clock
    IS_DATA = 512      // volatile load that FEEDS_BRANCH and whose value is also data, whichever way the branch goes
};

typedef struct CallSite {
    Function *callee; // NULL: the address is in a register
    uint32_t *arguments, *results; // pairs: offset in the parameter area, bytes
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

typedef struct Slot { // frame slot of a constant or special register, filled when a frame is created
    uint32_t offset;
    uint8_t bytes;
    int special; // a Special, or -1 for a constant
    uint64_t value; // of a constant
} Slot;

// Blocks run concurrently; concurrently, with their effects on each other in block order; or one after another.
typedef enum BlockConcurrency { CONCURRENT, ORDERED_EFFECTS, SERIAL } BlockConcurrency;

typedef struct FramePart { // consecutive bytes of a frame
    uint32_t offset, bytes;
} FramePart;

enum { MAX_CAS_PARAMS = 16 }; // bits of EffectSummary.cas_params

typedef struct EffectSummary { // of some instructions, and of the functions that they call; each flag means "may"
    bool accesses;       // accesses memory that other threads can access
    bool writes;         // writes such memory, or has another visible effect: prints, allocates, arrives at a barrier
    bool observes;       // observes effects of other threads
    bool observes_block; // observes effects of threads of its block, in shared memory
    bool publishes_to_host; // uses system scope, or calls an unknown function: the host may observe its progress
    bool synchronises;   // orders threads by other means than barriers of whole blocks and warps
    bool has_fences;     // has fences, acquires or releases of device scope
    bool partial_warp_barriers; // has barriers for some lanes of a warp
    bool launches;       // launches kernels
    bool reads_volatile; // has volatile loads
    bool uses_reserved_shared; // uses the shared memory that CUDA reserves for cooperative groups
    bool nondeterministic; // depends on more than memory and arguments, such as a clock
    bool has_effects;    // has effects other than on registers of its lanes and local memory
    bool stores_flags;   // has volatile or relaxed stores to global memory
    bool loads_flags;    // has volatile or relaxed loads from global memory whose value may be a flag
    bool has_ordering;   // has barriers or fences
    bool accesses_beyond_params; // accesses memory that is not local, constant or addressed by its pointer parameters
    bool stores_at_params; // stores through its pointer parameters
    uint16_t cas_params; // a bit for each pointer parameter that a compare-and-swap uses
} EffectSummary;

typedef struct PointerOrigin { // the variable or parameter that a pointer is derived from
    const Variable *variable; // in device memory; NULL: the kernel's parameter at `offset`
    uint64_t offset;          // in bytes
} PointerOrigin;

typedef struct Stores { // static analysis: where a kernel may write
    bool known;   // false: it may write anywhere
    bool assumes_offsets; // assumes that an integer of unknown origin, added to a pointer, is an offset and not a pointer
    int count;
    PointerOrigin *targets; // array of `count` elements
} Stores;

typedef struct Program { // an executable function, in its module's arena; immutable once it is prepared
    Instr *code; // `count` instructions and a final RETURN
    uint32_t count;
    uint32_t frame_bytes, register_bytes; // registers precede constants and special registers in a frame
    Slot *slots;
    int slot_count;
    FramePart *live_in; // registers that are live on entry, zeroed when a frame is created
    int live_in_count;
    BlockConcurrency block_concurrency;
    EffectSummary effects;
    Stores stores;
    bool has_calls;
} Program;

// loops.c: updates a function's EffectSummary from its callees' current summaries, and the module's uses_reserved_shared; true if the
// summary changed.
bool sim_summarise_effects(Module *module, const Function *function);
// loops.c: true if an instruction or its callee affects more than registers of its lanes, local memory and control flow. The
// callee must be summarised.
bool sim_has_effects(const Instr *i);
// sites.c: numbers the instructions for the checker; equal accesses of one source line may share a number.
void sim_number_sites(Instr *code, uint32_t count);
const Instr *sim_instruction_at(uint32_t site); // the first instruction with this number
// prepare.c: parses, decodes and analyses a function and all functions that it may call, once; thread-safe. Call it before a launch,
// and before reading a kernel's memory requirements. Parse and decode errors are reported when a thread executes the statement.
void sim_prepare_function(Module *module, Function *function);

#endif
