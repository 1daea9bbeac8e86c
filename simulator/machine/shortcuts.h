// shortcuts.h: work that is counted without being executed, because its effects are known:
//
//   idle blocks         at the end of a grid: their threads return because their index is out of range (skipped_blocks.c)
//   memoised launches   find memory as an earlier launch found it, and get its results (runtime/work/repeats.h)
//
// Memory, counters and findings are the same without shortcuts.
#ifndef SHORTCUTS_H
#define SHORTCUTS_H

#include "machine/block.h"

// False with SIM_REPEAT=1, the one switch of all shortcuts.
static inline bool sim_takes_shortcuts(void)
{
    return !sim_settings()->takes_no_shortcuts;
}

// Counts the idle blocks of a launch that is about to run, and reduces `blocks_to_run`. A launch that is traced, shuffled or time-sliced
// runs all blocks.
void sim_skip_idle_blocks(Launch *launch);

#endif
