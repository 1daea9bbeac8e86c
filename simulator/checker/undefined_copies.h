// undefined_copies.h: undefined values that kernels have stored in global memory, until they are copied to the host.
#ifndef UNDEFINED_COPIES_H
#define UNDEFINED_COPIES_H

#include "checker/kernel_checks.h"

typedef struct Report { // of a finding that is added if the value reaches the host
    FindingKind kind;
    char title[200];
    Place places[2];
    int count;
    const char *hint;
    uint8_t source; // as in UndefinedValue
} Report;

typedef enum ReportRule { // when undefined bytes that reach the host are reported
    REPORT_LONG_RUNS, // from LINE_BYTES in a row on: fewer may be unused parts of structures that threads copy word by word
    REPORT_ANY,
    REPORT_NEVER // parts of structures: only a use in a kernel is reported
} ReportRule;

// A store has put an undefined value into these bytes of an allocation, as `read` had loaded it, or computed from it. Returns false if
// it is the first with this read, store and rule: then call sim_add_undefined_copy. The block's turn has come (sim_wait_for_earlier_blocks).
bool sim_note_undefined_copy(const Instr *read, const Instr *store, uint64_t address, size_t bytes, ReportRule rule);
void sim_add_undefined_copy(const Instr *read, const Instr *store, uint64_t address, ReportRule rule, const Report *report);
// Drops what was noted of these bytes: an undefined value that is not to be reported has been stored there.
void sim_forget_undefined_copy(uint64_t address, size_t bytes);
// True if such a store has gone to this address; sets its report.
bool sim_find_undefined_copy(uint64_t address, Report *report);
// The allocation is freed.
void sim_free_undefined_copies(Allocation *a);

#endif
