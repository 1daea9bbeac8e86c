// word_predicates.h: evaluates a predicate over all words of an access, for each group of lanes with consecutive addresses.
#ifndef WORD_PREDICATES_H
#define WORD_PREDICATES_H

#include "checker/shadow.h"

// True if each lane accesses whole words.
static inline bool are_whole_words(const Access *access)
{
    return access->bytes % 4 == 0 && access->bytes <= access->alignment;
}

typedef bool WordsPredicate(const AccessCheck *check, const ShadowLine *line, uint32_t word_mask);

static inline __attribute__((always_inline)) bool all_words_between(const AccessCheck *check, uint64_t offset, uint64_t end, WordsPredicate *holds)
{
    uint64_t line = offset / LINE_BYTES;
    unsigned first = (unsigned)(offset % LINE_BYTES / 4);
    for (; line < (end - 1) / LINE_BYTES; line++, first = 0)
        if (!holds(check, &check->memory.lines[line], ALL_LANES << first))
            return false;
    return holds(check, &check->memory.lines[line], bits_between(first, (unsigned)((end - 1) % LINE_BYTES / 4) + 1));
}

// True if the predicate holds for all words of the lanes. Requires are_whole_words().
static inline __attribute__((always_inline)) bool all_words(const AccessCheck *check, const Access *access, uint32_t mask, WordsPredicate *holds)
{
    const uint32_t continuing = sim_continuing_lanes(access, mask);
    for (uint32_t starts = sim_segment_starts(access, mask, continuing); starts; starts &= starts - 1) {
        const int first = __builtin_ctz(starts), last = sim_segment_end(continuing, first);
        if (!all_words_between(check, (uint64_t)(access->pointer[first] - check->memory.base),
                               (uint64_t)(access->pointer[last] - check->memory.base) + access->bytes, holds))
            return false;
    }
    return true;
}

#endif
