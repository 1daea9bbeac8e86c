// replay.h: replays a recording (runtime/work/record.h) without the recorded program.
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdio.h>

enum { REPLAY_EQUAL = 0, REPLAY_DIFFERS = 1, REPLAY_INVALID = 2 };

// Replays a recording with the settings of the environment. Call it once in a process; the recording must outlive the
// process's exit handlers.
//
//   without   source lines whose barriers and fences are removed or, after a t, whose tests are, as in "20,t19"; may be empty
//   report    receives, as JSON, a comparison of each copy to the host with the recorded bytes, the addresses of the allocations,
//             and the error of a launch that failed
//   contents  receives the bytes of each copy to the host; may be NULL
//
// REPLAY_DIFFERS: the bytes differ, or a launch failed. REPLAY_INVALID, with a line on stderr: the recording is invalid, or
// `without` names a line with nothing to remove.
//
// A recording may contain lines "source NAME BYTES", each followed by a source file, which findings then quote; and lines "stop",
// where the replay ends if a copy to the host differed.
int sim_replay(const char *recording, size_t bytes, const char *without, FILE *report, FILE *contents);

// Writes, as JSON, the lines of a recording's kernels that `without` may name. Returns REPLAY_EQUAL or REPLAY_INVALID.
int sim_report_lines(const char *recording, size_t bytes, FILE *report);

#endif
