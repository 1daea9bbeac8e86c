// findings.h: the findings of the checker, and how they are reported.
#ifndef FINDINGS_H
#define FINDINGS_H

#include "machine/block.h"

typedef enum FindingKind {
    RACE_SHARED, RACE_GLOBAL, RACE_OPERATIONS, OUT_OF_BOUNDS, MISALIGNED, USE_AFTER_FREE, HOST_POINTER, INVALID_FREE, LEAK,
    UNINITIALISED, BARRIER_DIVERGENCE, INVALID_WARP_OPERATION, INVALID_MBARRIER_OPERATION, KERNEL_FAULT, UNCHECKED_ERROR,
    FINDING_KINDS
} FindingKind;

typedef enum LocationRole { // what the thread or the host does at a location
    OTHER_ROLE,
    READS,
    WAITS,     // a thread waits
    HOST_CALL, // a call of the host
    HOST_COPY  // a copy that the host calls
} LocationRole;

typedef struct FindingLocation { // location of one access of a finding: a source line, and the thread or the host call there
    char access[200];      // for a thread: "4-byte write", to which the thread is appended; for the host: "cudaFree, called by the host"
    LocationRole role;
    uint64_t operation;    // of a kernel: its operation, decoded (sim_location_of); 0: the host
    char kernel[200];      // empty: the host
    char file[400];        // empty: unknown
    int line;              // 0: unknown
    char caller[120];      // for the host: "file:line" of the call of the function that contains `line`; empty: unknown
    uint64_t launch;       // number of the launch in the program, from 1; 0: the host
    uint64_t block_number; // linear index of `block`
    dim3 block, thread;    // indices of the block and of the thread
} FindingLocation;

enum {
    FINDINGS_STATUS = 88, // exit status of a program with errors
    HINT_BYTES = 800
};

// The location of a thread at instruction i; `i` may be NULL if it is unknown.
FindingLocation sim_location_of(const Launch *launch, uint64_t block_number, uint32_t thread, const Instr *i, const char *access, LocationRole role);
FindingLocation sim_lane_location(const Warp *w, int lane, const Instr *i, const char *access, LocationRole role); // of the warp's lane
// host_lines.c sets the source line and the caller of a location. They stay unknown without debug information.
void sim_set_host_line(const void *instruction, FindingLocation *p); // the line of the faulting instruction; NULL: of the call of the runtime
void sim_set_calling_line(const void *return_address, FindingLocation *p); // the line of the call that returns to this address
// An identifier of the current call stack, greater than 0; 0 if the table of stacks is full. The caller holds the lock of calls.h.
int sim_call_stack_id(void);
bool sim_set_line_of_stack(int stack_id, FindingLocation *p); // false: unknown

// Appends a line to a hint of HINT_BYTES bytes, unless the line is empty.
void sim_add_hint_line(char *hint, const char *format, ...);
// Adds a finding, or an occurrence of it: findings of one kind at the same lines are one. The occurrence in the lowest block is shown.
// `hint`: lines of help, in the imperative, and lines that begin with "note: "; may be empty. Any host thread may call it.
void sim_add_finding(FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint);
// Adds a warning, which is an error only if $SIM_STRICT is set.
void sim_add_warning(FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint);

typedef struct KindNames {
    const char *name;  // in JSON and in suppressions: "race-shared"
    const char *label; // of a printed finding: "data race in shared memory"
    int rank; // findings of a launch are printed by ascending rank, because an earlier one may cause a later one
} KindNames;
extern const KindNames sim_kinds[FINDING_KINDS]; // finding_kinds.c
// Whether $SIM_KERNEL or the file $SIM_SUPPRESSIONS excludes a finding at these locations (suppressions.c).
bool sim_is_suppressed(FindingKind kind, const FindingLocation *locations, int count);

// Identifies a finding of a launch without its text.
typedef struct FindingKey {
    const Launch *launch;
    const Instr *first, *second; // `second` may be NULL
    int variant;                 // distinguishes findings at the same instructions
} FindingKey;

typedef struct ExampleThread { // a thread that an occurrence of a finding shows
    uint64_t block_number;
    uint32_t thread; // thread of the block
} ExampleThread;

typedef enum RaceScope { WITHIN_WARP, WITHIN_BLOCK, ACROSS_BLOCKS } RaceScope;

typedef struct RaceFacts { // facts about one racing pair
    RaceScope scope;
    bool is_warning; // an error only if $SIM_STRICT is set
} RaceFacts;

// Like sim_add_finding; sim_count_occurrence then finds the finding by its key. `race`: NULL if the finding is not a race.
void sim_add_keyed_finding(const FindingKey *key, FindingKind kind, const char *title, const FindingLocation *locations, int count, const char *hint,
                            const RaceFacts *race);
// Counts an occurrence of a known finding. False, and nothing is counted, if no finding of the running launch has this key, or if one
// of these threads would be a better example: then call sim_add_keyed_finding.
bool sim_count_occurrence(const FindingKey *key, const ExampleThread *threads, int count);
// Adds the fault that ended a launch.
void sim_add_fault(const Launch *launch);
// A kernel needs something that the simulator does not support: without errors, the program exits with status CANNOT_RUN.
void sim_report_unsupported(void);
// Prints the findings that are new since the last call: at the end of each launch, and at exit.
void sim_print_findings(void);

enum { MAX_FINDINGS = 200 }; // occurrences of further findings are only counted
typedef struct OccurrenceCounts { // occurrences of each finding, in the order in which the findings were added
    int count; // number of findings
    uint64_t dropped, counts[MAX_FINDINGS];
} OccurrenceCounts;
OccurrenceCounts sim_occurrence_counts(void);
// Sets `difference` to after - before; returns false if there are new findings.
bool sim_subtract_counts(const OccurrenceCounts *before, const OccurrenceCounts *after, OccurrenceCounts *difference);
void sim_add_occurrences(const OccurrenceCounts *difference);
// Prints and writes all findings; exits if the program must end with another status.
void sim_report_at_exit(int status);
// Exits the program after an access that cannot be executed. Does not return.
void sim_end_with_findings(void) __attribute__((noreturn));

#endif
