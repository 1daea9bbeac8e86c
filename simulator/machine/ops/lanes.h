// lanes.h: macros for instruction handlers.
#ifndef LANES_H
#define LANES_H

#include "machine/block.h"

// Compiles a handler twice if the build is for x86 processors without AVX2, such as that of a wheel: the program takes the version with AVX2 and
// FMA if the processor has them.
#if defined(__x86_64__) && !defined(__AVX2__) && (defined(__clang__) || __GNUC__ >= 12)
#define FOR_PROCESSORS __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FOR_PROCESSORS
#endif

// The values of an operand: an array of 32 values or, for a predicate, a word with a bit for each lane.
#define OPERAND(type, field) ((type *)(w->registers + i->field))

// Executes the statement for each lane l of `mask`. With all lanes active the loop vectorises, because lanes are independent.
#define FOR_EACH_LANE(statement)                                  \
    if (mask == ALL_LANES) {                                      \
        _Pragma("GCC ivdep") for (int l = 0; l < LANES; l++) {    \
            statement;                                            \
        }                                                         \
    } else {                                                      \
        for (uint32_t rest = mask; rest; rest &= rest - 1) {      \
            const int l = __builtin_ctz(rest);                    \
            statement;                                            \
        }                                                         \
    }

// These define handlers with one, two and three source operands. D, A, B and C are types; the expression uses a, b and c.
#define UNARY(name, D, A, expression)                                        \
    FOR_PROCESSORS static void name(Warp *w, const Instr *i, uint32_t mask)  \
    {                                                                        \
        D *d = OPERAND(D, d);                                                \
        const A *as = OPERAND(A, a);                                         \
        FOR_EACH_LANE(const A a = as[l]; d[l] = (D)(expression))             \
    }

#define BINARY(name, D, A, B, expression)                                           \
    FOR_PROCESSORS static void name(Warp *w, const Instr *i, uint32_t mask)         \
    {                                                                               \
        D *d = OPERAND(D, d);                                                       \
        const A *as = OPERAND(A, a);                                                \
        const B *bs = OPERAND(B, b);                                                \
        FOR_EACH_LANE(const A a = as[l]; const B b = bs[l]; d[l] = (D)(expression)) \
    }

#define TERNARY(name, D, A, B, C, expression)                                                          \
    FOR_PROCESSORS static void name(Warp *w, const Instr *i, uint32_t mask)                            \
    {                                                                                                  \
        D *d = OPERAND(D, d);                                                                          \
        const A *as = OPERAND(A, a);                                                                   \
        const B *bs = OPERAND(B, b);                                                                   \
        const C *cs = OPERAND(C, c);                                                                   \
        FOR_EACH_LANE(const A a = as[l]; const B b = bs[l]; const C c = cs[l]; d[l] = (D)(expression)) \
    }

// Writes setp's destinations p|q in the lanes of mask.
void sim_set_predicates(Warp *w, const Instr *i, uint32_t mask, uint32_t result);

// sim_set_predicates with an inline fast path.
static inline void sim_set_predicate(Warp *w, const Instr *i, uint32_t mask, uint32_t result)
{
    if (i->d == NO_OFFSET || i->second != NO_OFFSET || i->flags & COMBINE) {
        sim_set_predicates(w, i, mask, result);
        return;
    }
    uint32_t *d = OPERAND(uint32_t, d); // fast path: one destination, no combination
    *d = (*d & ~mask) | (result & mask);
}

// Defines a handler of setp; `condition` uses a and b.
#define COMPARE(name, A, condition)                                                               \
    FOR_PROCESSORS static void name(Warp *w, const Instr *i, uint32_t mask)                       \
    {                                                                                             \
        const A *as = OPERAND(A, a);                                                              \
        const A *bs = OPERAND(A, b);                                                              \
        uint32_t result = 0;                                                                      \
        FOR_EACH_LANE(const A a = as[l]; const A b = bs[l]; result |= (uint32_t)(condition) << l) \
        sim_set_predicate(w, i, mask, result);                                                    \
    }

// Device memory is accessed with relaxed atomics, because blocks run concurrently on the host and plain accesses would be a
// data race in C.
static inline uint64_t sim_read_bytes(const uint8_t *from, int bytes)
{
    switch (bytes) {
    case 1: return __atomic_load_n(from, __ATOMIC_RELAXED);
    case 2: return __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED);
    case 4: return __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED);
    default: return __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED);
    }
}

// Hash of the contents of an address, for MemoryChanges.
static inline uint64_t sim_content_hash(const uint8_t *at, uint64_t value)
{
    const uint64_t hash = ((uint64_t)(uintptr_t)at ^ value * 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    return (hash ^ hash >> 29) * 0x94d049bb133111eb;
}

static inline void sim_write_bytes(uint8_t *to, uint64_t value, int bytes)
{
    switch (bytes) {
    case 1: __atomic_store_n(to, (uint8_t)value, __ATOMIC_RELAXED); break;
    case 2: __atomic_store_n((uint16_t *)to, (uint16_t)value, __ATOMIC_RELAXED); break;
    case 4: __atomic_store_n((uint32_t *)to, (uint32_t)value, __ATOMIC_RELAXED); break;
    default: __atomic_store_n((uint64_t *)to, value, __ATOMIC_RELAXED);
    }
}

#endif
