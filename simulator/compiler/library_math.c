// library_math.c: CUDA's mathematical functions, with the algorithms that nvcc inlines from libdevice.
#include "compiler/library_text.h"

#define OF_FLOAT(name, single) HD float name(float x) { return single(x); }

const LibraryEntry LIBRARY_MATH[] = {
    // Classification
    {"isnan", NULL, EXPANDED_TEXT(
        HD bool isnan(float x) { return !(fabsf(x) <= __builtin_huge_valf()); }
        HD bool isnan(double x) { return !(fabs(x) <= __builtin_huge_val()); })},
    {"isinf", NULL, EXPANDED_TEXT(
        HD bool isinf(float x) { return fabsf(x) == __builtin_huge_valf(); }
        HD bool isinf(double x) { return fabs(x) == __builtin_huge_val(); })},
    {"isfinite", NULL, EXPANDED_TEXT(
        HD bool isfinite(float x) { return fabsf(x) < __builtin_huge_valf(); }
        HD bool isfinite(double x) { return fabs(x) < __builtin_huge_val(); })},
    {"signbit", NULL, EXPANDED_TEXT(
        HD bool signbit(float x) { return __float_as_int(x) < 0; }
        HD bool signbit(double x) { return __double_as_longlong(x) < 0; })},
    // Rounding
    {"roundf", NULL, EXPANDED_TEXT(D float roundf(float x) { return truncf(__fadd_rz(x, copysignf(0.5f, x))); })},
    {"round", NULL, EXPANDED_TEXT(
        D double round(double x) { return trunc(__i_dadd_rz(x, copysign(0.5, x))); }
        D float round(float x) { return roundf(x); })},
    {"lrintf", NULL, EXPANDED_TEXT(D long lrintf(float x) { return (long)__float2ll_rn(x); })},
    // C++ overloads
    {"sqrt", NULL, EXPANDED_TEXT(OF_FLOAT(sqrt, sqrtf))}, {"fabs", NULL, EXPANDED_TEXT(OF_FLOAT(fabs, fabsf))},
    {"floor", NULL, EXPANDED_TEXT(OF_FLOAT(floor, floorf))}, {"ceil", NULL, EXPANDED_TEXT(OF_FLOAT(ceil, ceilf))},
    {"trunc", NULL, EXPANDED_TEXT(OF_FLOAT(trunc, truncf))}, {"rint", NULL, EXPANDED_TEXT(OF_FLOAT(rint, rintf))},
    {"fmin", NULL, EXPANDED_TEXT(HD float fmin(float a, float b) { return fminf(a, b); })},
    {"fmax", NULL, EXPANDED_TEXT(HD float fmax(float a, float b) { return fmaxf(a, b); })},
    {"fma", NULL, EXPANDED_TEXT(HD float fma(float a, float b, float c) { return fmaf(a, b, c); })},
    {"copysign", NULL, EXPANDED_TEXT(HD float copysign(float a, float b) { return copysignf(a, b); })},
    {"rsqrt", NULL, EXPANDED_TEXT(
        D double rsqrt(double x) { return 1.0 / sqrt(x); }
        D float rsqrt(float x) { return rsqrtf(x); })},
    {"__frcp_rz", NULL, EXPANDED_TEXT(D float __frcp_rz(float x) { float r; asm("rcp.rz.f32 %0, %1;" : "=f"(r) : "f"(x)); return r; })},
    // Exponentials and logarithms
    {"__expf", NULL, EXPANDED_TEXT(D float __expf(float x) { return exp2f(__fmul_rn(x, __int_as_float(0x3fb8aa3b))); })},
    {"__exp10f", NULL, EXPANDED_TEXT(D float __exp10f(float x) { return exp2f(__fmul_rn(x, __int_as_float(0x40549a78))); })},
    {"__logf", NULL, EXPANDED_TEXT(D float __logf(float x) { return __fmul_rn(__log2f(x), __int_as_float(0x3f317218)); })},
    {"__log10f", NULL, EXPANDED_TEXT(D float __log10f(float x) { return __fmul_rn(__log2f(x), __int_as_float(0x3e9a209b)); })},
    {"__powf", NULL, EXPANDED_TEXT(D float __powf(float x, float y) { return exp2f(__fmul_rn(y, __log2f(x))); })},
    {"__tanf", NULL, EXPANDED_TEXT(D float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); })},
    {"__sincosf", NULL, EXPANDED_TEXT(D void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); })},
    {"expf", NULL, EXPANDED_TEXT(
        D float expf(float x) {
            const float t = __saturatef(fmaf(x, __int_as_float(0x3bbb989d), 0.5f));
            const float m = __fmaf_rd(t, __int_as_float(0x437c0000), __int_as_float(0x4b400001));
            const float n = -__fadd_rn(m, __int_as_float(0xcb40007f));
            const float a = fmaf(x, __int_as_float(0x3fb8aa3b), n);
            const float b = fmaf(x, __int_as_float(0x32a57060), a);
            return __fmul_rn(__i_ex2_ftz(b), __int_as_float(__float_as_int(m) << 23)); })},
    {"exp", NULL, EXPANDED_TEXT(D float exp(float x) { return expf(x); })},
    {"logf", NULL, EXPANDED_TEXT(
        D float logf(float x) {
            const bool tiny = x < __int_as_float(0x00800000);
            const float a = tiny ? __fmul_rn(x, __int_as_float(0x4b000000)) : x;
            const float offset = tiny ? __int_as_float(0xc1b80000) : 0.0f;
            const int bits = __float_as_int(a); const int e = (bits - 0x3f2aaaab) & 0xff800000;
            const float m = __fadd_rn(__int_as_float(bits - e), -1.0f); const float n = fmaf((float)e, __int_as_float(0x34000000), offset);
            float r = fmaf(__int_as_float(0xbe055027), m, __int_as_float(0x3e1039f6));
            r = fmaf(r, m, __int_as_float(0xbdf8cdcc)); r = fmaf(r, m, __int_as_float(0x3e0f2955)); r = fmaf(r, m, __int_as_float(0xbe2ad8b9));
            r = fmaf(r, m, __int_as_float(0x3e4ced0b)); r = fmaf(r, m, __int_as_float(0xbe7fff22)); r = fmaf(r, m, __int_as_float(0x3eaaaa78));
            r = fmaf(r, m, -0.5f); r = __fmul_rn(m, r); r = fmaf(r, m, m); r = fmaf(n, __int_as_float(0x3f317218), r);
            if ((unsigned)bits >= 2139095040u) r = fmaf(a, __int_as_float(0x7f800000), __int_as_float(0x7f800000));
            return a == 0.0f ? __int_as_float(0xff800000) : r; })},
    {"log", NULL, EXPANDED_TEXT(D float log(float x) { return logf(x); })},
    {"log2f", NULL, EXPANDED_TEXT(
        D float log2f(float x) { const bool tiny = x < __int_as_float(0x00800000);
            return __fadd_rn(__log2f(tiny ? __fmul_rn(x, __int_as_float(0x4b800000)) : x), tiny ? -24.0f : 0.0f); })},
    {NULL, NULL, NULL},
};
