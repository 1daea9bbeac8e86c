// Every atomic operation, in global and in shared memory.
#include "check.h"

struct Results {
    int add, sub, min, max, exchanged, cas;
    unsigned inc, dec, bits_and, bits_or, bits_xor, umin, umax;
    unsigned long long wide_add, wide_max, wide_cas, wide_or;
    long long wide_min;
    float single;
    double twice;
    int old_sum;
};

__device__ void all(Results *r, int i)
{
    atomicAdd(&r->add, i);
    atomicSub(&r->sub, 2 * i);
    atomicMin(&r->min, 50 - i);
    atomicMax(&r->max, i - 50);
    atomicExch(&r->exchanged, 7);
    atomicCAS(&r->cas, i, i + 1); // one lane after another: increments
    atomicInc(&r->inc, 9);
    atomicDec(&r->dec, 9);
    atomicAnd(&r->bits_and, ~(1u << i % 8));
    atomicOr(&r->bits_or, 1u << i % 8);
    atomicXor(&r->bits_xor, i);
    atomicMin(&r->umin, 4000000000u - i);
    atomicMax(&r->umax, 4000000000u + i);
    atomicAdd(&r->wide_add, 1ull << 33);
    atomicMax(&r->wide_max, (unsigned long long)i << 40);
    atomicMin(&r->wide_min, -((long long)i << 35));
    atomicCAS(&r->wide_cas, 0ull, 5ull);
    atomicOr(&r->wide_or, 1ull << i % 64);
    atomicAdd(&r->single, 0.5f);
    atomicAdd(&r->twice, 0.25);
}

__device__ void clear(Results *r)
{
    *r = Results();
    r->bits_and = r->umin = 0xffffffff;
    r->min = 1000;
    r->max = -1000;
}

__global__ void in_device_memory(Results *r)
{
    all(r, blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void in_shared_memory(Results *r)
{
    __shared__ Results own;
    if (threadIdx.x == 0)
        clear(&own);
    __syncthreads();
    all(&own, threadIdx.x);
    const int old = atomicAdd(&own.old_sum, 1); // distinct for each thread
    __syncthreads();
    atomicAdd(&r->old_sum, old);
    __syncthreads();
    if (threadIdx.x == 0) {
        own.old_sum = r->old_sum;
        *r = own;
    }
}

__global__ void start(Results *r)
{
    clear(r);
}

static void check(const Results *r, int n)
{
    unsigned x = 0;
    for (int i = 0; i < n; i++)
        x ^= i;
    CHECK(r->add == n * (n - 1) / 2 && r->sub == -n * (n - 1));
    CHECK(r->min == 50 - (n - 1) && r->max == n - 1 - 50 && r->exchanged == 7);
    CHECK(r->inc == (unsigned)n % 10 && r->dec == (10u - n % 10) % 10);
    CHECK(r->bits_and == 0xffffff00 && r->bits_or == 0xff && r->bits_xor == x);
    CHECK(r->umin == 4000000000u - (n - 1) && r->umax == 4000000000u + (n - 1));
    CHECK(r->wide_add == (unsigned long long)n << 33 && r->wide_max == (unsigned long long)(n - 1) << 40);
    CHECK(r->wide_min == -((long long)(n - 1) << 35) && r->wide_cas == 5 && r->wide_or == ~0ull);
    CHECK(r->single == 0.5f * n && r->twice == 0.25 * n && r->cas >= 1 && r->cas <= n);
}

int main()
{
    Results *r = managed<Results>(1);
    start<<<1, 1>>>(r);
    in_device_memory<<<3, 96>>>(r);
    CUDA(cudaDeviceSynchronize());
    check(r, 288);
    start<<<1, 1>>>(r);
    in_shared_memory<<<1, 224>>>(r);
    CUDA(cudaDeviceSynchronize());
    check(r, 224);
    CHECK(r->old_sum == 224 * 223 / 2);
    puts("PASS");
}
