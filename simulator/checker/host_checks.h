// host_checks.h: findings about what the host does: its calls, its pointers, and what the program has done at its end.
//
// The lock of calls.h is held by whoever calls these functions, but for sim_describe_address.
#ifndef HOST_CHECKS_H
#define HOST_CHECKS_H

#include "checker/findings.h"

// Notes that the allocation was made by this call: by the 3rd cudaMalloc, say.
void sim_note_allocation(Allocation *a, const char *call);
// An allocation that failed: a null pointer may come from there.
void sim_note_failed_allocation(const char *call, size_t bytes);
// "the 2nd cudaMalloc's 4096 bytes"
void sim_describe_allocation(const Allocation *a, char *text, size_t space);
// Says what lies at an address that is not what its user took it for: "byte 16 of the 2nd cudaMalloc's 4096 bytes,
// which cudaFree has freed", "a null pointer", "memory of the host (its stack)". Returns which kind of finding its
// use is.
FindingKind sim_describe_address(uint64_t address, char *text, size_t space);

// A call was given bytes that it cannot read or write. `does`: what it would do there, "reads" or "writes"; `side`:
// where its arguments say that they lie: "the host's memory", "device memory", "any memory".
void sim_find_wrong_range(const char *call, const char *does, const void *pointer, size_t bytes, const char *side);
// A handle that nobody made, or that was destroyed; `wanted`: what it should be.
void sim_find_wrong_handle(const char *call, const char *wanted);
// Rows of so many bytes are copied, `pitch` bytes apart: is a part of the padding behind the allocation's rows among
// them? Whole rows with all their padding may be copied.
void sim_find_padding(const char *call, const char *does, const void *pointer, size_t pitch, size_t width,
                      size_t rows);
void sim_find_wrong_free(const char *call, const void *pointer);
// The host read or wrote memory that is the device's, or nobody's.
void sim_find_host_access(uint64_t address, bool writes, const void *instruction);

// The current operation copies these bytes of the device to the host; it has ended. If nobody wrote any of what it has
// copied, that is a finding.
void sim_note_result(uint64_t address, size_t bytes);
void sim_end_results(void);

// What the program has done, for its end.
void sim_note_copy(bool from_device, size_t bytes); // or to it: a copy or a fill
void sim_note_launch(const Launch *launch);         // that ran to its end
void sim_note_launch_attempt(void);
void sim_note_kernels(int more);                    // or fewer: that it has now

#endif
