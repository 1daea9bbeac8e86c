// findings.h: what the checker has found in a program, and how it is reported.
#ifndef FINDINGS_H
#define FINDINGS_H

#include "machine/block.h"

typedef enum FindingKind {
    RACE_SHARED, RACE_GLOBAL, RACE_HOST, OUT_OF_BOUNDS, MISALIGNED, USE_AFTER_FREE, HOST_POINTER, INVALID_FREE, LEAK,
    UNINITIALISED, BARRIER_DIVERGENCE, INVALID_WARP_OPERATION, INVALID_MBARRIER_OPERATION, LAUNCH_FAULT, UNCHECKED_ERROR,
    FINDING_KINDS
} FindingKind;

typedef struct Place { // one side of a finding
    char access[200];      // of a thread: "4-byte write", to which its index is appended; of the host: "cudaFree, called by the host"
    char kernel[200];      // empty: the host
    char file[400];        // empty: unknown
    int line;              // 0: unknown
    char caller[120];      // on the host: "file:line" that called the function of this line; empty: unknown
    uint64_t block_number; // of the example
    dim3 block, thread;    // its indices
} Place;

enum {
    FINDINGS_STATUS = 88, // exit status of a program with errors
    HINT_BYTES = 800
};

// The place of a thread that is at instruction i, or NULL.
Place sim_place_of(const Launch *launch, uint64_t block_number, uint32_t thread, const Instr *i, const char *access);
// Sets the host's source line that called the runtime, or that holds the faulting instruction; the line of a call that returns to an
// address. They stay unknown without debug information (host_lines.c).
void sim_set_host_line(const void *instruction, Place *p);
void sim_set_calling_line(const void *return_address, Place *p);
// The number of the current call chain, from 1 on; 0 if it is not kept. Sets the host's source line of such a chain; false: unknown.
int sim_call_stack_id(void);
bool sim_set_line_of_stack(int site, Place *p);
// Adds a finding, or an occurrence of one: findings of a kind at the same lines are one. The first block's example is shown.
// hint: lines of help, in the imperative, and lines that begin with "note: "; or empty. Any host thread may call it.
void sim_add_finding(FindingKind kind, const char *title, const Place *places, int count, const char *hint);

// Identifies a finding of a launch without its text.
typedef struct Cause {
    const Launch *launch;
    const Instr *first, *second; // the second may be NULL
    int what;                    // distinguishes findings at the same instructions
} Cause;

typedef struct Example { // a thread that made the mistake
    uint64_t block_number;
    uint32_t thread; // of the block
} Example;

typedef enum RaceExtent { WITHIN_WARP, WITHIN_BLOCK, ACROSS_BLOCKS } RaceExtent;

typedef struct RaceFacts { // of one racing pair
    RaceExtent extent;
    bool same_value; // both threads store the same value: a warning, unless $SIM_STRICT is set
} RaceFacts;

// The same for a finding with a cause; `race`: NULL if it is none. The text is needed only if sim_count_occurrence returns false.
void sim_add_caused_finding(const Cause *cause, FindingKind kind, const char *title, const Place *places, int count, const char *hint,
                        const RaceFacts *race);
// Counts an occurrence. Returns false if no finding of the running launch has this cause, or one of these threads may be an earlier
// example.
bool sim_count_occurrence(const Cause *cause, const Example *threads, int count);
// Adds the fault that ended a launch.
void sim_add_fault(const Launch *launch);
// A kernel needs something that the simulator lacks: without errors the program ends with CANNOT_RUN.
void sim_report_unsupported(void);
// Prints the findings that are new since the last call: at the end of each launch, and of the program.
void sim_print_findings(void);

enum { MAX_FINDINGS = 200 }; // occurrences of others are only counted
typedef struct OccurrenceCounts { // occurrences of each finding, in the order in which they were added
    int count;
    uint64_t left_out, times[MAX_FINDINGS];
} OccurrenceCounts;
OccurrenceCounts sim_occurrence_counts(void);
// Sets `more` to the difference of two such records; returns false if there are new findings.
bool sim_subtract_counts(const OccurrenceCounts *before, const OccurrenceCounts *after, OccurrenceCounts *more);
void sim_add_occurrences(const OccurrenceCounts *more); // adds these occurrences
// Ends the program at an access that cannot be made. Does not return.
void sim_end_with_findings(void) __attribute__((noreturn));

#endif
