// digest.c: hashes that detect changed bytes, so that no copy of the old bytes is needed.
#include "base/base.h"

#include <string.h>

enum { DIGEST_BYTES = sizeof(Digest) };

static void mix_words(Digest *d, const void *bytes)
{
    uint64_t words[DIGEST_LANES];
    memcpy(words, bytes, sizeof words);
    for (int k = 0; k < DIGEST_LANES; k++)
        d->lanes[k] = sim_mix_word(d->lanes[k], words[k]);
}

void sim_digest(Digest *d, const void *bytes, size_t count)
{
    const uint8_t *next = bytes;
    for (; count >= DIGEST_BYTES; count -= DIGEST_BYTES, next += DIGEST_BYTES)
        mix_words(d, next);
    if (count == 0)
        return;
    uint8_t tail[DIGEST_BYTES] = {0};
    memcpy(tail, next, count);
    mix_words(d, tail);
}

bool sim_same_digest(const Digest *a, const Digest *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
