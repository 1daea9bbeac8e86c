// library_math.c: CUDA's mathematical functions, with the algorithms that nvcc inlines from libdevice.
#include "compiler/library_text.h"

#define OF_FLOAT(name, single) HD float name(float x) { return single(x); }
#define BITS(bits) __longlong_as_double(bits##ll)

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
    {"rsqrt", NULL, EXPANDED_TEXT(D float rsqrt(float x) { return rsqrtf(x); })},
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
    {"exp", NULL, EXPANDED_TEXT(
        D float exp(float x) { return expf(x); }
        D double exp(double x) {
            const double t = fma(x, BITS(0x3ff71547652b82fe), BITS(0x4338000000000000)); const int i = __double2loint(t);
            const double n = __dadd_rn(t, BITS(0xc338000000000000));
            const double r = fma(n, BITS(0xbc7abc9e3b39803f), fma(n, BITS(0xbfe62e42fefa39ef), x));
            double p = fma(BITS(0x3e5ade1569ce2bdf), r, BITS(0x3e928af3fca213ea)); p = fma(p, r, BITS(0x3ec71dee62401315));
            p = fma(p, r, BITS(0x3efa01997c89eb71)); p = fma(p, r, BITS(0x3f2a01a014761f65)); p = fma(p, r, BITS(0x3f56c16c1852b7af));
            p = fma(p, r, BITS(0x3f81111111122322)); p = fma(p, r, BITS(0x3fa55555555502a1)); p = fma(p, r, BITS(0x3fc5555555555511));
            p = fma(p, r, BITS(0x3fe000000000000b)); p = fma(p, r, 1.0); p = fma(p, r, 1.0);
            const int low = __double2loint(p); const int high = __double2hiint(p);
            double result = __hiloint2double(high + (i << 20), low);
            const float size = fabsf(__int_as_float(__double2hiint(x)));
            if (!(size < __int_as_float(0x4086232b))) {
                result = x < 0.0 ? 0.0 : x + __builtin_huge_val();
                if (size < __int_as_float(0x40874800)) {
                    const int half = i / 2;
                    result = __hiloint2double(high + (half << 20), low) * __hiloint2double(((i - half) << 20) + 0x3ff00000, 0);
                }
            }
            return result; })},
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
    {"log", NULL, EXPANDED_TEXT(
        D float log(float x) { return logf(x); }
        D double log(double x) {
            int high = __double2hiint(x); int low = __double2loint(x); int e = -1023;
            if (high < 0x00100000) {
                x *= BITS(0x4350000000000000); high = __double2hiint(x); low = __double2loint(x); e = -1077;
            }
            if ((unsigned)high - 1 >= 0x7fefffffu)
                return __int_as_float(__double2hiint(x)) == 0.0f ? -__builtin_huge_val() : fma(x, __builtin_huge_val(), __builtin_huge_val());
            e += (unsigned)high >> 20;
            const int of_one = (high & 0x800fffff) | 0x3ff00000;
            double m = __hiloint2double(of_one, low);
            if (of_one >= 0x3ff6a09f) { m = __hiloint2double(__double2hiint(m) - 0x00100000, __double2loint(m)); e++; }
            const double a = m + 1.0; const double start = __i_rcp_ftz(a); const double error = fma(-a, start, 1.0);
            const double inverse = fma(fma(error, error, error), start, start);
            const double f = m - 1.0; const double half = f * inverse; const double u = fma(f, inverse, half); const double q = u * u;
            double p = fma(BITS(0x3eb1380b3ae80f1e), q, BITS(0x3ed0ee258b7a8b04)); p = fma(p, q, BITS(0x3ef3b2669f02676f));
            p = fma(p, q, BITS(0x3f1745cba9ab0956)); p = fma(p, q, BITS(0x3f3c71c72d1b5154)); p = fma(p, q, BITS(0x3f624924923be72d));
            p = fma(p, q, BITS(0x3f8999999999a3c4)); p = fma(p, q, BITS(0x3fb5555555555554));
            const double rest = f - u; const double left = inverse * fma(-u, f, rest + rest); const double tail = fma(q * p, u, left);
            const double n = __hiloint2double(0x43300000, e ^ 0x80000000) - __hiloint2double(0x43300000, 0x80000000);
            const double sum = fma(n, BITS(0x3fe62e42fefa39ef), u); const double lost = fma(-n, BITS(0x3fe62e42fefa39ef), sum) - u;
            return sum + fma(n, BITS(0x3c7abc9e3b39803f), tail - lost); })},
    {"log2f", NULL, EXPANDED_TEXT(
        D float log2f(float x) { const bool tiny = x < __int_as_float(0x00800000);
            return __fadd_rn(__log2f(tiny ? __fmul_rn(x, __int_as_float(0x4b800000)) : x), tiny ? -24.0f : 0.0f); })},
    {NULL, NULL, NULL},
};
