// replay.h: replays a recording (runtime/work/record.h) without the recorded program.
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdio.h>

enum { REPLAY_EQUAL = 0, REPLAY_DIFFERS = 1, REPLAY_INVALID = 2 };

// Replays a recording with the settings of the environment. Must be called only once in a process; the recording must remain
// valid in exit handlers.
//
//   without   source lines, such as "20,t19", whose barriers and fences are removed, or whose tests are if "t" precedes; may be ""
//   report    receives, as JSON, a comparison of each copy to the host with the recorded bytes, the addresses of the allocations,
//             and the error of a launch that failed
//   contents  receives the copied bytes of each copy to the host; may be NULL
//
// Returns REPLAY_DIFFERS if the bytes differ or a launch failed, and REPLAY_INVALID, after a message on stderr, if the recording
// is invalid or `without` contains a line with nothing to remove.
//
// A recording may contain lines "source NAME BYTES", each followed by a source file, which findings then quote. At a line "stop",
// the replay ends if a copy to the host differed.
int sim_replay(const char *recording, size_t bytes, const char *without, FILE *report, FILE *contents);

// Writes, as JSON, the lines of a recording's kernels that `without` may name. Returns REPLAY_EQUAL or REPLAY_INVALID.
int sim_report_lines(const char *recording, size_t bytes, FILE *report);

#endif
