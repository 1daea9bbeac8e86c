// digest.c: hashes that detect changed bytes without a copy of the old ones.
#include "base/base.h"

#include <string.h>

enum { DIGESTED = sizeof(Digest) };

static void absorb(Digest *d, const void *bytes)
{
    uint64_t words[DIGEST_LANES];
    memcpy(words, bytes, sizeof words);
    for (int k = 0; k < DIGEST_LANES; k++)
        d->lanes[k] = sim_mix_word(d->lanes[k], words[k]);
}

void sim_digest(Digest *d, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (; count >= DIGESTED; count -= DIGESTED, at += DIGESTED)
        absorb(d, at);
    if (count == 0)
        return;
    uint8_t rest[DIGESTED] = {0};
    memcpy(rest, at, count);
    absorb(d, rest);
}

bool sim_same_digest(const Digest *a, const Digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
