// undefined_copies.h: undefined values that kernels have stored in global memory, until they are copied to the host.
#ifndef UNDEFINED_COPIES_H
#define UNDEFINED_COPIES_H

#include "checker/kernel_checks.h"

typedef struct DeferredFinding { // a finding that is added if the value reaches the host
    FindingKind kind;
    char title[200];
    FindingLocation locations[2];
    int count;
    const char *hint;
    uint8_t source; // as in UndefinedValue
} DeferredFinding;

typedef enum ReportRule { // when undefined bytes that reach the host are reported
    REPORT_LONG_RUNS, // if at least LINE_BYTES are consecutive: fewer may be unused parts of structures that are copied word by word
    REPORT_ANY,
    REPORT_NEVER // for parts of structures: only a use in a kernel is reported
} ReportRule;

// Notes that a store has put an undefined value, loaded by `load` or computed from it, into these bytes of an allocation. Returns false
// for the first store with this load, store and rule: then call sim_add_undefined_copy, and this again. Call it after
// sim_wait_for_earlier_blocks.
bool sim_note_undefined_copy(const Instr *load, const Instr *store, uint64_t address, size_t bytes, ReportRule rule);
void sim_add_undefined_copy(const Instr *load, const Instr *store, ReportRule rule, const DeferredFinding *report);
// True if an undefined value was stored at this address; sets its report.
bool sim_find_undefined_copy(uint64_t address, DeferredFinding *report);
// The allocation is freed.
void sim_free_undefined_copies(Allocation *a);

#endif
