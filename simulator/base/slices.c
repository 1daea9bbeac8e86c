// slices.c: compares text slices.
#include "base/memory.h"

#include <string.h>

bool sim_slice_is(Slice slice, const char *text)
{
    return strlen(text) == slice.length && memcmp(slice.text, text, slice.length) == 0;
}

bool sim_same_slice(Slice a, Slice b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}
