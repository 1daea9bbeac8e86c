// library_half.c: __half, __half2, __nv_bfloat16 and __nv_bfloat162, with the PTX of CUDA's headers.
#include "compiler/library_text.h"

#define HALF "cuda_fp16.h"
#define BF16 "cuda_bf16.h"
#define BITS(x) "h"((x).__x)
#define PAIR(x) "r"(*(const unsigned *)&(x))

#define BINARY(type, name, operation) \
    D type name(type a, type b) { type r; asm("{" operation " %0,%1,%2;}" : "=h"(r.__x) : BITS(a), BITS(b)); return r; }
#define COMPARE(type, name, operation) \
    D bool name(type a, type b) { unsigned short r; \
        asm("{ .reg .pred p; setp." operation " p, %1, %2; selp.u16 %0, 1, 0, p;}" : "=h"(r) : BITS(a), BITS(b)); return r != 0; }
#define OPERATORS(type) \
    D type operator+(const type &a, const type &b) { return __hadd(a, b); } D type operator-(const type &a, const type &b) { return __hsub(a, b); } \
    D type operator*(const type &a, const type &b) { return __hmul(a, b); } D type operator/(const type &a, const type &b) { return __hdiv(a, b); } \
    D type &operator+=(type &a, const type &b) { a = __hadd(a, b); return a; } D type &operator-=(type &a, const type &b) { a = __hsub(a, b); return a; } \
    D type &operator*=(type &a, const type &b) { a = __hmul(a, b); return a; } D type &operator/=(type &a, const type &b) { a = __hdiv(a, b); return a; } \
    D type operator+(const type &a) { return a; } D type operator-(const type &a) { return __hneg(a); } \
    D bool operator==(const type &a, const type &b) { return __heq(a, b); } D bool operator!=(const type &a, const type &b) { return __hneu(a, b); } \
    D bool operator>(const type &a, const type &b) { return __hgt(a, b); } D bool operator<(const type &a, const type &b) { return __hlt(a, b); } \
    D bool operator>=(const type &a, const type &b) { return __hge(a, b); } D bool operator<=(const type &a, const type &b) { return __hle(a, b); }
#define PAIR_BINARY(type, name, operation) \
    D type name(type a, type b) { type r; unsigned bits; asm("{" operation " %0,%1,%2;}" : "=r"(bits) : PAIR(a), PAIR(b)); *(unsigned *)&r = bits; return r; }
#define PAIR_OPERATORS(type) \
    D type operator+(const type &a, const type &b) { return __hadd2(a, b); } D type operator-(const type &a, const type &b) { return __hsub2(a, b); } \
    D type operator*(const type &a, const type &b) { return __hmul2(a, b); } D type &operator+=(type &a, const type &b) { a = __hadd2(a, b); return a; } \
    D type &operator-=(type &a, const type &b) { a = __hsub2(a, b); return a; } D type &operator*=(type &a, const type &b) { a = __hmul2(a, b); return a; }
#define NUMBER(type, suffix, from_float, to_float) \
    struct __align__(2) type { unsigned short __x; \
        HD type() = default; \
        D type(float f) { *this = from_float(f); } D type(double d) { asm("{ cvt.rn." suffix ".f64 %0, %1;}" : "=h"(__x) : "d"(d)); } \
        D type(int i) { asm("cvt.rn." suffix ".s32 %0, %1;" : "=h"(__x) : "r"(i)); } D type(unsigned i) { asm("cvt.rn." suffix ".u32 %0, %1;" : "=h"(__x) : "r"(i)); } \
        D type(long long i) { asm("cvt.rn." suffix ".s64 %0, %1;" : "=h"(__x) : "l"(i)); } \
        D type(unsigned long long i) { asm("cvt.rn." suffix ".u64 %0, %1;" : "=h"(__x) : "l"(i)); } \
        D operator float() const { return to_float(*this); } \
        D operator int() const { int i; asm("cvt.rzi.s32." suffix " %0, %1;" : "=r"(i) : "h"(__x)); return i; } \
        D operator unsigned() const { unsigned i; asm("cvt.rzi.u32." suffix " %0, %1;" : "=r"(i) : "h"(__x)); return i; } \
        D operator long long() const { long long i; asm("cvt.rzi.s64." suffix " %0, %1;" : "=l"(i) : "h"(__x)); return i; } \
        D operator bool() const { return (__x & 0x7fff) != 0; } \
    };
#define FUNCTIONS(type, f) \
    BINARY(type, __hadd, "add." f) BINARY(type, __hsub, "sub." f) BINARY(type, __hmul, "mul." f) BINARY(type, __hmax, "max." f) BINARY(type, __hmin, "min." f) \
    BINARY(type, __hadd_rn, "add.rn." f) BINARY(type, __hsub_rn, "sub.rn." f) BINARY(type, __hmul_rn, "mul.rn." f) \
    COMPARE(type, __heq, "eq." f) COMPARE(type, __hne, "ne." f) COMPARE(type, __hneu, "neu." f) COMPARE(type, __hlt, "lt." f) COMPARE(type, __hle, "le." f) \
    COMPARE(type, __hgt, "gt." f) COMPARE(type, __hge, "ge." f) \
    D type __hneg(type a) { type r; asm("{neg." f " %0,%1;}" : "=h"(r.__x) : BITS(a)); return r; } \
    D type __habs(type a) { type r; asm("{abs." f " %0,%1;}" : "=h"(r.__x) : BITS(a)); return r; } \
    D type __hfma(type a, type b, type c) { type r; asm("{fma.rn." f " %0,%1,%2,%3;}" : "=h"(r.__x) : BITS(a), BITS(b), BITS(c)); return r; } \
    D bool __hisnan(type a) { return !__heq(a, a); }
#define SHUFFLES(name, kind, lane, type) \
    D type name(unsigned mask, type value, lane source, int width = 32) { type r; \
        r.__x = (unsigned short)name(mask, (unsigned)value.__x, source, width); return r; }

#define HALF_NAMES \
    "__half half __half2float __float2half __float2half_rn __float2half_rz __double2half __int2half_rn __half2int_rz __half_as_ushort __ushort_as_half " \
    "__hsub __hmul __hdiv __hfma __hneg __habs __hmax __hmin __heq __hne __hneu __hlt __hle __hgt __hge __hisnan __hadd_rn __hsub_rn __hmul_rn hsqrt hexp"
#define HALF_PAIR_NAMES \
    "__half2 half2 __halves2half2 __low2float __high2float __low2half __high2half __float2half2_rn __floats2half2_rn __half22float2 __float22half2_rn " \
    "__half2half2 __hsub2 __hmul2 __hfma2 __hmax2 __hmin2 make_half2"
#define BF16_NAMES \
    "__nv_bfloat16 nv_bfloat16 __bfloat162float __float2bfloat16 __float2bfloat16_rn __double2bfloat16 __bfloat16_as_ushort __ushort_as_bfloat16"
#define BF16_PAIR_NAMES \
    "__nv_bfloat162 nv_bfloat162 __halves2bfloat162 __float2bfloat162_rn __floats2bfloat162_rn __bfloat1622float2 __float22bfloat162_rn"

const LibraryEntry LIBRARY_HALF[] = {
    {HALF_NAMES " __hadd", HALF, EXPANDED_TEXT(
        struct __half;
        D __half __float2half(float f); D float __half2float(__half h);
        NUMBER(__half, "f16", __float2half, __half2float)
        typedef __half half;
        D __half __float2half(float f) { __half h; asm("{ cvt.rn.f16.f32 %0, %1;}" : "=h"(h.__x) : "f"(f)); return h; }
        D __half __float2half_rn(float f) { return __float2half(f); }
        D __half __float2half_rz(float f) { __half h; asm("{ cvt.rz.f16.f32 %0, %1;}" : "=h"(h.__x) : "f"(f)); return h; }
        D __half __double2half(double d) { return __half(d); }
        D float __half2float(__half h) { float f; asm("{ cvt.f32.f16 %0, %1;}" : "=f"(f) : BITS(h)); return f; }
        D __half __int2half_rn(int i) { return __half(i); } D int __half2int_rz(__half h) { return (int)h; }
        D unsigned short __half_as_ushort(__half h) { return h.__x; } D __half __ushort_as_half(unsigned short bits) { __half h; h.__x = bits; return h; }
        FUNCTIONS(__half, "f16")
        D __half __hdiv(__half a, __half b) {
            const float x = __half2float(a); const float y = __half2float(b); float inverse; asm("{rcp.approx.ftz.f32 %0, %1;}" : "=f"(inverse) : "f"(y));
            float q = x * inverse; __half r = __float2half(q); const __half small = __habs(r); const __half limit = __ushort_as_half(143);
            if (__hlt(small, limit) && __hlt(__float2half(0.0f), small)) { q = fmaf(inverse, fmaf(-y, q, x), q); r = __float2half(q); }
            return r; }
        D __half hsqrt(__half a) { return __float2half(sqrtf(__half2float(a))); }
        OPERATORS(__half))},
    {"__shfl_sync", HALF, EXPANDED_TEXT(SHUFFLES(__shfl_sync, idx, int, __half))},
    {"__shfl_up_sync", HALF, EXPANDED_TEXT(SHUFFLES(__shfl_up_sync, up, unsigned, __half))},
    {"__shfl_down_sync", HALF, EXPANDED_TEXT(SHUFFLES(__shfl_down_sync, down, unsigned, __half))},
    {"__shfl_xor_sync", HALF, EXPANDED_TEXT(SHUFFLES(__shfl_xor_sync, bfly, int, __half))},
    {"atomicAdd", HALF, EXPANDED_TEXT(
        D __half atomicAdd(__half *p, __half value) { __half r;
            asm volatile("{ atom.add.noftz.f16 %0,[%1],%2; }" : "=h"(r.__x) : "l"(p), BITS(value) : "memory"); return r; })},
    {HALF_PAIR_NAMES " __hadd2", HALF, EXPANDED_TEXT(
        struct __align__(4) __half2 { __half x; __half y; HD __half2() = default; D __half2(const __half &a, const __half &b) : x(a), y(b) {} };
        typedef __half2 half2;
        D __half2 __halves2half2(__half a, __half b) { __half2 r; unsigned bits; asm("{ mov.b32 %0, {%1,%2};}" : "=r"(bits) : BITS(a), BITS(b)); *(unsigned *)&r = bits; return r; }
        D __half2 make_half2(__half a, __half b) { return __halves2half2(a, b); }
        D float __low2float(__half2 a) { float f; asm("{.reg .f16 low,high; mov.b32 {low,high},%1; cvt.f32.f16 %0, low;}" : "=f"(f) : PAIR(a)); return f; }
        D float __high2float(__half2 a) { float f; asm("{.reg .f16 low,high; mov.b32 {low,high},%1; cvt.f32.f16 %0, high;}" : "=f"(f) : PAIR(a)); return f; }
        D __half __low2half(__half2 a) { __half r; asm("{.reg .f16 low,high; mov.b32 {low,high}, %1; mov.b16 %0, low;}" : "=h"(r.__x) : PAIR(a)); return r; }
        D __half __high2half(__half2 a) { __half r; asm("{.reg .f16 low,high; mov.b32 {low,high}, %1; mov.b16 %0, high;}" : "=h"(r.__x) : PAIR(a)); return r; }
        D __half2 __float2half2_rn(float f) { __half2 r; unsigned bits;
            asm("{.reg .f16 low; cvt.rn.f16.f32 low, %1; mov.b32 %0, {low,low};}" : "=r"(bits) : "f"(f)); *(unsigned *)&r = bits; return r; }
        D __half2 __floats2half2_rn(float a, float b) { __half2 r; unsigned bits; asm("{ cvt.rn.f16x2.f32 %0, %2, %1; }" : "=r"(bits) : "f"(a), "f"(b)); *(unsigned *)&r = bits; return r; }
        D __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
        D float2 __half22float2(__half2 a) { return make_float2(__low2float(a), __high2float(a)); }
        D __half2 __half2half2(__half a) { return __halves2half2(a, a); }
        PAIR_BINARY(__half2, __hadd2, "add.f16x2") PAIR_BINARY(__half2, __hsub2, "sub.f16x2") PAIR_BINARY(__half2, __hmul2, "mul.f16x2")
        PAIR_BINARY(__half2, __hmax2, "max.f16x2") PAIR_BINARY(__half2, __hmin2, "min.f16x2")
        D __half2 __hfma2(__half2 a, __half2 b, __half2 c) { __half2 r; unsigned bits;
            asm("{fma.rn.f16x2 %0,%1,%2,%3;}" : "=r"(bits) : PAIR(a), PAIR(b), PAIR(c)); *(unsigned *)&r = bits; return r; }
        PAIR_OPERATORS(__half2))},
    {BF16_NAMES " __hadd __hsub __hmul __hdiv __hfma __hneg __habs __hmax __hmin __heq __hne __hneu __hlt __hle __hgt __hge __hisnan", BF16, EXPANDED_TEXT(
        struct __nv_bfloat16;
        D __nv_bfloat16 __float2bfloat16(float f); D float __bfloat162float(__nv_bfloat16 h);
        NUMBER(__nv_bfloat16, "bf16", __float2bfloat16, __bfloat162float)
        typedef __nv_bfloat16 nv_bfloat16;
        D __nv_bfloat16 __float2bfloat16(float f) { __nv_bfloat16 h; asm("{ cvt.rn.bf16.f32 %0, %1;}" : "=h"(h.__x) : "f"(f)); return h; }
        D __nv_bfloat16 __float2bfloat16_rn(float f) { return __float2bfloat16(f); }
        D __nv_bfloat16 __double2bfloat16(double d) { return __nv_bfloat16(d); }
        D float __bfloat162float(__nv_bfloat16 h) { float f; asm("{ cvt.f32.bf16 %0, %1;}" : "=f"(f) : BITS(h)); return f; }
        D unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) { return h.__x; }
        D __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { __nv_bfloat16 h; h.__x = bits; return h; }
        FUNCTIONS(__nv_bfloat16, "bf16")
        D __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return __float2bfloat16(__bfloat162float(a) / __bfloat162float(b)); }
        OPERATORS(__nv_bfloat16))},
    {"__shfl_sync", BF16, EXPANDED_TEXT(SHUFFLES(__shfl_sync, idx, int, __nv_bfloat16))},
    {"__shfl_up_sync", BF16, EXPANDED_TEXT(SHUFFLES(__shfl_up_sync, up, unsigned, __nv_bfloat16))},
    {"__shfl_down_sync", BF16, EXPANDED_TEXT(SHUFFLES(__shfl_down_sync, down, unsigned, __nv_bfloat16))},
    {"__shfl_xor_sync", BF16, EXPANDED_TEXT(SHUFFLES(__shfl_xor_sync, bfly, int, __nv_bfloat16))},
    {BF16_PAIR_NAMES " __hadd2 __hsub2 __hmul2 __hmax2 __hmin2 __low2float __high2float", BF16, EXPANDED_TEXT(
        struct __align__(4) __nv_bfloat162 { __nv_bfloat16 x; __nv_bfloat16 y; HD __nv_bfloat162() = default;
            D __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {} };
        typedef __nv_bfloat162 nv_bfloat162;
        D __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
        D __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { __nv_bfloat162 r; unsigned bits;
            asm("{ cvt.rn.bf16x2.f32 %0, %2, %1; }" : "=r"(bits) : "f"(a), "f"(b)); *(unsigned *)&r = bits; return r; }
        D __nv_bfloat162 __float2bfloat162_rn(float f) { return __floats2bfloat162_rn(f, f); }
        D float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(__bfloat162float(a.x), __bfloat162float(a.y)); }
        D float __low2float(__nv_bfloat162 a) { return __bfloat162float(a.x); }
        D float __high2float(__nv_bfloat162 a) { return __bfloat162float(a.y); }
        PAIR_BINARY(__nv_bfloat162, __hadd2, "add.bf16x2") PAIR_BINARY(__nv_bfloat162, __hsub2, "sub.bf16x2") PAIR_BINARY(__nv_bfloat162, __hmul2, "mul.bf16x2")
        PAIR_BINARY(__nv_bfloat162, __hmax2, "max.bf16x2") PAIR_BINARY(__nv_bfloat162, __hmin2, "min.bf16x2"))},
    {NULL, NULL, NULL},
};
