// access_cost.c: counts the sectors of an access to global memory, and the bank conflicts of one to shared memory.
#include "machine/observer.h"
#include "machine/ops/lanes.h"

enum { BANKS = 32 }; // of shared memory, each 4 bytes wide
enum { WAVEFRONT_BYTES = 128 }; // bytes that shared memory delivers in a wavefront

// Returns the cost from the cache, which is indexed by the first address modulo `bytes`; computes it if it is missing.
static inline unsigned cached_cost(const Access *access, uint8_t *cache, unsigned bytes, unsigned (*compute)(const Access *access))
{
    const uint64_t offset = access->address[0] % bytes;
    if (offset % (bytes / REMAINDERS))
        return compute(access);
    uint8_t *cost = &cache[offset / (bytes / REMAINDERS)];
    if (*cost == UNKNOWN_COST)
        *cost = (uint8_t)compute(access);
    return *cost;
}

// The number of different sectors that the access touches.
static unsigned count_sectors(const Access *access)
{
    if (access->pattern == CONSECUTIVE)
        return (unsigned)((access->address[0] % SECTOR_BYTES + LANES * access->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
    if (access->pattern == ALL_SAME || (access->mask & (access->mask - 1)) == 0) // an aligned element never crosses a sector boundary
        return 1;
    const uint32_t continuing = sim_continuing_lanes(access, access->mask);
    uint64_t seen[LANES], highest = 0;
    unsigned count = 0;
    for (uint32_t starts = sim_segment_starts(access, access->mask, continuing); starts; starts &= starts - 1) {
        const int first = __builtin_ctz(starts), last = sim_segment_end(continuing, first);
        const uint64_t end = (access->address[last] + access->bytes - 1) / SECTOR_BYTES;
        for (uint64_t sector = access->address[first] / SECTOR_BYTES; sector <= end; sector++) {
            unsigned k = count > 0 && sector > highest ? 0 : count; // a new sector, above all earlier ones
            while (k > 0 && seen[k - 1] != sector)
                k--;
            if (k == 0)
                seen[count++] = sector;
            highest = sector > highest ? sector : highest;
        }
    }
    return count;
}

// True if all lanes request words in different banks.
static bool in_different_banks(const Access *access, uint32_t lanes, int words)
{
    const uint32_t word_bits = (1u << words) - 1;
    uint32_t used = 0, conflicts = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint32_t banks = word_bits
                               << (access->address[__builtin_ctz(rest)] / 4 % BANKS); // an element never wraps around to
                                                                                      // bank 0
        conflicts |= used & banks;
        used |= banks;
    }
    return conflicts == 0;
}

// True if all words are among BANKS consecutive words, so that no two share a bank.
static bool fits_in_one_bank_row(const Access *access, int words)
{
    return access->highest / 4 - access->lowest / 4 + (uint64_t)words <= BANKS;
}

// Returns the number of wavefronts if the lanes' words only ascend or only descend, so that only neighbouring lanes can request
// equal words; otherwise 0.
static unsigned wavefronts_if_ordered(const Access *access, uint32_t lanes, int words)
{
    uint8_t count[BANKS] = {0}, max_wavefronts = 0;
    bool ascends = false, descends = false;
    uint64_t previous = UINT64_MAX; // no previous word
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint64_t word = access->address[__builtin_ctz(rest)] / 4;
        if (word == previous)
            continue;
        ascends |= rest != lanes && word > previous;
        descends |= rest != lanes && word < previous;
        for (int k = 0; k < words; k++) {
            const uint8_t wavefronts = ++count[(word + (uint64_t)k) % BANKS];
            max_wavefronts = wavefronts > max_wavefronts ? wavefronts : max_wavefronts;
        }
        previous = word;
    }
    return ascends && descends ? 0 : max_wavefronts;
}

// Returns the number of wavefronts if the segments ascend without overlap; otherwise 0. A segment requests at most one word of a
// bank, so that one bit-sliced addition counts all banks: bit b of digits[k] is bit k of bank b's count.
static unsigned wavefronts_of_segments(const Access *access, uint32_t lanes, int words)
{
    uint32_t digits[6] = {0}; // counts up to 32
    const uint32_t continuing = (access->same_address | access->adjacent) & lanes & lanes << 1;
    uint64_t previous_end = 0;
    if (!continuing)
        return 0;
    for (uint32_t starts = lanes & ~continuing; starts; starts &= starts - 1) {
        const int first = __builtin_ctz(starts), last = sim_segment_end(continuing, first);
        const uint64_t word = access->address[first] / 4, end = access->address[last] / 4 + (uint64_t)words;
        if (word < previous_end || end - word > BANKS)
            return 0;
        const uint64_t requested = ((1ull << (end - word)) - 1) << word % BANKS;
        uint32_t carry = (uint32_t)(requested | requested >> BANKS);
        for (int k = 0; carry; k++) {
            const uint32_t next_carry = digits[k] & carry;
            digits[k] ^= carry;
            carry = next_carry;
        }
        previous_end = end;
    }
    unsigned max_wavefronts = 0;
    uint32_t banks = ~0u; // banks with the largest count, according to the digits so far
    for (int k = 5; k >= 0; k--)
        if (banks & digits[k]) {
            banks &= digits[k];
            max_wavefronts |= 1u << k;
        }
    return max_wavefronts;
}

// Returns the number of wavefronts for these lanes. In a wavefront a bank delivers one word to any number of lanes.
static unsigned wavefronts_of(const Access *access, uint32_t lanes, int words)
{
    if (lanes == 0 || fits_in_one_bank_row(access, words))
        return lanes != 0;
    unsigned wavefronts = wavefronts_of_segments(access, lanes, words);
    if (!wavefronts && in_different_banks(access, lanes, words))
        return 1;
    if (!wavefronts)
        wavefronts = wavefronts_if_ordered(access, lanes, words);
    if (wavefronts)
        return wavefronts;
    uint64_t words_in_bank[BANKS][LANES];
    uint8_t count[BANKS] = {0}, max_wavefronts = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (int k = 0; k < words; k++) {
            const uint64_t word = access->address[__builtin_ctz(rest)] / 4 + (uint64_t)k;
            const unsigned bank = word % BANKS;
            int n = 0;
            while (n < count[bank] && words_in_bank[bank][n] != word)
                n++;
            if (n == count[bank])
                words_in_bank[bank][count[bank]++] = word;
            max_wavefronts = count[bank] > max_wavefronts ? count[bank] : max_wavefronts;
        }
    return max_wavefronts;
}

static unsigned sector_count(const Access *access)
{
    return access->address_pattern ? cached_cost(access, access->address_pattern->sectors, SECTOR_BYTES, count_sectors) : count_sectors(access);
}

// Returns the number of wavefronts beyond the minimum. The hardware serves a whole warp at once for 4-byte elements, half a warp
// for 8 bytes, and a quarter for 16 bytes. The minimum assumes 128 bytes a wavefront, for half warps if elements have 16
// bytes. Measured on an H200 (tests/counters).
static unsigned count_conflicts(const Access *access)
{
    if (access->pattern != SCATTERED)
        return 0;
    const int words = access->bytes > 4 ? (int)access->bytes / 4 : 1, lanes_per_pass = LANES / words;
    const int group_lanes = words == 4 ? LANES / 2 : LANES;
    unsigned conflicts = 0;
    for (int first = 0; first < LANES; first += group_lanes) {
        const uint32_t lanes = access->mask & sim_lanes_from(first, group_lanes);
        const unsigned requested_bytes = (unsigned)__builtin_popcount(lanes) * (unsigned)words * 4;
        unsigned wavefronts = 0;
        for (int pass = first; pass < first + group_lanes; pass += lanes_per_pass)
            wavefronts += wavefronts_of(access, lanes & sim_lanes_from(pass, lanes_per_pass), words);
        const unsigned minimum = (requested_bytes + WAVEFRONT_BYTES - 1) / WAVEFRONT_BYTES;
        conflicts += wavefronts > minimum ? wavefronts - minimum : 0;
    }
    return conflicts;
}

void sim_count_conflicts(Warp *w, const Access *access)
{
    w->block->counters.bank_conflicts +=
        access->address_pattern ? cached_cost(access, access->address_pattern->conflicts, WAVEFRONT_BYTES, count_conflicts) : count_conflicts(access);
}

void sim_count_access(Warp *w, const Access *access)
{
    Counters *c = &w->block->counters;
    const bool is_load = access->kind == ACCESS_READ;
    if (access->space == SHARED && sim_has_block_rank(access->address[__builtin_ctz(access->mask)]) && !sim_settings()->counts_atomic_loads)
        return; // the profiler counts distributed shared memory neither as shared nor as global
    if (access->space == SHARED) {
        *(is_load ? &c->shared_loads : &c->shared_stores) += 1;
        sim_count_conflicts(w, access);
    } else if (access->space == GLOBAL) {
        *(is_load ? &c->global_load_requests : &c->global_store_requests) += 1;
        *(is_load ? &c->global_load_sectors : &c->global_store_sectors) += sector_count(access);
    }
}

void sim_count_bulk_copy(Warp *w, uint64_t global, uint32_t bytes, bool to_global)
{
    Counters *c = &w->block->counters;
    if (!sim_settings()->counts_atomic_loads || bytes == 0)
        return;
    *(to_global ? &c->shared_loads : &c->shared_stores) += 1;
    *(to_global ? &c->global_store_requests : &c->global_load_requests) += 1;
    *(to_global ? &c->global_store_sectors : &c->global_load_sectors) += (global % SECTOR_BYTES + bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

void sim_count_device_copy(Warp *w, size_t width, size_t height, bool has_source)
{
    enum { REQUEST_BYTES = 128 }; // of a warp's access to 4 bytes per lane
    Counters *c = &w->block->counters;
    const uint64_t requests = height * ((width + REQUEST_BYTES - 1) / REQUEST_BYTES), sectors = height * ((width + SECTOR_BYTES - 1) / SECTOR_BYTES);
    if (!sim_settings()->counts_atomic_loads)
        return;
    c->global_store_requests += requests;
    c->global_store_sectors += sectors;
    c->global_load_requests += has_source ? requests : 0;
    c->global_load_sectors += has_source ? sectors : 0;
}

void sim_count_async_load(Warp *w, const Access *access)
{
    w->block->counters.shared_stores += sim_settings()->counts_atomic_loads;
    w->block->counters.global_load_requests++;
    w->block->counters.global_load_sectors += sector_count(access);
}
