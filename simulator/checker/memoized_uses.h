// memoized_uses.h: the checker's part of launches that are skipped because they would repeat an earlier launch (runtime/work/repeats.c).
#ifndef MEMOIZED_USES_H
#define MEMOIZED_USES_H

#include "machine/block.h"

// Adds to the digest whether the uses of an allocation are recorded, since findings depend on that.
void sim_digest_tracking(Digest *digest, const Allocation *a);
// Adds to the digest which of these bytes have been written, if that is tracked. `first` is a multiple of LINE_BYTES.
void sim_digest_written(Digest *digest, const Allocation *a, size_t first, size_t bytes);
size_t sim_written_size(const Allocation *a, size_t bytes); // bytes of the array that sim_get_written fills; 0: not tracked
// Copies, or restores, the ShadowLine.written of the lines of these bytes. `written` is NULL if it is not tracked.
void sim_get_written(const Allocation *a, size_t first, size_t bytes, uint64_t (*written)[2]);
void sim_set_written(Allocation *a, size_t first, size_t bytes, const uint64_t (*written)[2]);

typedef struct UsesOfOp UsesOfOp; // the bytes of recorded allocations that an operation used
// The uses of the current operation, after it has completed; NULL: too many ranges. The caller frees the result.
UsesOfOp *sim_uses_of_op(void);
// Records the same uses for the current operation. False, and nothing is recorded, if one of them races with another operation: then
// findings depend on the order of the accesses, and the launch must run.
bool sim_repeat_uses(const UsesOfOp *uses);

#endif
