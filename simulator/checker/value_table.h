// value_table.h: the undefined registers of a warp, with the origin of each value; and the origins of undefined values that a block has
// stored in shared memory, and its threads in local memory. Owned by the host thread that runs the block; only it calls these functions.
#ifndef VALUE_TABLE_H
#define VALUE_TABLE_H

#include "checker/kernel_checks.h"

static const uint64_t ALL_BITS = UINT64_MAX; // all bits of a register of any width

typedef struct UndefinedValue { // the undefined lanes of a register
    const uint8_t *address; // address of the register in its frame
    const Instr *read;    // the first load of the value
    const Instr *load;    // the last load of the value
    uint64_t from;        // global address from which one of the lanes read it; 0: not global memory
    bool shuffled;        // received from another lane
    uint8_t source;       // the Space from which the value was read, or INACTIVE_LANE for a shuffle
    uint32_t mask;        // the undefined lanes; may be 0
    uint32_t full;        // lanes in which no bit is defined, or none of those that a zero-extending load has read
    uint32_t computed;    // lanes in which the value is the result of arithmetic on an undefined value
    uint64_t bits[LANES]; // the undefined bits of each lane in `mask`
} UndefinedValue;
enum { INACTIVE_LANE = SPACES };

// The entry of a register, by its address in a frame; NULL: it has never been undefined. Valid until the next entry is added.
const UndefinedValue *sim_find_value(const Warp *w, const uint8_t *address);
// Copies the undefined bits that are in `copied`, and the origin, from one register to another.
void sim_copy_value(Warp *w, const uint8_t *to, const uint8_t *from, uint32_t mask, uint64_t copied);
// The lanes `changed` of a register become undefined or defined as in `v`, whose origin they take.
void sim_set_value(Warp *w, const uint8_t *address, uint32_t changed, const UndefinedValue *v);
// True if a store copies the value as a part of a structure: sim_copies_structure, cached.
bool sim_copies_member(const Warp *w, const UndefinedValue *v, const Instr *store);

typedef struct UndefinedBranch { // lanes of a warp that branched on an undefined value
    struct UndefinedBranch *next;
    const Instr *branch;
    bool *region; // by instruction of the function: between the branch and its reconvergence point; NULL: one has other effects
    const Frame *frame;
    uint32_t lanes; // lanes that are still in the region; 0: the entry is free for the same branch
    UndefinedValue condition;
} UndefinedBranch;

// The list of a warp's entries, and a new one.
UndefinedBranch *sim_undefined_branches(const Warp *w);
UndefinedBranch *sim_add_undefined_branch(Warp *w, const Instr *branch);
// Updates w->undefined_count, the number of undefined registers and branches in progress, after branches have ended.
void sim_count_undefined(Warp *w);

// ---- value_branches.c

// Lanes are about to branch on an undefined value. False: the region of the branch has effects other than on registers.
bool sim_begin_undefined_branch(Warp *w, const Instr *branch, uint32_t lanes, const UndefinedValue *condition);
// Called before an instruction: in lanes that have left a branch region, all registers written in the region become undefined.
void sim_end_undefined_branches(Warp *w, const Instr *i);

// ---- value_results.c

// Makes all bits of an operand's registers undefined in the lanes v->mask; sets v->bits and v->full.
void sim_set_all_undefined(Warp *w, const Operand *o, uint32_t changed, UndefinedValue *v);
// The same for the result of an instruction, which may be an argument or result of a function.
void sim_set_result_undefined(Warp *w, const Instr *i, uint32_t changed, UndefinedValue *v);

// ---- Operands, whose registers are those of w->registers

static inline uint64_t sim_low_ones(size_t bytes)
{
    return bytes >= sizeof(uint64_t) ? ALL_BITS : (1ull << 8 * bytes) - 1;
}

static inline uint64_t sim_register_bits(const Register *reg) // all bits of a lane
{
    return reg->type == PRED ? 1 : sim_low_ones((size_t)sim_type_bytes(reg->type));
}

// The entry of a register that is undefined in some lanes of `mask`, or NULL. Valid until the next entry is added.
const UndefinedValue *sim_value_of(const Warp *w, const Register *reg, uint32_t mask);
// The entry of an undefined register of an operand, which may be a vector, or NULL; adds the undefined lanes to `lanes`.
const UndefinedValue *sim_value_in(const Warp *w, const Operand *o, uint32_t mask, uint32_t *lanes);
// The lanes in which all bits of an operand are undefined; the lanes in which it was computed from an undefined value.
uint32_t sim_lanes_fully_undefined(const Warp *w, const Operand *o, uint32_t mask);
uint32_t sim_lanes_computed(const Warp *w, const Operand *o, uint32_t mask);

// A lane stores an undefined value in shared or local memory: keeps the origin and the undefined bits for these bytes.
void sim_keep_origin(Warp *w, int lane, Space space, uint64_t address, size_t bytes, const UndefinedValue *v);
// Each lane reads `bytes` bytes of shared or local memory, which start at byte `first` of its element. Returns the lanes that read a
// stored undefined value; sets the origin for the first of them, and `computed`, `full` and `bits` for each.
uint32_t sim_find_origins(const Warp *w, const Access *access, unsigned first, unsigned bytes, UndefinedValue *v);

#endif
