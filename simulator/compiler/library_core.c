// library_core.c: declarations that need no header: shuffles, votes, atomics, minima, dim3.
#include "compiler/library_text.h"

// 64-bit values are shuffled in two halves.
#define SHUFFLE(name, row, lane, control) \
    D int name(unsigned mask, int value, lane source, int width = 32) { return row(mask, value, (int)source, control); } \
    D unsigned name(unsigned mask, unsigned value, lane source, int width = 32) { return (unsigned)row(mask, (int)value, (int)source, control); } \
    D float name(unsigned mask, float value, lane source, int width = 32) { return __int_as_float(row(mask, __float_as_int(value), (int)source, control)); } \
    D long long name(unsigned mask, long long value, lane source, int width = 32) { \
        int low, high; long long result; \
        asm("mov.b64 {%0,%1}, %2;" : "=r"(low), "=r"(high) : "l"(value)); \
        high = row(mask, high, (int)source, control); \
        low = row(mask, low, (int)source, control); \
        asm("mov.b64 %0, {%1,%2};" : "=l"(result) : "r"(low), "r"(high)); \
        return result; } \
    D unsigned long long name(unsigned mask, unsigned long long value, lane source, int width = 32) { \
        return (unsigned long long)name(mask, (long long)value, source, width); } \
    D long name(unsigned mask, long value, lane source, int width = 32) { return (long)name(mask, (long long)value, source, width); } \
    D unsigned long name(unsigned mask, unsigned long value, lane source, int width = 32) { \
        return (unsigned long)name(mask, (long long)value, source, width); } \
    D double name(unsigned mask, double value, lane source, int width = 32) { \
        int low, high; double result; \
        asm("mov.b64 {%0,%1}, %2;" : "=r"(low), "=r"(high) : "d"(value)); \
        high = row(mask, high, (int)source, control); \
        low = row(mask, low, (int)source, control); \
        asm("mov.b64 %0, {%1,%2};" : "=d"(result) : "r"(low), "r"(high)); \
        return result; }

// atomicX, atomicX_block and atomicX_system, in terms of intrinsics.
#define ATOMIC_OF(name, suffix, type, row, cast) \
    D type name##suffix(type *address, type value) { return (type)row##suffix((cast *)address, (cast)value); }
#define ATOMIC_ADD(suffix) \
    ATOMIC_OF(atomicAdd, suffix, int, __i_add, int) ATOMIC_OF(atomicAdd, suffix, unsigned, __i_add_u, unsigned) \
    ATOMIC_OF(atomicAdd, suffix, unsigned long long, __i_add_y, unsigned long long) ATOMIC_OF(atomicAdd, suffix, float, __i_add_f, float) \
    ATOMIC_OF(atomicAdd, suffix, double, __i_add_d, double)
#define ATOMIC_SUB(suffix) \
    D int atomicSub##suffix(int *address, int value) { return __i_add##suffix(address, -value); } \
    D unsigned atomicSub##suffix(unsigned *address, unsigned value) { return (unsigned)__i_add##suffix((int *)address, -(int)value); }
#define ATOMIC_EXCH(suffix) \
    ATOMIC_OF(atomicExch, suffix, int, __i_exch, unsigned) ATOMIC_OF(atomicExch, suffix, unsigned, __i_exch, unsigned) \
    ATOMIC_OF(atomicExch, suffix, unsigned long long, __i_exch_y, unsigned long long) \
    D float atomicExch##suffix(float *address, float value) { return __uint_as_float(__i_exch##suffix((unsigned *)address, __float_as_uint(value))); }
#define ATOMIC_ORDER(name, row, suffix) \
    ATOMIC_OF(name, suffix, int, row, int) ATOMIC_OF(name, suffix, unsigned, row##_u, unsigned) \
    ATOMIC_OF(name, suffix, long long, row##_x, long long) ATOMIC_OF(name, suffix, unsigned long long, row##_y, unsigned long long)
#define ATOMIC_BITS(name, row, suffix) \
    ATOMIC_OF(name, suffix, int, row, unsigned) ATOMIC_OF(name, suffix, unsigned, row, unsigned) \
    ATOMIC_OF(name, suffix, unsigned long long, row##_y, unsigned long long)
#define ATOMIC_WRAP(name, row, suffix) ATOMIC_OF(name, suffix, unsigned, row, unsigned)
#define ATOMIC_CAS(suffix) \
    D int atomicCAS##suffix(int *address, int compare, int value) { \
        return (int)__i_cas##suffix((unsigned *)address, (unsigned)compare, (unsigned)value); } \
    D unsigned atomicCAS##suffix(unsigned *address, unsigned compare, unsigned value) { return __i_cas##suffix(address, compare, value); } \
    D unsigned long long atomicCAS##suffix(unsigned long long *address, unsigned long long compare, unsigned long long value) { \
        return __i_cas_y##suffix(address, compare, value); }
#define ATOMIC_ENTRIES(name, text, ...) \
    {#name, NULL, EXPANDED_TEXT(text(__VA_ARGS__))}, {#name "_block", NULL, EXPANDED_TEXT(text(__VA_ARGS__ _block))}, \
    {#name "_system", NULL, EXPANDED_TEXT(text(__VA_ARGS__ _system))}

// Loads and stores with cache operators.
#define LOAD_OF(name, ptx, type, letter, out) \
    D type name(const type *p) { out value; asm(#ptx " %0, [%1];" : letter(value) : "l"(p)); return (type)value; }

const LibraryEntry LIBRARY_CORE[] = {
    {"dim3", NULL, LIBRARY_TEXT(
        struct dim3 {
            unsigned int x, y, z;
            __host__ __device__ constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
            __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
            __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
        };)},
    {"size_t", NULL, "typedef unsigned long size_t;"},
    {"ptrdiff_t", NULL, "typedef long ptrdiff_t;"},
    {"int8_t", NULL, "typedef signed char int8_t;"},
    {"uint8_t", NULL, "typedef unsigned char uint8_t;"},
    {"int16_t", NULL, "typedef short int16_t;"},
    {"uint16_t", NULL, "typedef unsigned short uint16_t;"},
    {"int32_t", NULL, "typedef int int32_t;"},
    {"uint32_t", NULL, "typedef unsigned int uint32_t;"},
    {"int64_t", NULL, "typedef long int64_t;"},
    {"uint64_t", NULL, "typedef unsigned long uint64_t;"},
    {"intptr_t", NULL, "typedef long intptr_t;"},
    {"uintptr_t", NULL, "typedef unsigned long uintptr_t;"},
    {"uint", NULL, "typedef unsigned int uint;"},
    {"ushort", NULL, "typedef unsigned short ushort;"},
    {"ulong", NULL, "typedef unsigned long ulong;"},
    {"nullptr_t", NULL, "typedef decltype(nullptr) nullptr_t;"},
    {"cudaStream_t", NULL, "typedef struct CUstream_st *cudaStream_t;"},
    {"cudaError_t cudaSuccess cudaErrorInvalidValue cudaErrorMemoryAllocation cudaErrorInvalidConfiguration cudaErrorInvalidDeviceFunction cudaErrorNotSupported",
     NULL, "enum cudaError_t { cudaSuccess, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInvalidConfiguration = 9, "
           "cudaErrorInvalidDeviceFunction = 98, cudaErrorNotSupported = 801 };"},
    {"clock_t", NULL, "typedef long clock_t;"},
    {"__syncwarp", NULL, EXPANDED_TEXT(D void __syncwarp(unsigned mask = 0xffffffffu) { __i_syncwarp(mask); })},
    {"__shfl_sync", NULL, EXPANDED_TEXT(SHUFFLE(__shfl_sync, __i_shfl_idx, int, ((32 - width) << 8) | 31))},
    {"__shfl_up_sync", NULL, EXPANDED_TEXT(SHUFFLE(__shfl_up_sync, __i_shfl_up, unsigned, (32 - width) << 8))},
    {"__shfl_down_sync", NULL, EXPANDED_TEXT(SHUFFLE(__shfl_down_sync, __i_shfl_down, unsigned, ((32 - width) << 8) | 31))},
    {"__shfl_xor_sync", NULL, EXPANDED_TEXT(SHUFFLE(__shfl_xor_sync, __i_shfl_bfly, int, ((32 - width) << 8) | 31))},
    {"__ballot_sync", NULL, EXPANDED_TEXT(D unsigned __ballot_sync(unsigned mask, int value) { return __i_ballot(mask, value != 0); })},
    {"__any_sync", NULL, EXPANDED_TEXT(D int __any_sync(unsigned mask, int value) { return __i_any(mask, value != 0); })},
    {"__all_sync", NULL, EXPANDED_TEXT(D int __all_sync(unsigned mask, int value) { return __i_all(mask, value != 0); })},
    {"__uni_sync", NULL, EXPANDED_TEXT(D int __uni_sync(unsigned mask, int value) { return __i_uni(mask, value != 0); })},
    {"__match_any_sync", NULL, EXPANDED_TEXT(
        D unsigned __match_any_sync(unsigned mask, unsigned value) { return __i_match_any(mask, value); }
        D unsigned __match_any_sync(unsigned mask, int value) { return __i_match_any(mask, (unsigned)value); }
        D unsigned __match_any_sync(unsigned mask, float value) { return __i_match_any(mask, __float_as_uint(value)); }
        D unsigned __match_any_sync(unsigned mask, unsigned long long value) { return __i_match_any(mask, value); }
        D unsigned __match_any_sync(unsigned mask, long long value) { return __i_match_any(mask, (unsigned long long)value); }
        D unsigned __match_any_sync(unsigned mask, unsigned long value) { return __i_match_any(mask, (unsigned long long)value); }
        D unsigned __match_any_sync(unsigned mask, long value) { return __i_match_any(mask, (unsigned long long)value); }
        D unsigned __match_any_sync(unsigned mask, double value) { return __i_match_any(mask, (unsigned long long)__double_as_longlong(value)); })},
    {"__match_all_sync", NULL, EXPANDED_TEXT(
        D unsigned __match_all_sync(unsigned mask, unsigned value, int *predicate) {
            unsigned result; int all;
            asm("{ .reg .pred %%p; match.all.sync.b32 %0|%%p, %2, %3; selp.u32 %1, 1, 0, %%p; }" : "=r"(result), "=r"(all) : "r"(value), "r"(mask));
            *predicate = all; return result; }
        D unsigned __match_all_sync(unsigned mask, int value, int *predicate) { return __match_all_sync(mask, (unsigned)value, predicate); })},
    {"__nanosleep", NULL, EXPANDED_TEXT(D void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" :: "r"(ns)); })},
    {"clock", NULL, EXPANDED_TEXT(D clock_t clock() { return clock64(); })},
    ATOMIC_ENTRIES(atomicAdd, ATOMIC_ADD, ), ATOMIC_ENTRIES(atomicSub, ATOMIC_SUB, ), ATOMIC_ENTRIES(atomicExch, ATOMIC_EXCH, ),
    ATOMIC_ENTRIES(atomicMin, ATOMIC_ORDER, atomicMin, __i_min,), ATOMIC_ENTRIES(atomicMax, ATOMIC_ORDER, atomicMax, __i_max,),
    ATOMIC_ENTRIES(atomicAnd, ATOMIC_BITS, atomicAnd, __i_and,), ATOMIC_ENTRIES(atomicOr, ATOMIC_BITS, atomicOr, __i_or,),
    ATOMIC_ENTRIES(atomicXor, ATOMIC_BITS, atomicXor, __i_xor,), ATOMIC_ENTRIES(atomicInc, ATOMIC_WRAP, atomicInc, __i_inc,),
    ATOMIC_ENTRIES(atomicDec, ATOMIC_WRAP, atomicDec, __i_dec,),
    {"atomicCAS", NULL, EXPANDED_TEXT(ATOMIC_CAS()
        D unsigned short atomicCAS(unsigned short *address, unsigned short compare, unsigned short value) { return __i_cas_t(address, compare, value); })},
    {"atomicCAS_block", NULL, EXPANDED_TEXT(ATOMIC_CAS(_block))}, {"atomicCAS_system", NULL, EXPANDED_TEXT(ATOMIC_CAS(_system))},
    {"__ffs", NULL, EXPANDED_TEXT(D int __ffs(int value) { return (int)__i_bfind_shift(__brev((unsigned)value)) + 1; })},
    {"__ffsll", NULL, EXPANDED_TEXT(D int __ffsll(long long value) { return 64 - __clzll(value & -value); })},
    {"__byte_perm", NULL, EXPANDED_TEXT(D unsigned __byte_perm(unsigned x, unsigned y, unsigned s) { return __i_prmt(x, y, s & 0x7777); })},
    {"__mul24", NULL, EXPANDED_TEXT(D int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); })},
    {"__umul24", NULL, EXPANDED_TEXT(D unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); })},
    {"__hadd", NULL, EXPANDED_TEXT(D int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); })},
    {"__rhadd", NULL, EXPANDED_TEXT(D int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); })},
    {"__funnelshift_l", NULL, EXPANDED_TEXT(D unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
        unsigned r; asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(shift)); return r; })},
    {"__funnelshift_r", NULL, EXPANDED_TEXT(D unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
        unsigned r; asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(shift)); return r; })},
    {"__dp4a", NULL, EXPANDED_TEXT(
        D int __dp4a(int a, int b, int c) { int r; asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; }
        D unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
            unsigned r; asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); return r; })},
    {"__vaddus4", NULL, EXPANDED_TEXT(D unsigned __vaddus4(unsigned a, unsigned b) {
        unsigned low = (a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu); unsigned either = a ^ b; unsigned carry = (a & b) | (~(either ^ low) & (a | b));
        asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(carry) : "r"(carry)); return (low ^ (either & 0x80808080u)) | carry; })},
    {"min", NULL, EXPANDED_TEXT(
        HD int min(int a, int b) { return __i_min_of(a, b); }
        HD unsigned min(unsigned a, unsigned b) { return __i_min_of(a, b); }
        HD unsigned min(int a, unsigned b) { return __i_min_of((unsigned)a, b); }
        HD unsigned min(unsigned a, int b) { return __i_min_of(a, (unsigned)b); }
        HD long long min(long long a, long long b) { return __i_min_of(a, b); }
        HD unsigned long long min(unsigned long long a, unsigned long long b) { return __i_min_of(a, b); }
        HD unsigned long long min(long long a, unsigned long long b) { return __i_min_of((unsigned long long)a, b); }
        HD unsigned long long min(unsigned long long a, long long b) { return __i_min_of(a, (unsigned long long)b); }
        HD long min(long a, long b) { return (long)__i_min_of((long long)a, (long long)b); }
        HD unsigned long min(unsigned long a, unsigned long b) { return (unsigned long)__i_min_of((unsigned long long)a, (unsigned long long)b); }
        HD unsigned long min(long a, unsigned long b) { return (unsigned long)__i_min_of((unsigned long long)a, (unsigned long long)b); }
        HD unsigned long min(unsigned long a, long b) { return (unsigned long)__i_min_of((unsigned long long)a, (unsigned long long)b); }
        HD float min(float a, float b) { return fminf(a, b); }
        HD double min(double a, double b) { return fmin(a, b); }
        HD double min(float a, double b) { return fmin((double)a, b); }
        HD double min(double a, float b) { return fmin(a, (double)b); })},
    {"max", NULL, EXPANDED_TEXT(
        HD int max(int a, int b) { return __i_max_of(a, b); }
        HD unsigned max(unsigned a, unsigned b) { return __i_max_of(a, b); }
        HD unsigned max(int a, unsigned b) { return __i_max_of((unsigned)a, b); }
        HD unsigned max(unsigned a, int b) { return __i_max_of(a, (unsigned)b); }
        HD long long max(long long a, long long b) { return __i_max_of(a, b); }
        HD unsigned long long max(unsigned long long a, unsigned long long b) { return __i_max_of(a, b); }
        HD unsigned long long max(long long a, unsigned long long b) { return __i_max_of((unsigned long long)a, b); }
        HD unsigned long long max(unsigned long long a, long long b) { return __i_max_of(a, (unsigned long long)b); }
        HD long max(long a, long b) { return (long)__i_max_of((long long)a, (long long)b); }
        HD unsigned long max(unsigned long a, unsigned long b) { return (unsigned long)__i_max_of((unsigned long long)a, (unsigned long long)b); }
        HD unsigned long max(long a, unsigned long b) { return (unsigned long)__i_max_of((unsigned long long)a, (unsigned long long)b); }
        HD unsigned long max(unsigned long a, long b) { return (unsigned long)__i_max_of((unsigned long long)a, (unsigned long long)b); }
        HD float max(float a, float b) { return fmaxf(a, b); }
        HD double max(double a, double b) { return fmax(a, b); }
        HD double max(float a, double b) { return fmax((double)a, b); }
        HD double max(double a, float b) { return fmax(a, (double)b); })},
    {"umin", NULL, EXPANDED_TEXT(HD unsigned umin(unsigned a, unsigned b) { return __i_min_of(a, b); })},
    {"umax", NULL, EXPANDED_TEXT(HD unsigned umax(unsigned a, unsigned b) { return __i_max_of(a, b); })},
    {"llmin", NULL, EXPANDED_TEXT(HD long long llmin(long long a, long long b) { return __i_min_of(a, b); })},
    {"llmax", NULL, EXPANDED_TEXT(HD long long llmax(long long a, long long b) { return __i_max_of(a, b); })},
    {"abs", NULL, EXPANDED_TEXT(
        HD int abs(int a) { return __i_abs(a); }
        HD long abs(long a) { return (long)__i_abs((long long)a); }
        HD long long abs(long long a) { return __i_abs(a); }
        HD float abs(float a) { return fabsf(a); }
        HD double abs(double a) { return fabs(a); })},
    {"labs", NULL, EXPANDED_TEXT(HD long labs(long a) { return (long)__i_abs((long long)a); })},
    {"llabs", NULL, EXPANDED_TEXT(HD long long llabs(long long a) { return __i_abs(a); })},
#define LOADS(name, ptx) \
    LOAD_OF(name, ptx.s32, int, "=r", int) LOAD_OF(name, ptx.u32, unsigned, "=r", unsigned) LOAD_OF(name, ptx.f32, float, "=f", float) \
    LOAD_OF(name, ptx.s64, long long, "=l", long long) LOAD_OF(name, ptx.u64, unsigned long long, "=l", unsigned long long) \
    LOAD_OF(name, ptx.s64, long, "=l", long) LOAD_OF(name, ptx.u64, unsigned long, "=l", unsigned long) \
    LOAD_OF(name, ptx.f64, double, "=d", double) LOAD_OF(name, ptx.s8, char, "=r", int) LOAD_OF(name, ptx.s8, signed char, "=r", int) \
    LOAD_OF(name, ptx.u8, unsigned char, "=r", unsigned) LOAD_OF(name, ptx.s16, short, "=h", short) \
    LOAD_OF(name, ptx.u16, unsigned short, "=h", unsigned short) \
    D float2 name(const float2 *p) { float2 v; asm(#ptx ".v2.f32 {%0,%1}, [%2];" : "=f"(v.x), "=f"(v.y) : "l"(p)); return v; } \
    D int2 name(const int2 *p) { int2 v; asm(#ptx ".v2.s32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p)); return v; } \
    D uint2 name(const uint2 *p) { uint2 v; asm(#ptx ".v2.u32 {%0,%1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p)); return v; } \
    D double2 name(const double2 *p) { double2 v; asm(#ptx ".v2.f64 {%0,%1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p)); return v; } \
    D float4 name(const float4 *p) { float4 v; \
        asm(#ptx ".v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p)); return v; } \
    D int4 name(const int4 *p) { int4 v; \
        asm(#ptx ".v4.s32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; } \
    D uint4 name(const uint4 *p) { uint4 v; \
        asm(#ptx ".v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; }
#define STORE_OF(name, ptx, type, letter) D void name(type *p, type value) { asm volatile(#ptx " [%0], %1;" :: "l"(p), letter(value) : "memory"); }
#define STORES(name, ptx) \
    STORE_OF(name, ptx.s32, int, "r") STORE_OF(name, ptx.u32, unsigned, "r") STORE_OF(name, ptx.f32, float, "f") \
    STORE_OF(name, ptx.s64, long long, "l") STORE_OF(name, ptx.u64, unsigned long long, "l") STORE_OF(name, ptx.f64, double, "d") \
    D void name(float2 *p, float2 v) { asm volatile(#ptx ".v2.f32 [%0], {%1,%2};" :: "l"(p), "f"(v.x), "f"(v.y) : "memory"); } \
    D void name(float4 *p, float4 v) { \
        asm volatile(#ptx ".v4.f32 [%0], {%1,%2,%3,%4};" :: "l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory"); } \
    D void name(int2 *p, int2 v) { asm volatile(#ptx ".v2.s32 [%0], {%1,%2};" :: "l"(p), "r"(v.x), "r"(v.y) : "memory"); } \
    D void name(uint2 *p, uint2 v) { asm volatile(#ptx ".v2.u32 [%0], {%1,%2};" :: "l"(p), "r"(v.x), "r"(v.y) : "memory"); } \
    D void name(int4 *p, int4 v) { \
        asm volatile(#ptx ".v4.s32 [%0], {%1,%2,%3,%4};" :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); } \
    D void name(uint4 *p, uint4 v) { \
        asm volatile(#ptx ".v4.u32 [%0], {%1,%2,%3,%4};" :: "l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
    {"__ldg", NULL, EXPANDED_TEXT(LOADS(__ldg, ld.global.nc))},
    {"__ldca", NULL, EXPANDED_TEXT(LOADS(__ldca, ld.global.ca))},
    {"__ldcg", NULL, EXPANDED_TEXT(LOADS(__ldcg, ld.global.cg))},
    {"__ldcs", NULL, EXPANDED_TEXT(LOADS(__ldcs, ld.global.cs))},
    {"__ldlu", NULL, EXPANDED_TEXT(LOADS(__ldlu, ld.global.lu))},
    {"__ldcv", NULL, EXPANDED_TEXT(LOADS(__ldcv, ld.global.cv))},
    {"__stwb", NULL, EXPANDED_TEXT(STORES(__stwb, st.global.wb))},
    {"__stcg", NULL, EXPANDED_TEXT(STORES(__stcg, st.global.cg))},
    {"__stcs", NULL, EXPANDED_TEXT(STORES(__stcs, st.global.cs))},
    {"__stwt", NULL, EXPANDED_TEXT(STORES(__stwt, st.global.wt))},
    {NULL, NULL, NULL},
};
