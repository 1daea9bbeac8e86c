// memoized_uses.h: what the checker needs for a launch that is skipped because it would repeat an earlier one (runtime/work/repeats.c).
#ifndef MEMOIZED_USES_H
#define MEMOIZED_USES_H

#include "machine/block.h"

// Adds to the digest what findings about an allocation may depend on: whether its uses are recorded.
void sim_digest_tracking(Digest *digest, const Allocation *a);
// Adds which of these bytes have been written, if that is tracked. `first` is a multiple of LINE_BYTES.
void sim_digest_written(Digest *digest, const Allocation *a, size_t first, size_t bytes);
size_t sim_written_size(const Allocation *a, size_t bytes); // space that sim_get_written needs; 0: not tracked
void sim_get_written(const Allocation *a, size_t first, size_t bytes, uint64_t (*written)[2]);
// written: from sim_get_written; NULL: not tracked
void sim_set_written(Allocation *a, size_t first, size_t bytes, const uint64_t (*written)[2]);

typedef struct UsesOfOp UsesOfOp; // the bytes of recorded allocations that an operation used
// Those of the current operation, after it has ended; NULL: too many. The caller frees them.
UsesOfOp *sim_uses_of_op(void);
// Records the same uses for the current operation. False, and nothing is recorded, if one races with another operation: findings then
// depend on the order of the accesses, so the launch must run.
bool sim_repeat_uses(const UsesOfOp *uses);

#endif
