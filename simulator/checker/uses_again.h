// uses_again.h: what the checker knows of a launch, for one that need not run since it would do the same again.
#ifndef USES_AGAIN_H
#define USES_AGAIN_H

#include "machine/block.h"

// What the checker knows of an allocation, and a kernel may find out: which bytes somebody wrote, and whether it notes uses.
void sim_digest_known(Digest *digest, const Allocation *a);

typedef struct UsesOfOp UsesOfOp; // the bytes of memory that is shared that an operation used
// Those of the current operation, which has used them; NULL where they are too many. The caller frees them.
UsesOfOp *sim_uses_of_op(void);
// The current operation uses the same bytes in the same way. False, and nothing is noted, where it races with another one:
// what is found then depends on the order in which it uses them.
bool sim_use_again(const UsesOfOp *uses);

#endif
