// rotate: a loop tests at its end, with one branch in each iteration, also if asm computes what it tests. An invariant of the test is
// computed once.
// with: promote spaces simplify dce simplify-cfg
__device__ int acquired(const int *from)
{
    int value;
    asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

__global__ void count(const int *in, int *out, int a)
{
    int n = 0;
    while (acquired(&in[n]) != a * a)
        n++;
    *out = n;
}
