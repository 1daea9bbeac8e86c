// running.h: functions shared by the files that run a warp.
//
// Owned by the block: only its host thread calls these, without a lock. Frames and splits come from the block's arena, and
// free lists reuse them.
#ifndef RUNNING_H
#define RUNNING_H

#include "machine/observer.h"

// ---- frames.c

// Makes the first `bytes` of every thread's local memory usable; fills the new ones with poison.
void sim_extend_local(Block *block, size_t bytes);
// Initialises the kernel's frame for a new block; creates it for the first.
void sim_enter_kernel(Warp *w);
// Removes lanes from the frame, at return or exit; frees it with the last lane.
void sim_leave_frame(Block *b, Frame *f, uint32_t mask);
// Executes a call for the split's lanes; different callees of an indirect call run one after another.
void sim_call(Warp *w, WarpSplit *p, const Instr *i);
// Returns from a device function.
void sim_return_to_caller(Warp *w, WarpSplit *p);

// ---- splits.c

// Makes a split that runs before the warp's others. `parent`, or NULL, waits for it and already counts it in `children`.
WarpSplit *sim_new_split(Warp *w, WarpSplit *parent, Frame *frame, uint32_t mask, uint32_t pc, uint32_t reconvergence_pc);
// Frees the split; its parent continues if this was the last child.
void sim_end_split(Warp *w, WarpSplit *p);
// Divides the split at a branch: the lanes of `mask` continue at `pc`, the others at other_pc. The two parts reconverge at
// reconvergence_pc, or, if that is NO_INDEX, where the split ends.
void sim_diverge(Warp *w, WarpSplit *p, uint32_t reconvergence_pc, uint32_t mask, uint32_t pc, uint32_t other_pc);
// Makes a polling split the last in its warp's list, because another split may have to write what it polls.
void sim_move_to_back(Warp *w, WarpSplit *p);
// The lanes that have arrived at the reconvergence point of a waiting split.
uint32_t sim_lanes_at_reconvergence(const Warp *w, const WarpSplit *p);
// Lets the arrived lanes continue without the others.
void sim_release_reconverged(Warp *w, WarpSplit *p, uint32_t arrived);

// The pc at which the split ends: its reconvergence point, or NO_INDEX in a function that it has called.
static inline uint32_t sim_split_end(const WarpSplit *p)
{
    return p->parent && p->parent->frame == p->frame ? p->reconvergence_pc : NO_INDEX;
}

// Records a jump, for the checker. An unconditional one is attributed to the instruction before it, where the path
// ends; a chain of unconditional jumps counts as one.
static inline void sim_note_jump(WarpSplit *p, uint32_t from, uint32_t to)
{
    const bool is_unconditional = p->frame->function->program->code[from].guard == NO_OFFSET;
    if (!is_unconditional)
        p->jump_from = from;
    else if (p->jump_from == NO_INDEX || p->jump_to != from)
        p->jump_from = from ? from - 1 : 0;
    p->jump_to = to;
}

// ---- progress.c

// A hash of all registers of a frame.
uint64_t sim_frame_hash(const Frame *f);
// Counts an iteration of the loop that `back_edge` closes. The split is in a livelock if the loop writes no memory, its
// registers are those of the previous comparison, and since then all other splits have only been in such loops.
void sim_count_iteration(Warp *w, WarpSplit *p, const Instr *back_edge);
enum { SIM_ITERATIONS_TO_COMPARE = 512 }; // iterations from one comparison of a loop's registers to the next
// Counts an iteration of the split's current loop, if no comparison is due; otherwise returns false, without effect.
static inline bool sim_try_count_iteration(WarpSplit *p, const Instr *back_edge)
{
    if (p->loop != back_edge || p->loop_frame != p->frame || (p->iterations + 1) % SIM_ITERATIONS_TO_COMPARE == 0)
        return false;
    p->iterations++;
    p->inner_iterations = 0;
    return true;
}
// Called after a time slice: records progress, unless the split is in a loop that writes no memory.
void sim_note_progress(Warp *w, WarpSplit *p, uint64_t instructions);
// Lets starved lanes run if `running` polls, because they may have to write what it polls.
void sim_run_starved(Warp *w, WarpSplit *running);

// ---- block_barrier.c

// Executes a block barrier for the split: it arrives, and may wait.
void sim_execute_barrier(Warp *w, WarpSplit *p, const Instr *i);

#endif
