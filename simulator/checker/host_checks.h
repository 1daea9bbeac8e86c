// host_checks.h: checks of the host: its calls, its pointers, and the state at exit.
//
// The caller holds the lock of calls.h, except for sim_describe_address and sim_describe_access.
#ifndef HOST_CHECKS_H
#define HOST_CHECKS_H

#include "checker/findings.h"

// Notes which call made an allocation, and its call stack; and the call stack of the call that is about to free a pointer.
void sim_note_allocation(Allocation *a, const char *call);
void sim_note_free(const void *pointer);
// Notes a failed allocation, which may explain a null pointer.
void sim_note_failed_allocation(const char *call, size_t bytes);
// "a 4096-byte allocation"
void sim_describe_allocation(const Allocation *a, char *text, size_t space);
// Appends the line "note: allocated by the 2nd cudaMalloc, at a.cu:17" to a hint of HINT_BYTES.
void sim_add_allocation_note(const Allocation *a, char *hint);

typedef struct AddressText {
    char text[300];        // "byte 16 of a freed 4096-byte allocation", "a null pointer", "host memory (a local variable)"
    char hint[HINT_BYTES]; // help and notes, as of a finding
} AddressText;

// Describes an address that was accessed invalidly. Returns the kind of finding for it.
FindingKind sim_describe_address(uint64_t address, AddressText *d);
// Describes the address of a kernel's invalid access. It is a use after free only if an argument points into the freed allocation.
FindingKind sim_describe_access(const Launch *launch, const Instr *i, uint64_t address, AddressText *d);

typedef enum MemorySide { ON_HOST, ON_DEVICE, ON_EITHER } MemorySide; // which memory a call expects

// Reports a call that cannot access its bytes. `role`: HOST_COPY or HOST_CALL.
void sim_report_bad_range(const char *call, LocationRole role, bool writes, const void *pointer, size_t bytes, MemorySide side);
// Reports a handle that was never created, or was destroyed. `expected`: a description of a valid handle.
void sim_report_invalid_handle(const char *call, const char *expected);
// Reports a copy that exceeds a block of malloc or new on the host. If it writes, the caller does not make it.
void sim_report_host_overrun(const char *call, bool writes, size_t bytes, size_t block_bytes);
// Reports a copy by a node of a graph from or to a block of malloc or new that was freed after the node was added. If it writes, the
// caller does not make it.
void sim_report_freed_host_block(const char *call, bool writes, size_t bytes);
// Warns of a copy whose cudaMemcpyKind declares the source or destination to be host memory, although it is device memory.
void sim_warn_of_direction(const char *call, bool writes, const void *pointer, size_t bytes);
// Rows of `width` bytes, `pitch` bytes apart, are copied: reports copies of a part of the padding. Copying whole rows with all of their
// padding is correct.
void sim_check_padding_copy(const char *call, const char *verb, const void *pointer, size_t pitch, size_t width,
                      size_t rows);
void sim_report_invalid_free(const char *call, const void *pointer);
// Reports a host access to device memory or to an unallocated address.
void sim_report_host_access(uint64_t address, bool writes, const void *instruction);

// The first notes that the current operation copies these device bytes to the host. The second, after the operation, reports it if none
// of its bytes was ever written.
void sim_note_result(uint64_t address, size_t bytes);
void sim_report_unwritten_results(void);

// Statistics for the checks at exit.
void sim_note_copy(bool from_device, size_t bytes); // a copy, or a fill
void sim_note_launch(const Launch *launch);         // a completed launch
void sim_note_launch_attempt(void);
void sim_add_to_kernel_count(int more); // number of kernels loaded; negative: unloaded

#endif
