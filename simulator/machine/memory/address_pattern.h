// address_pattern.h: the distances between a warp's addresses, cached by instruction because they usually repeat.
#ifndef ADDRESS_PATTERN_H
#define ADDRESS_PATTERN_H

#include "front/program.h"

typedef enum Pattern { SCATTERED, CONSECUTIVE, ALL_SAME } Pattern; // CONSECUTIVE, ALL_SAME: only if all lanes are active

enum { SECTOR_BYTES = 32 };
enum { PATTERNS = 256, REMAINDERS = SECTOR_BYTES, UNKNOWN_COST = 0xff };

// The loads or stores of an instruction that skip Observer.access: those in `allocation` whose first lane's address is from
// `first` to `last`. Loads qualify if all of their lines are fully written, stores if
// Observer.fast_store returns true.
typedef struct FastPath {
    struct Allocation *allocation; // NULL: unused
    uint64_t first, last;          // if first > last, every access calls the observer
    const uint32_t *fully_written; // for each line: the generation in which loads need no call, or 0; NULL: the observer ignores all of these loads
    uint32_t generation;           // the value that entries of `fully_written` must have; 0: any but 0
    const atomic_uint *last_write_generation; // of the allocation: if it is `generation`, non-coherent loads need a call; NULL: not compared
    const atomic_uint *users;      // the operation that used each line last; NULL: not compared
    uint32_t user;                 // the value that the entries of `users` must have
    uint64_t first_line;           // 1 + the first lane's line when all lines were last found fully written; or 0
} FastPath;

enum { QUARTERS = 4, QUARTER_LANES = LANES / QUARTERS };

// The distances of a full warp's addresses from the first lane's, and data derived from them. Owned by the host thread that
// runs the block.
typedef struct AddressPattern {
    const Instr *instr; // NULL: unused
    size_t bytes;       // accessed by each lane
    Pattern kind;
    uint32_t same_address, adjacent; // as in Access
    bool repeated_half;
    uint32_t continuing, starts;                        // see sim_continuing_lanes and sim_segment_starts
    uint8_t quarters[QUARTERS];                         // the Pattern of each quarter warp
    uint64_t below, above;                              // largest distances below and above the first lane's address, in bytes
    uint64_t distance_bits;                             // OR of all distances
    uint8_t sectors[REMAINDERS], conflicts[REMAINDERS]; // costs, indexed by the first address modulo the sector size or
                                                        // modulo the width of all banks: ops/access_cost.c
    FastPath fast_path;
    _Alignas(64) uint64_t distance[LANES]; // from the first lane's address, modulo 2^64
} AddressPattern;

static inline bool sim_matches_pattern(const AddressPattern *pattern, const uint64_t *address)
{
    uint64_t different = 0;
    for (int l = 0; l < LANES; l++)
        different |= (address[l] - address[0]) ^ pattern->distance[l];
    return different == 0;
}

static inline uint32_t sim_lanes_from(int first, int count) // a mask
{
    return (ALL_LANES >> (LANES - count)) << first;
}

#endif
