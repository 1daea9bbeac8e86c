// blocks.h: functions shared by the files that run the blocks of a launch.
//
// A block is owned by its host thread, so its functions take no lock. What the blocks of a launch share is atomic
// (next_block, ended_blocks) or guarded by the lock of workers.c (the fault).
#ifndef BLOCKS_H
#define BLOCKS_H

#include "machine/observer.h"

typedef enum ExitReason { NONE, FAULT, RESTART, ABANDONED, NEEDS_LATER_BLOCKS } ExitReason; // reason for the longjmp to on_fault

// ---- block.c

// Allocates a block, which a worker reuses; NULL if out of memory.
Block *sim_new_block(Launch *launch);
void sim_free_block(Block *b);
// Initialises the block as the one at this position of the start order.
void sim_start_block(Block *b, uint64_t start_index);
// Discards the block's state, before it runs again or another block uses it; its counters become `counters`.
void sim_clear_block(Block *b, const Counters *counters);
// Runs each warp for one time slice. Leaves through on_fault if no warp can make progress.
void sim_run_warps(Block *b);

// ---- deadlock.c

bool sim_waits_for_cluster(const Block *b);
// Releases lanes that wait for reconvergence while other lanes wait for them: any lanes if threads of the block wait at a
// barrier, otherwise only those that a warp-level operation names. False if there are none.
bool sim_release_waiting_lanes(Block *b);
// True if every warp waits or is in a loop without progress, and only other blocks could change that.
bool sim_is_block_stuck(const Block *b);
// Makes the block's warps run lanes that a polling split starves; false if there are none.
bool sim_run_other_lanes(Block *b);
// True if the launch has later blocks that could still start and release this one.
bool sim_has_later_blocks(const Block *b);
// If this block is the earliest that has not ended, time-slices it with the later blocks, and does not return. CUDA
// guarantees concurrent blocks only for cooperative launches, so a message on stderr gives `why`.
#define SIM_NEEDS_LATER_BLOCKS "its blocks wait for later ones"
void sim_switch_to_time_slicing(Block *b, const char *why);
// True if a warp is in a loop that polls memory.
bool sim_is_polling(const Block *b);
// These three report what the block waits for, and leave through on_fault.
_Noreturn void sim_report_deadlock(Block *b);
_Noreturn void sim_report_stuck(Block *b, const char *note); // `note` is appended to the message
_Noreturn void sim_report_limit(Block *b, uint64_t instructions);

// ---- livelock.c

// Called after every round: true if the block's state and its changes of memory equal those of an earlier round, so that it repeats for
// ever unless other blocks intervene. Compares no round before the 33rd, and finds no repetition that is longer than the rounds before it.
bool sim_state_repeats(Block *b);
// The block's state repeats. True if it will repeat forever: no other block runs, no atomic operation has changed memory in between, and
// no warp has other lanes to run. The first call waits for earlier blocks, and starts the check again.
bool sim_is_livelocked(Block *b);

// ---- workers.c

enum { MAX_WORKERS = 64 }; // host threads of a launch
// Runs the launch's blocks to their end, or until one waits for later blocks, which becomes launch->suspended_block.
void sim_run_blocks(Launch *launch);
int sim_worker_count(const Launch *launch);
// Adds the block's counters to the launch and frees it. NULL is allowed.
void sim_end_block(Launch *launch, Block *b);
// Copies the block's fault to the launch, unless an earlier block has failed.
void sim_record_fault(Launch *launch, const Block *b);
// Sets the launch's error to "out of memory" after the allocation of a block failed.
void sim_report_out_of_memory(Launch *launch);

// ---- speculation.c

// Counts the end of a block, for the blocks that wait in sim_wait_for_earlier_blocks.
void sim_note_block_end(Launch *launch);

// ---- run_time.c

double sim_monotonic_seconds(void);
double sim_begin_run_time(void); // at the start of each launch; returns sim_monotonic_seconds()
// Called after each round of a block, by any worker: reports the progress of a long run on stderr; at the limit of $SIM_TIME_LIMIT,
// reports the findings and exits with status 124, or that of the findings.
void sim_check_run_time(const Launch *launch);

// ---- time_slicing.c

// Runs as many whole clusters at once as the device holds, time-sliced on one host thread. The first fault ends the launch.
void sim_run_time_sliced(Launch *launch);
// Continues the suspended block, time-sliced with the later ones.
void sim_resume_suspended_block(Launch *launch);
// Reports the switch to time-slicing on stderr, once for each of the first eight kernels.
void sim_report_time_slicing(const Launch *launch);

#endif
