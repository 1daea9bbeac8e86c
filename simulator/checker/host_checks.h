// host_checks.h: findings about what the host does: its calls, its pointers, and the program's end.
//
// The caller holds the lock of calls.h, except for sim_describe_address and sim_describe_access.
#ifndef HOST_CHECKS_H
#define HOST_CHECKS_H

#include "checker/findings.h"

// Notes that this call made the allocation, as the n-th of its name, and from where; that the host is about to free it.
void sim_note_allocation(Allocation *a, const char *call);
void sim_note_free(const void *pointer);
// An allocation failed: a null pointer may come from there.
void sim_note_failed_allocation(const char *call, size_t bytes);
// "a 4096-byte allocation"
void sim_describe_allocation(const Allocation *a, char *text, size_t space);
// Appends the line "note: allocated by the 2nd cudaMalloc, at a.cu:17" to a hint of HINT_BYTES.
void sim_add_allocation_note(const Allocation *a, char *hint);

typedef struct AddressText {
    char text[300];        // "byte 16 of a freed 4096-byte allocation", "a null pointer", "host memory (a local variable)"
    char hint[HINT_BYTES]; // help and notes, as of a finding
} AddressText;

// Describes an address that may not be accessed so. Returns the kind of finding that its use is.
FindingKind sim_describe_address(uint64_t address, AddressText *d);
// The same of a kernel's access. It is a use after free only if an argument points into the freed allocation.
FindingKind sim_describe_access(const Launch *launch, const Instr *i, uint64_t address, AddressText *d);

// A call was given bytes that it cannot access. `does`: "reads" or "writes"; `side`: the memory that its arguments name: "host memory",
// "device memory" or "allocated memory".
void sim_report_bad_range(const char *call, const char *does, const void *pointer, size_t bytes, const char *side);
// A handle that was never created, or was destroyed; `wanted`: what it should be.
void sim_report_invalid_handle(const char *call, const char *wanted);
// Rows of `width` bytes are copied, `pitch` bytes apart: reports copies of a part of the padding. Whole rows with all of their padding
// may be copied.
void sim_check_padding_copy(const char *call, const char *does, const void *pointer, size_t pitch, size_t width,
                      size_t rows);
void sim_report_invalid_free(const char *call, const void *pointer);
// The host accessed device memory, or an unallocated address.
void sim_report_host_access(uint64_t address, bool writes, const void *instruction);

// The current operation copies these device bytes to the host; it has ended. It is a finding if none of its bytes was written.
void sim_note_result(uint64_t address, size_t bytes);
void sim_check_results(void);

// What the program has done, for its end.
void sim_note_copy(bool from_device, size_t bytes); // a copy, or a fill
void sim_note_launch(const Launch *launch);         // it ran to its end
void sim_note_launch_attempt(void);
void sim_note_kernels(int more); // loaded; negative: unloaded

#endif
