// program.h: what a text becomes: instructions with resolved operands, which the machine runs.
#ifndef PROGRAM_H
#define PROGRAM_H

#include "front/ptx.h"

// ---- decode.c: statements become instructions with resolved operands.

typedef struct Warp Warp;
typedef struct Instr Instr;
typedef void Handler(Warp *w, const Instr *i, uint32_t mask);

typedef enum Control { // what the warp's loop itself has to do
    PLAIN, BRANCH, BRANCH_INDEXED, CALL, RETURN, EXIT, BLOCK_BARRIER, CLUSTER_BARRIER, WARP_BARRIER, CONVERGE, PHASE_TEST, UNKNOWN
} Control;

// What an instruction is, for those who want to know more of it than what carries it out; and, in bits, what it does to
// others. The row of the table says both: nobody asks for a handler's address or an opcode's text. A function's parameter
// counts as a register: what loads or stores it is of no kind.
typedef enum Kind {
    OTHER_KIND, LOAD, STORE, ATOMIC, ASYNC_COPY, ASYNC_STORE, ARRIVE_AFTER_COPIES, BULK_COPY, AWAIT_BULK, MBARRIER, FENCE, SHUFFLE,
    VOTE, MATCH, ELECT, LOGICAL_AND, LOGICAL_OR, COMPARE, SELECT, INSERT,
    MOVE, SHIFT_LEFT, PRODUCT, QUOTIENT, REMAINDER, SUM, SHIFT_RIGHT, EXTRACT, PERMUTE,
    LOGICAL_XOR, COMPLEMENT, DIFFERENCE, NEGATIVE, PRODUCT_AND_SUM, FUNNEL_LEFT, FUNNEL_RIGHT, DOT_OF_BYTES,
    BIT_REVERSAL, HIGHEST_BIT,
    LOGICAL_TABLE, // of three words, bit by bit
    BY_HALVES,     // of a register that has two numbers, if its type says so
    WIDEN          // a whole number becomes one of another width
} Kind;

typedef enum Effect {
    ACCESSES = 1,    // memory; where that is the thread's own, nobody else learns of it
    PUBLISHES = 2,       // writes to memory, or lets others know in another way: prints, allocates, arrives at a barrier
    OBSERVES = 4,        // what others did
    SYNCHRONISES = 8,  // as a fence or an mbarrier: orders what threads did before
    PUBLISHES_TO_HOST = 16, // how far the kernel is, perhaps: it uses the scope of the system
    LAUNCHES = 32,   // kernels, or has the device copy or fill
    FAILS = 64,      // ends the launch with an error
    UNCOUNTED = 128, // has an effect that no counter of stores and atomic operations shows
    SETS_FIRST = 256, // its first operand is written, in all its bits, by every lane that is on
    VARIES = 512     // depends on what is neither memory nor an argument: a clock
} Effect;

typedef struct Address { // of an operand in brackets
    uint32_t base; // its register, or NOWHERE
    uint8_t base_bytes, space;
    int64_t offset;
} Address;

// In the array of its Program; never changes once decode.c and flow.c are through with it, so that host threads read it
// without a lock. Places of operands are offsets in bytes from Frame.lanes on; those of code are indices into that
// array.
struct Instr {
    Handler *run;
    uint32_t d, a, b, c, e; // operands: offsets of their lanes in the frame
    uint32_t second;        // a second predicate that is written, or NOWHERE
    uint32_t carry;         // where add.cc and the like keep it
    uint32_t members;       // lanes that take part in an operation between them: an offset, too
    uint32_t guard;         // predicate, or NOWHERE
    bool guard_negated;
    uint8_t control;
    uint8_t kind;
    uint32_t straight_line;      // so many instructions from this one on are PLAIN and have no guard
    uint8_t op, type, from; // which of a handler's operations; types of the result, or of all, and of the operands
    uint8_t combine;        // how a comparison and a predicate become one, with COMBINE
    uint8_t rounding;
    uint16_t flags;
    uint8_t bytes, count;   // of a value that is moved or exchanged; values
    uint8_t register_bytes; // of the registers that hold such a value, or a conversion's result
    uint8_t source_bytes;   // of the register that holds what is converted
    uint32_t target, reconvergence_pc;  // where a branch goes, and where its lanes meet again; NOWHERE: where others do
    uint16_t loop;          // of a branch, or a load: QUIET_LOOP and so on
    uint32_t target_count;  // of an indexed branch
    uint32_t groups;        // of copies that cp.async.wait_group does not wait for
    Address at;             // of a load, a store or an atomic operation,
    uint8_t semantics, scope; // and how it is ordered
    uint16_t effects;
    uint32_t opcode; // of an operation between lanes: the same number where the opcode is the same
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
enum { COMBINE_AND, COMBINE_OR, COMBINE_XOR }; // Instr.combine
enum { FUNNEL_CLAMPS, FUNNEL_WRAPS }; // Instr.op of a FUNNEL_LEFT or FUNNEL_RIGHT
enum { COMPARES_EQUAL, COMPARES_LESS, COMPARES_MORE }; // or the opposite: Instr.op of a COMPARE
enum { BAR_SYNC, BAR_ARRIVE, BAR_POPC, BAR_AND, BAR_OR }; // of bar
enum { CLUSTER_ARRIVE, CLUSTER_WAIT };                    // of barrier.cluster
enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, SHUFFLE_INDEX }; // of shfl
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };            // of vote
enum { REDUCE_ADD, REDUCE_MIN, REDUCE_MAX, REDUCE_AND, REDUCE_OR, REDUCE_XOR }; // of redux
enum { FLUSH = 1, SATURATE = 2, NAN_WINS = 4, RELU = 8, SIGNED_VALUE = 16, COMBINE = 32,
       COMBINE_NEGATED = 64, POLLS_OTHERS = 128, // the latter: of a strong access to memory of others
       DISCARDS = 256, WITHIN_CLUSTER = 512, READ_ONLY = 1024,
       FAST_PATH_ACCESS = 2048 }; // it loads or stores one element, as wide as its register, in device memory, weakly. Instr.flags

// Instr.loop: the branch turns a loop that changes nothing in memory; that also asks there what others did; some lanes
// may leave a loop by it that loads or stores; what is loaded decides whether a loop goes on;
// is looked at again in the loop, behind a fence; is plain, and a compare-and-swap of the same word tests it; the branch
// turns a loop that changes nothing, asks nobody, and looks at a clock
enum { QUIET_LOOP = 1, POLLING_LOOP = 2, LEAVES_LOOP = 4, IN_SPIN_LOOP = 8, FEEDS_BRANCH = 16, REREAD = 32, POLLS_IN_LOOP = 64,
       CAS_GUESS = 128, WAITS_FOR_CLOCK = 256 };

typedef struct CallSite {
    Function *callee; // NULL: the address is in a register
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
typedef enum BlockOrder { CONCURRENT, ORDERED_EFFECTS, SERIAL } BlockOrder;

typedef struct FramePart { // of a frame
    uint32_t offset, bytes;
} FramePart;

enum { MAX_CAS_PARAMS = 16 }; // parameters of a function

typedef struct EffectSummary { // of some instructions, and of the functions that they call
    bool accesses;       // memory that is not the thread's own
    bool writes;         // such memory, or makes something visible in another way: prints, allocates, arrives
    bool observes;       // polls what other threads do,
    bool observes_block; // or those of its block, in shared memory
    bool publishes_to_host; // uses system scope, or calls an unknown function: the host may see how far it is
    bool synchronises;   // may order threads by more than barriers of whole blocks and warps
    bool fences;         // at device scope, or acquires or releases at it
    bool some_lanes;     // may have barriers for some lanes of a warp
    bool launches;       // kernels
    bool reads_volatile; // has volatile loads
    bool reserved;       // asks for the address of the shared memory that CUDA reserves for cooperative groups
    bool varies;         // depends on more than memory and arguments
    bool has_effects;        // more than registers of its own lanes, and local memory
    bool stores_flags;   // perhaps: has volatile or relaxed stores to global memory
    bool loads_flags;    // perhaps: has such loads
    bool orders;         // has barriers or fences
    bool uses;           // memory that is neither its thread's own nor constant, but for compare-and-swaps and loads at its parameters
    bool stores_at_params;
    uint16_t cas_params; // compares and swaps at these parameters, a bit each
} EffectSummary;

typedef struct PointerOrigin { // where an address comes from: a variable in device memory or, without one, the kernel's parameter at this byte
    const Variable *variable;
    uint64_t offset;
} PointerOrigin;

typedef struct Stores { // into what a kernel may write, as far as that is known before it runs
    bool known;   // else anywhere
    bool assumed; // of an unknown number and these, which were added, it was not the former that pointed
    int count;
    PointerOrigin *into;
} Stores;

typedef struct Program { // an executable function; in its module's arena, and constant like its instructions once it is ready
    Instr *code; // `count` instructions and an end, which returns
    uint32_t count;
    uint32_t frame_bytes, register_bytes; // registers come first in a frame
    Slot *slots;
    int slot_count;
    FramePart *ranges; // of the registers that may be read before they are written: they start as zero
    int range_count;
    BlockOrder order;
    EffectSummary effects;
    Stores stores;
    bool calls;
} Program;

// Finds out what a function does, as far as is known of those that it calls; whether that is new: loops.c.
bool sim_summarise_effects(const Function *function, bool for_debugger);
// Whether an instruction does more than to set registers and local memory of its own lanes, and to go on among them; or a function
// that it calls does, of which all is known (sim_summarise_effects).
bool sim_has_effects(const Instr *i);
// Gives each instruction its number, by which an observer knows it; and the instruction that has one: sites.c.
void sim_number_sites(Instr *code, uint32_t count);
const Instr *sim_instruction_at(uint32_t site);
// Finds out what a program's ways tell, before it runs: flow.c. The module's arena holds what stays.
void sim_analyse(Arena *module, const Function *function, Program *program);
// Makes a function ready to run, with all that it may call, if it is not: ready.c. A launch, and who asks how much memory a
// kernel takes, come behind this; several threads may. What cannot be read or decoded is told when a thread comes to it.
void sim_make_ready(Module *module, Function *function);

#endif
