// written.h: which bytes of a line have been written. These functions need no lock.
#ifndef WRITTEN_H
#define WRITTEN_H

#include "checker/allocation_check.h"

enum { FULLY_WRITTEN = 1 }; // a value of AllocationCheck.fully_written; launch numbers are greater

// Expands the bits of the lowest 16 words to a bit for each byte.
static inline uint64_t bytes_of_words(uint32_t word_mask)
{
    uint64_t bits = word_mask & 0xffff;
    bits = (bits | bits << 24) & 0x000000ff000000ff;
    bits = (bits | bits << 12) & 0x000f000f000f000f;
    bits = (bits | bits << 6) & 0x0303030303030303;
    bits = (bits | bits << 3) & 0x1111111111111111;
    return bits * 15;
}

// The written bytes of half a line: a bit for each.
static inline uint64_t written_half(const ShadowLine *line, int half)
{
    return __atomic_load_n(&line->written[half], __ATOMIC_RELAXED);
}

// Stores a complete half without loading it first, which would cost a second page fault on a new page.
static inline void mark_bytes(ShadowLine *line, int half, uint64_t bytes)
{
    if (bytes == ~0ull)
        __atomic_store_n(&line->written[half], bytes, __ATOMIC_RELAXED);
    else if (bytes & ~written_half(line, half))
        __atomic_fetch_or(&line->written[half], bytes, __ATOMIC_RELAXED);
}

// True if all bytes of these words have been written.
static inline bool all_written(const ShadowLine *line, uint32_t word_mask)
{
    const uint64_t low = written_half(line, 0), high = written_half(line, 1);
    if ((low & high) == ~0ull)
        return true;
    const int first = __builtin_ctz(word_mask);
    if (!(word_mask & (word_mask - 1)))
        return ((first < 16 ? low : high) >> first % 16 * 4 & 15) == 15;
    return !(bytes_of_words(word_mask) & ~low) && !(bytes_of_words(word_mask >> 16) & ~high);
}

// Sets AllocationCheck.fully_written of a line. sim_mark_unwritten clears `written` before `fully_written`, perhaps concurrently, so
// `written` is read again after the store.
static inline void update_fully_written(const Allocation *a, size_t line)
{
    uint32_t *fully_written = &a->check->fully_written[line];
    if (!all_written(&a->check->lines[line], ALL_LANES)) {
        __atomic_store_n(fully_written, 0, __ATOMIC_RELAXED);
        return;
    }
    __atomic_store_n(fully_written, FULLY_WRITTEN, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!all_written(&a->check->lines[line], ALL_LANES))
        __atomic_store_n(fully_written, 0, __ATOMIC_RELAXED);
}

#endif
