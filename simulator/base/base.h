// base.h: what every floor of the simulator uses: memory, slices of text, names, settings.
#ifndef BASE_H
#define BASE_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "base/memory.h"

enum { LANES = 32, MAX_WARPS = 32, BARRIERS = 16, MAX_VECTOR = 8, MAX_READ = 16 };
#define ALL_LANES 0xffffffffu
#define NOWHERE UINT32_MAX // no program counter, no register

// ---- digest.c: whether bytes are the same as before. Those of one digest are given in the same pieces.

enum { DIGEST_LANES = 8 };
typedef struct Digest { // of all bytes that it was given, from all zeros on: others, by chance, in one of 2^64 cases
    uint64_t lanes[DIGEST_LANES];
} Digest;

void sim_digest(Digest *d, const void *bytes, size_t count);
// What a lane becomes with one more word. The step can be undone where the word is known, so two rows of words that differ in
// one give different results. A difference of the highest bit, such as a sign, would go through one multiplication as it is; the
// shift takes it down, so that the second one scatters it, and no difference becomes a certain other one.
static inline uint64_t sim_mix_word(uint64_t lane, uint64_t word)
{
    const uint64_t once = (lane ^ word) * 0x9e3779b97f4a7c15, mixed = (once ^ once >> 32) * 0xd6e8feb86659fd93;
    return mixed << 29 | mixed >> 35;
}
bool sim_same_digest(const Digest *a, const Digest *b);

// ---- names.c
// The function's own name in a mangled one: "reduce" in _Z6reduceILj256EEvPKfPfm.
Slice sim_plain_name(Slice mangled);
// The name with its namespaces and template arguments, cut to the space: "reduce<256u>".
void sim_readable_name(Slice mangled, char *name, size_t space);

// ---- settings.c: what the environment asks for; README.md says what each variable sets.

enum { SIM_MAX_DEVICES = 16, SIM_ALL_DEVICES = 0xffff };

typedef struct Settings {
    uint64_t threads; // of the host, that run blocks; 0: as many as there are cores
    uint64_t max_instructions; // of a block, until it counts as endless
    int sms, devices;
    bool time_sliced, shuffles;
    uint64_t block_order;
    bool checks, checks_leaks;
    bool strict; // a warning counts as an error
    const char *counters, *findings, *record, *trace; // names of files, or NULL
    bool traces_all, traces_values;
    uint64_t traced_block; // otherwise
    uint64_t traced_rows;  // of a launch, at most
    bool repeats, prints_speed;
} Settings;

const Settings *sim_settings(void);
// Whether programs are checked for races and the like.
bool sim_checks(void);

#endif
