// base.h: the lowest layer of the simulator: memory, text slices, digests, names, settings.
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

enum { LANES = 32, MAX_WARPS = 32, BARRIERS = 16 }; // lanes of a warp; warps and named barriers of a block
enum { MAX_VECTOR = 8 };           // elements of a vector access
enum { MAX_READ_ALLOCATIONS = 16 }; // that a speculative block may read
#define ALL_LANES 0xffffffffu
#define NO_OFFSET UINT32_MAX // the frame offset of an absent operand
#define NO_INDEX UINT32_MAX  // the index of an absent instruction or basic block

// ---- digest.c: hashes that detect changed bytes. Digests are comparable if both were computed by calls with the same sizes.

enum { DIGEST_LANES = 8 };
typedef struct Digest { // starts as zeros; two random inputs collide with probability 2^-64
    uint64_t lanes[DIGEST_LANES];
} Digest;

void sim_digest(Digest *d, const void *bytes, size_t count);
// Mixes a word into a lane. Bijective for a fixed word, so sequences that differ in one word have different results. One
// multiplication would not spread a difference in the highest bit, such as a sign; the shift and the second multiplication do.
static inline uint64_t sim_mix_word(uint64_t lane, uint64_t word)
{
    const uint64_t once = (lane ^ word) * 0x9e3779b97f4a7c15, mixed = (once ^ once >> 32) * 0xd6e8feb86659fd93;
    return mixed << 29 | mixed >> 35;
}
bool sim_same_digest(const Digest *a, const Digest *b);

// ---- names.c
// The unqualified name of a function: "reduce" for _Z6reduceILj256EEvPKfPfm.
Slice sim_unqualified_name(Slice mangled);
// The demangled name with namespaces and template arguments, truncated to `size` bytes: "reduce<256u>".
void sim_demangle(Slice mangled, char *name, size_t size);

// ---- json.c
// Writes a text as a JSON string, with its quotation marks.
void sim_write_json_string(FILE *out, const char *text);

// ---- settings.c: the environment variables; documented in README.md

enum { SIM_MAX_DEVICES = 16, SIM_ALL_DEVICES = 0xffff };

typedef struct Settings {
    uint64_t threads; // host threads that run blocks; 0: one for each core
    uint64_t max_instructions; // warp instructions of a block; above that it counts as an infinite loop
    int sms, devices;
    bool time_sliced;     // blocks are interleaved
    bool random_order;    // blocks, warps and lanes run in a random order
    uint64_t block_order; // seed of the random order
    bool lanes_apart;     // the lanes of each warp start in two groups
    bool checks, checks_leaks;
    bool strict; // warnings are errors
    const char *counters, *findings, *record, *trace; // names of output files, or NULL
    const char *kernel, *suppressions; // a pattern of kernels' names, and the name of a file, or NULL
    bool counts_atomic_loads; // for goals: what can replace a load, a store or a block barrier counts as one, such as an atomic operation
    bool traces_all, traces_values;
    uint64_t traced_block; // ignored if traces_all
    uint64_t max_trace_rows; // for each launch
    bool takes_no_shortcuts; // machine/shortcuts.h
    bool prints_speed;
    uint64_t time_limit_s; // of the program, from its first launch; 0: none
} Settings;

const Settings *sim_settings(void);
// Replaces $SIM_TOGETHER and $SIM_BLOCK_ORDER for later launches. The device of make judge calls it, with ctypes, so that a program cannot
// know by its process in which order a run is made. The caller makes sure that no kernel is running.
void sim_set_orders(bool time_sliced, bool random_order, uint64_t block_order);
// Whether the checker runs.
bool sim_checker_enabled(void);

#endif
