// uses_again.h: what the checker knows of a launch, for one that need not run since it would do the same.
#ifndef USES_AGAIN_H
#define USES_AGAIN_H

#include "machine/block.h"

// What the checker knows of an allocation, and its findings may depend on: whether it notes uses.
void sim_digest_known(Digest *digest, const Allocation *a);
// Which of these bytes somebody wrote, where that is noted. They begin with a line.
void sim_digest_written(Digest *digest, const Allocation *a, size_t first, size_t bytes);
size_t sim_bytes_of_written(const Allocation *a, size_t bytes); // that it takes to keep it; 0: it is not noted
void sim_get_written(const Allocation *a, size_t first, size_t bytes, uint64_t (*written)[2]);
void sim_set_written(Allocation *a, size_t first, size_t bytes, const uint64_t (*written)[2]); // as it was got; NULL: it was not noted

typedef struct UsesOfOp UsesOfOp; // the bytes of memory that is shared that an operation used
// Those of the current operation, which has used them; NULL where they are too many. The caller frees them.
UsesOfOp *sim_uses_of_op(void);
// The current operation uses the same bytes in the same way. False, and nothing is noted, where it races with another one:
// what is found then depends on the order in which it uses them.
bool sim_use_again(const UsesOfOp *uses);

#endif
