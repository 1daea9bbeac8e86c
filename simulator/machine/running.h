// running.h: what the files that run a warp use of each other.
//
// All of it is the block's own: only the host thread that runs the block calls it, and no lock is held. Frames and paths
// come out of the block's arena; those that are free again stay in its lists for the next ones.
#ifndef RUNNING_H
#define RUNNING_H

#include "machine/observer.h"

// ---- frames.c

// Makes the kernel's frame ready for a new block.
void sim_enter_kernel(Warp *w);
// Lanes come back from a call, or end in it; with the last of them the frame is free.
void sim_leave_frame(Block *b, Frame *f, uint32_t mask);
// The path's lanes begin the function that they call; those that call different ones go one after the other.
void sim_call(Warp *w, WarpSplit *p, const Instr *i);
// The path has come to the end of its function, which is no kernel.
void sim_return_to_caller(Warp *w, WarpSplit *p);

// ---- splits.c

// A path that runs first of the warp's. Its parent, or NULL, waits for it, and counts it among its children already.
WarpSplit *sim_new_split(Warp *w, WarpSplit *parent, Frame *frame, uint32_t mask, uint32_t pc, uint32_t reconvergence_pc);
// Takes the path out, and lets its parent go on if it was the last that this one waited for. It belongs to nobody then.
void sim_end_split(Warp *w, WarpSplit *p);
// The path's lanes go two ways and meet at the join, or, without one, where the path ends.
void sim_diverge(Warp *w, WarpSplit *p, uint32_t reconvergence_pc, uint32_t mask, uint32_t pc, uint32_t other_pc);
// A path that asks in vain goes behind the others, which may be what it waits for.
void sim_put_last(Warp *w, WarpSplit *p);
// The lanes that have come to the join at which a path waits.
uint32_t sim_lanes_at_reconvergence(const Warp *w, const WarpSplit *p);
// Lets these lanes go on without the others that the path waits for.
void sim_release_reconverged(Warp *w, WarpSplit *p, uint32_t arrived);

// Where the path itself ends, in its function: it has come to those that wait for it.
static inline uint32_t sim_end_of(const WarpSplit *p)
{
    return p->parent && p->parent->frame == p->frame ? p->reconvergence_pc : NOWHERE;
}

// Notes that the path jumps, or went on, from the instruction at which it is. A jump to nothing but another is one.
static inline void sim_note_jump(WarpSplit *p, uint32_t from, uint32_t to)
{
    const bool always = p->frame->function->program->code[from].guard == NOWHERE;
    if (!always)
        p->jumped = from;
    else if (p->jumped == NOWHERE || p->landed != from)
        p->jumped = from ? from - 1 : 0;
    p->landed = to;
}

// ---- progress.c

// A number for what the lanes of a frame hold.
uint64_t sim_state_of(const Frame *f);
// The path goes round a loop once more. Where the loop changes nothing in memory, its registers are the same as when
// it was looked at last, and since then nobody else has done anything but go round such loops, it goes round for
// ever.
void sim_count_iteration(Warp *w, WarpSplit *p, const Instr *turn);
enum { SIM_ITERATIONS_TO_COMPARE = 512 }; // of a loop, until its registers are compared with what they were
// The same where this is its loop already, and no look is due; else false, and nothing is changed.
static inline bool sim_counts_iteration_fast(WarpSplit *p, const Instr *turn)
{
    if (p->loop != turn || p->loop_frame != p->frame || (p->iterations + 1) % SIM_ITERATIONS_TO_COMPARE == 0)
        return false;
    p->iterations++;
    p->inner_iterations = 0;
    return true;
}
// After a path's turn: has it done more than go round a loop that changes nothing?
void sim_watch_split(Warp *w, WarpSplit *p, uint64_t instructions);
// Lets lanes go on that could have all the while, but that the path that runs keeps back, as it asks for something that
// they may have to bring.
void sim_run_starved(Warp *w, WarpSplit *runs);

// ---- block_barrier.c

// The path has come to a barrier of its block, at which it arrives and perhaps waits.
void sim_come_to_barrier(Warp *w, WarpSplit *p, const Instr *i);

#endif
