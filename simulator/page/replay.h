// replay.h: runs a recording (runtime/work/record.h) again, where the program that was recorded is not.
#ifndef REPLAY_H
#define REPLAY_H

#include <stddef.h>
#include <stdio.h>

enum { REPLAY_RIGHT = 0, REPLAY_DIFFERS = 1, REPLAY_REFUSED = 2 };

// Does what the recording says, with the settings of the environment. `without` names source lines whose barriers and
// fences are left out, and, behind a t, lines whose tests are: "20,t19"; it may be empty. Writes to `report`, as JSON,
// what each copy to the host brought, beside what it had brought when it was recorded.
//
// REPLAY_DIFFERS: not the same, or a launch failed. REPLAY_REFUSED, and a line on stderr: the recording is damaged, or
// there is nothing to leave out. Once a process. The recording must stay until the process ends.
//
// A recording may also have, anywhere, lines "source NAME BYTES" with a file of the program's source behind them: so
// findings quote it where there are no files.
int sim_replay(const char *recording, size_t bytes, const char *without, FILE *report);

// Writes, as JSON, which lines of a recording's kernels can be left out. The same status.
int sim_report_lines(const char *recording, size_t bytes, FILE *report);

#endif
