// Inline PTX. The host has C++ instead.
#ifdef ON_HOST
#define ADD(a, b) (a += (b))
#define TRIPLE(a) (a *= 3)
#define ADD_FLOAT(a, b) (a += (b))
#define MANY(d, h, a, b, c) (d += d, h = (short)(h + h), a += b, b = a - (c))
#else
#define ADD(a, b) asm("add.s32 %0, %0, %1;" : "+r"(a) : "r"(b))
#define TRIPLE(a) asm volatile("mul.lo.u64 %0, %0, 3;" : "+l"(a))
#define ADD_FLOAT(a, b) asm("add.f32 %0, %0, %1;" : "+f"(a) : "f"(b))
#define MANY(d, h, a, b, c) \
    asm("{\nadd.f64 %0, %0, %0;\nadd.s16 %1, %1, %1;\nadd.s32 %2, %2, %3;\nsub.s32 %3, %2, %4;\n}" : "+d"(d), "+h"(h), "+r"(a), "+r"(b) : "r"(c))
#endif

KERNEL(k1)
{
    INDEX;
    int x = in[i], array[3] = {1, 2, tid};
    unsigned long long y = n;
    float z = n;
    ADD(x, n);
    TRIPLE(y);
    ADD_FLOAT(z, 1.5f);
    ADD(array[tid & 1], 1);
    out[i] = x + (int)y + (int)z + array[0] + array[1] * 10 + array[2];
    double d = 3;
    short h = (short)tid;
    int a = tid, b = n;
    MANY(d, h, a, b, n);
    out[i + 128] = (int)d + h * 3 + a * 5 + b * 7;
}
