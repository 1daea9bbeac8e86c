// dependent_launches.h: kernels that may begin before the previous kernel of their stream has ended (programmatic dependent launch).
//
// A kernel with the attribute cudaLaunchAttributeProgrammaticStreamSerialization may begin once all blocks of the kernel before it have
// executed griddepcontrol.launch_dependents or have ended. It sees those writes of that kernel that a thread has followed by a fence of
// device scope before this. Its threads see the others, and may overwrite what that kernel reads later, only after griddepcontrol.wait.
//
// The simulator runs the two kernels one after the other. memory_uses.c reports accesses that need a wait.
#ifndef DEPENDENT_LAUNCHES_H
#define DEPENDENT_LAUNCHES_H

#include "checker/memory_uses.h"

// Begins and ends the current operation, a kernel that was launched with the attribute. The caller holds the lock of calls.h.
void sim_begin_dependent_launch(void);
void sim_end_dependent_launch(void);
// True if the current operation may begin before the kernel before it has ended. Its accesses then have no fast path.
bool sim_is_early_launch(void);
bool sim_has_waited(void); // whether a thread of the current operation has executed griddepcontrol.wait

// ---- Of a block; only the thread that runs it calls these

void sim_begin_dependencies(Block *b); // a block begins; the block before that the thread ran has ended
void sim_end_dependencies(Block *b);   // the last block that the thread ran has ended
// Lanes of a warp execute griddepcontrol.wait or, if `waits` is false, griddepcontrol.launch_dependents.
void sim_control_dependents(Warp *w, bool waits);
void sim_release_writes(Block *b);     // a thread executes a fence or a release of device scope
// The block completes a barrier: if a thread has waited, all have; if one has let dependents begin, what all do from now on is late.
void sim_share_dependencies(Block *b);
// A warp synchronises with threads that may have waited.
void sim_acquire_wait(Warp *w);
// A warp synchronises with the previous kernel itself, by an atomic operation.
void sim_acquire_from_previous(Warp *w);

// The USE_EARLY and USE_LATE bits for accesses by this warp.
UseKind sim_dependency_bits(const Warp *w);
// Notes a write that dependents see only after a later release. `kind`: of the use.
void sim_note_unreleased(const Warp *w, const Allocation *a, uint64_t address, size_t bytes, UseKind kind);

#endif
