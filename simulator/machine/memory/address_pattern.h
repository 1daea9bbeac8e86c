// address_pattern.h: how the addresses of a warp lie to each other, which an instruction's mostly do as they did the last time.
#ifndef ADDRESS_PATTERN_H
#define ADDRESS_PATTERN_H

#include "front/program.h"

typedef enum Pattern { SCATTERED, CONSECUTIVE, ALL_SAME } Pattern; // the last two: with all lanes on

enum { SECTOR = 32 }; // bytes that device memory gives at once
enum { PATTERNS = 256, REMAINDERS = SECTOR, UNKNOWN_COST = 0xff };

// Where an instruction's loads or stores need no more than to be done: those of an allocation whose first address lies from
// `first` to `last`, and from which an observer learns nothing. Of loads that is so where all their lines are settled, see
// Allocation.settled; of stores it is asked.
typedef struct FastPath {
    struct Allocation *of;   // NULL: nobody has asked yet
    uint64_t first, last;    // first > last: they need more
    const uint32_t *fully_written; // NULL: it would learn nothing of loads in any case
    uint32_t run;            // in which they have to be settled; 0: in any
    const atomic_uint *users; // of such lines, too: the operation that has used them last; NULL: nobody asks
    uint32_t user;            // that has to be this one
    uint64_t found;           // the first lane's line and 1, when all were settled: see Block.settled; 0: they never were
} FastPath;

enum { QUARTERS = 4, IN_QUARTER = LANES / QUARTERS };

// How the addresses of a warp, all lanes of which are on, lie to the first lane's. An instruction's mostly lie as they did
// the last time: so a block keeps what has been found out about them. Of the host thread that runs the block.
typedef struct AddressPattern {
    const Instr *of; // whose; NULL: nobody's yet
    size_t bytes;    // of each lane
    Pattern pattern;
    uint32_t alike, beside;  // these and `twice` as in an Access
    bool twice;
    uint32_t following, begins; // the lanes that go on in a piece, and the first ones of pieces: see sim_following_lanes
    uint8_t quarters[QUARTERS]; // a Pattern of each: SCATTERED, if it is no other one
    uint64_t below, above;   // how far the least and the greatest address are from the first lane's
    uint64_t bits;           // that are set in any distance
    uint8_t sectors[REMAINDERS], conflicts[REMAINDERS]; // that such an access costs, by where the first address is in a
                                                        // sector, or a row of banks: ops/access_cost.c
    FastPath fast_path;
    _Alignas(64) uint64_t apart[LANES]; // distances from the first lane's
} AddressPattern;

// Whether addresses lie so.
static inline bool sim_matches_pattern(const AddressPattern *layout, const uint64_t *address)
{
    uint64_t different = 0;
    for (int l = 0; l < LANES; l++)
        different |= (address[l] - address[0]) ^ layout->apart[l];
    return different == 0;
}

static inline uint32_t sim_lanes_from(int first, int count) // a mask
{
    return (ALL_LANES >> (LANES - count)) << first;
}

#endif
