// findings.h: what the checker has found in a program, and how it is told.
#ifndef FINDINGS_H
#define FINDINGS_H

#include "machine/block.h"

typedef enum FindingKind {
    RACE_SHARED, RACE_GLOBAL, RACE_HOST, OUT_OF_BOUNDS, MISALIGNED, USE_AFTER_FREE, HOST_POINTER, DOUBLE_FREE, LEAK,
    UNINITIALISED, BARRIER_MISUSE, LANES_MISUSE, MBARRIER_MISUSE, LAUNCH_FAULT, UNCHECKED_ERROR,
    FINDING_KINDS
} FindingKind;

typedef struct Place { // one side of a finding
    char access[200]; // what was done there: "writes 4 bytes"
    char kernel[200]; // empty: the host did it
    char file[400];   // empty: unknown
    int line;
    char caller[120];      // on the host: "file:line" that called the function of this line; empty: unknown
    uint64_t block_number; // of the first example, and its index
    dim3 block, thread;
} Place;

enum { FINDINGS_STATUS = 88 }; // a program with findings ends with it

// Where a thread of a block is: at instruction i. `access` says what it does there.
Place sim_place_of(const Launch *launch, uint64_t block_number, uint32_t thread, const Instr *i, const char *access);
// The line of the host's source that calls the runtime now, or that holds the instruction that failed; the line of a
// call that comes back to an address. host_lines.c says when they are known.
void sim_find_host_line(const void *instruction, Place *p);
void sim_find_line_before(const void *return_address, Place *p);
// Adds a finding. Of those of one kind at the same places there is one, and a count; the example is the one in the
// first block. Title and hint are sentences; the hint may be empty. May be called by any host thread.
void sim_add_finding(FindingKind kind, const char *title, const Place *places, int count, const char *hint);

// What tells a finding of a launch from its others without their words: the instructions that it is about, and what is wrong.
typedef struct Cause {
    const Launch *launch;
    const Instr *first, *second; // the second may be NULL
    int what;
} Cause;

typedef struct Example { // who did it
    uint64_t block_number;
    uint32_t thread; // of the block
} Example;

// The same for a finding with a cause. Its words are needed only where sim_find_once_more says so.
void sim_add_finding_of(const Cause *cause, FindingKind kind, const char *title, const Place *places, int count, const char *hint);
// Counts a finding that has been added with this cause, in the launch that runs. False: it has not, or one of these threads
// may be an earlier example.
bool sim_find_once_more(const Cause *cause, const Example *threads, int count);
// Adds what ended a launch.
void sim_add_fault(const Launch *launch);
// A kernel needs what the simulator has not: without findings the program ends with CANNOT_RUN, for its result is worth nothing.
void sim_note_lack(void);
// Says on stderr what has been found since it was last asked: at the end of each launch, and of the program.
void sim_say_findings(void);
int sim_count_findings(void);

enum { MOST_FINDINGS = 200 }; // more are counted, and not kept
typedef struct TimesFound { // how often each of them was found, in the order in which they were first
    int count;
    uint64_t left_out, times[MOST_FINDINGS];
} TimesFound;
TimesFound sim_times_found(void);
// How often each was found between two moments; false: something new was.
bool sim_found_more_often(const TimesFound *before, const TimesFound *behind, TimesFound *more);
void sim_find_again(const TimesFound *more); // each so often, without another example
// Ends the program now, in the midst of an access that cannot be made. Does not return, as there is a finding.
void sim_end_with_findings(void);

#endif
