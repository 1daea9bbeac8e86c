// value_table.h: which registers of a warp hold what nobody wrote, and where that came from; the same of values that a block has
// stored in its shared memory and its threads' local memory. The block's own: only the host thread that runs it calls these functions.
#ifndef VALUE_TABLE_H
#define VALUE_TABLE_H

#include "checker/kernel_checks.h"

typedef struct Value { // lanes of a register that hold what nobody wrote
    const uint8_t *lanes;
    const Instr *read; // where it came from memory,
    const Instr *load; // and from where it came last
    uint64_t from;     // that place in global memory, of one of these lanes; 0: it was another memory
    bool exchanged;    // it was another lane's
    uint8_t what;      // which memory that was where it was read: a Space; or STRANGER: from a lane that takes no part in a shuffle
    uint32_t mask;     // 0: none any more
    uint32_t computed; // of these lanes those in which it was computed from such a value
    uint32_t partial;  // of these lanes those of which somebody has set some bits since,
    uint64_t *bits;    // and which of each lane nobody has, in a register of any width; NULL: there were none as yet
} Value;
enum { STRANGER = SPACES };

// What a register holds, by its lanes in a frame; or NULL: it has held no such value. It stays there until another one comes.
const Value *sim_find_value(const Warp *w, const uint8_t *lanes);
// From now on these lanes of a register hold such a value, and no others of `changed` do. The bits of the origin are those of
// its partial lanes.
void sim_set_value(Warp *w, const uint8_t *lanes, uint32_t changed, uint32_t mask, const Value *origin);
// Whether a store copies it as a part of a structure, as sim_copies_structure has it.
bool sim_is_structures(const Warp *w, const Value *v, const Instr *store);

enum { MOST_STRETCHES = 24 };
typedef struct Ways { // of a branch, until they meet again: stretches of instructions, wherever the compiler has put them
    int count;
    struct { const Instr *first, *end; } stretches[MOST_STRETCHES];
} Ways;

typedef struct Undecided { // lanes of a warp about which a branch of theirs has decided by such a value
    const Frame *frame;
    Ways ways;
    uint32_t lanes; // that have not left them; 0: none any more
    Value by;
} Undecided;

// Room for another one, or NULL; the k-th of a warp, or NULL: there are no more.
Undecided *sim_new_undecided(Warp *w);
Undecided *sim_undecided(const Warp *w, int k);
// A warp that has some counts as one that holds values: some have ended.
void sim_count_undefined(Warp *w);

// ---- value_branches.c

// A branch is about to be decided by a value, for these lanes. False: more than registers depends on it.
bool sim_begin_undecided(Warp *w, const Instr *branch, uint32_t lanes, const Value *by);
// Before an instruction: lanes that have come to the end of a branch's ways hold what nobody wrote where these write.
void sim_end_undecided(Warp *w, const Instr *i);

// ---- Of an operand

// In the lanes of mask a result holds such a value where `lanes` says so, and none in the others (value_results.c).
void sim_set_operand(Warp *w, const Operand *o, uint32_t mask, uint32_t lanes, const Value *origin);
// What a register holds in some lanes of mask, or NULL.
const Value *sim_value_of(const Warp *w, const Register *reg, uint32_t mask);
// The value that an operand holds in some lanes of mask, and in which.
const Value *sim_value_in(const Warp *w, const Operand *o, uint32_t mask, uint32_t *lanes);
// The lanes in which all that an operand holds is such a value, of which nobody has set a bit; those in which it was computed from one.
uint32_t sim_lanes_unset(const Warp *w, const Operand *o, uint32_t mask);
uint32_t sim_lanes_computed(const Warp *w, const Operand *o, uint32_t mask);

// After a store: such a value is in memory now (values.c).
void sim_follow_store(Warp *w, const Instr *i, uint32_t mask);

// A lane stores the value in some bytes of shared or local memory: from where it came is kept there, and which of its bits nobody wrote.
void sim_keep_origin(Warp *w, int lane, Space space, uint64_t address, size_t bytes, const Value *v);
// Of some bytes that each lane reads there, from the `first` one on: the lanes that get what a store has brought and nobody wrote. Sets
// from where it came to the first of them and, of each, whether it was computed and which bits nobody has set, if somebody has set some.
uint32_t sim_find_origins(const Warp *w, const Access *access, unsigned first, unsigned bytes, Value *v);

#endif
