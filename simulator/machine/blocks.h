// blocks.h: what the files that run a launch's blocks use of each other.
//
// A block is its host thread's own, from when it was made until it is freed: no lock is held. What the blocks of a launch
// share is atomic (which one begins next, how many have ended), or under workers.c's lock (which one went wrong).
#ifndef BLOCKS_H
#define BLOCKS_H

#include "machine/observer.h"

typedef enum Departure { NONE, FAULT, RESTART, ABANDONED, WAITS_FOR_LATER } Departure; // how a block's run was left

// ---- block.c

// Memory for a block that a host thread runs; NULL where there is none left.
Block *sim_new_block(Launch *launch);
void sim_free_block(Block *b);
// The block becomes the one that has this place in the launch's order, and is about to begin.
void sim_start_block(Block *b, uint64_t place);
// Forgets what the block had begun to do; what it counts goes on from these.
void sim_clear_block(Block *b, const Counters *counters);
// Each of the block's warps has a turn. Leaves by b->on_fault where none of them gets on any more.
void sim_run_warps(Block *b);

// ---- deadlock.c

bool sim_waits_for_cluster(const Block *b);
// Lets lanes go on that wait at a join, where those that they wait for wait for them: at a barrier perhaps for any of
// them, else for those that an operation between lanes names. False if there are none.
bool sim_open_joins(Block *b);
// Whether a warp goes round a loop, or waits for other blocks, and all others wait or do the same: for what only other
// blocks could bring.
bool sim_is_block_stuck(const Block *b);
// Lets other lanes of its warps run that could, and that those which run keep back; false where there are none.
bool sim_let_other_lanes_run(Block *b);
// Whether blocks behind this one may bring what it waits for.
bool sim_may_wait_for_later(const Block *b);
// Where nobody else has done anything that the block could not have seen, it goes on where it is, and those behind it
// take turns with it. CUDA promises that only for cooperative launches. A line will say why.
#define SIM_WAITS_FOR_LATER "its blocks wait for later ones"
void sim_go_on_together(Block *b, const char *why);
// Whether a warp goes round a loop that asks what others did.
bool sim_asks_others(const Block *b);
// These name what the block waits for, and leave by b->on_fault.
_Noreturn void sim_report_deadlock(Block *b);
_Noreturn void sim_report_stuck(Block *b);
_Noreturn void sim_report_limit(Block *b, uint64_t instructions);

// ---- workers.c

// Runs each of the launch's blocks to its end; or until one waits for later ones, which is launch->held then.
void sim_run_blocks(Launch *launch);
// How many host threads would do that.
int sim_worker_count(const Launch *launch);
// Frees the block, if there is one, when the launch has got what it has counted.
void sim_end_block(Launch *launch, Block *b);
// Of a block that went wrong: the launch has gone wrong with it, unless an earlier one has.
void sim_record_fault(Launch *launch, const Block *b);
// There was no memory for a block.
void sim_report_memory(Launch *launch);

// ---- skipped_blocks.c

// Counts the blocks at the end of the grid that would do nothing but count, and leaves them out of those that run.
void sim_leave_out_idle_blocks(Launch *launch);

// ---- together.c

// Runs as many whole clusters at once as the device holds, in turns. The first block that goes wrong ends the launch.
void sim_run_together(Launch *launch);
// One of the blocks waits for later ones: it goes on, and they take turns with it.
void sim_go_on_from_held(Launch *launch);
// Says so, once for each of the first kernels.
void sim_say_together(const Launch *launch);

#endif
