// Independent thread scheduling: lanes of a warp reconverge where the program requires it, and need not anywhere else.
#include "check.h"

__device__ __noinline__ int swap_neighbours(int value)
{
    return __shfl_xor_sync(~0u, value, 1);
}

__global__ void meets_at_two_calls(int *out)
{
    const int v = threadIdx.x;
    out[v] = v & 1 ? swap_neighbours(v * 3) + 1000 : swap_neighbours(v * 5) ^ 4096;
}

__device__ unsigned long long wide(unsigned lane)
{
    return (unsigned long long)(lane / 4) << 40;
}

// The same operation at two instructions with different registers: the PTX ISA requires only the same qualifiers and mask.
__global__ void meets_at_two_places(unsigned *out)
{
    const unsigned v = threadIdx.x;
    unsigned r, ballot, match, sum, all, elected;
    if (v & 1) {
        asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(r) : "r"(v * 3));
        r += 1000;
        asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 8; vote.sync.ballot.b32 %0, !p, -1; }" : "=r"(ballot) : "r"(v));
        asm volatile("match.any.sync.b64 %0, %1, -1;" : "=r"(match) : "l"(wide(v)));
        asm volatile("redux.sync.add.u32 %0, %1, -1;" : "=r"(sum) : "r"(v));
        asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 9; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q; }" : "=r"(all) : "r"(v));
        asm volatile("{ .reg .pred p; elect.sync %0|p, -1; selp.u32 %0, 99, %0, p; }" : "=r"(elected));
    } else {
        asm volatile("shfl.sync.bfly.b32 %0, %1, 1, 31, -1;" : "=r"(r) : "r"(v * 5));
        r ^= 4096;
        asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 4; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(ballot) : "r"(v));
        asm volatile("match.any.sync.b64 %0, %1, -1;" : "=r"(match) : "l"(wide(v)));
        asm volatile("redux.sync.add.u32 %0, %1, -1;" : "=r"(sum) : "r"(v * 2));
        asm volatile("{ .reg .pred p, q; setp.ne.u32 p, %1, 9; vote.sync.all.pred q, p, -1; selp.u32 %0, 1, 0, q; }" : "=r"(all) : "r"(v));
        asm volatile("{ .reg .pred p; elect.sync %0|p, -1; selp.u32 %0, 99, %0, p; }" : "=r"(elected));
    }
    const unsigned results[] = {r, ballot, match, sum, all, elected};
    for (unsigned k = 0; k < 6; k++)
        out[k * 32 + v] = results[k];
}

__global__ void meets_after_different_turns(volatile int *out, int n)
{
    const int turns = threadIdx.x < 16 ? n : n - 1;
    for (int i = 0; i < turns; i++) {
        out[threadIdx.x] = i;
        __syncwarp();
    }
    if (threadIdx.x >= 16) {
        out[threadIdx.x] = 5;
        __syncwarp();
    }
    out[32 + threadIdx.x] = 1;
}

__global__ void waits_for_its_own_warp(int *lock, volatile int *sum)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *sum += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Two lanes of a warp signal each other: the write of one ends the loop of the other.
__global__ void answer_each_other(int *out)
{
    __shared__ int said[2];
    const int lane = threadIdx.x;
    if (lane < 2)
        said[lane] = 0;
    __syncwarp();
    if (lane == 0)
        for (int k = 1; k < 10; k++) {
            atomicExch(&said[0], k);
            while (atomicAdd(&said[1], 0) != k)
                ;
        }
    else if (lane == 1)
        for (int k = 1; k < 10; k++) {
            while (atomicAdd(&said[0], 0) != k)
                ;
            atomicExch(&said[1], k);
        }
    __syncwarp();
    out[lane] = said[0] + said[1];
}

__global__ void waits_for_a_later_lane(volatile int *flag, int *out)
{
    if (threadIdx.x % 32 < 31) // the other lanes of the warp, and then other warps
        while (flag[threadIdx.x / 32] == 0)
            ;
    else if (threadIdx.x == 31 || out[threadIdx.x] == 2)
        flag[threadIdx.x / 32] = 1;
    else
        while (flag[threadIdx.x / 32 - 1] == 0)
            ;
    if (threadIdx.x % 32 == 31)
        flag[threadIdx.x / 32] = 1;
    out[threadIdx.x] = threadIdx.x;
}

__device__ __noinline__ void leave(const int *p)
{
    if (p[threadIdx.x] == 0)
        asm volatile("exit;");
}

__global__ void leaves_in_a_function(const int *p, int *out)
{
    leave(p);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}

// No lane returns early: all 32 load and store together after the if, as in the machine code.
__global__ void may_leave_early(int *out, const int *in)
{
    const int t = threadIdx.x;
    if (t & 1) {
        if (in[t] < 0)
            return;
        out[t] = in[t] * 3;
    } else {
        out[t + 64] = in[t] + 1;
    }
    for (int i = 0; i < 10; i++)
        out[128 + t + 32 * i] = in[t + 32 * i];
    out[500 + t] = __activemask();
}

int main()
{
    int *out = managed<int>(3200), *in = managed<int>(1024);
    meets_at_two_calls<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int l = 0; l < 32; l++)
        CHECK(out[l] == (l & 1 ? (l ^ 1) * 5 + 1000 : ((l ^ 1) * 3 ^ 4096)));

    unsigned *results = (unsigned *)out;
    meets_at_two_places<<<1, 32>>>(results);
    CUDA(cudaDeviceSynchronize());
    for (unsigned l = 0; l < 32; l++) {
        CHECK(results[l] == (l & 1 ? (l ^ 1) * 5 + 1000 : ((l ^ 1) * 3 ^ 4096)));
        CHECK(results[32 + l] == ((0xaaaaaaaau & ~0xffu) | 5u) && results[64 + l] == 0xfu << (l / 4 * 4));
        CHECK(results[96 + l] == 256 + 480 && results[128 + l] == 0 && results[160 + l] == (l == 0 ? 99 : 0));
    }

    meets_after_different_turns<<<1, 32>>>(out, 2);
    CUDA(cudaDeviceSynchronize());

    for (int k = 0; k < 16; k++)
        in[k] = 0;
    waits_for_its_own_warp<<<2, 8>>>(in, in + 1);
    waits_for_a_later_lane<<<1, 96>>>(in + 4, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(in[1] == 16);
    for (int t = 0; t < 96; t++)
        CHECK(out[t] == t);

    answer_each_other<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[9] == 18);

    for (int t = 0; t < 1024; t++)
        in[t] = t, out[t] = 0;
    leaves_in_a_function<<<100, 32>>>(in, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 0 && out[1] == 2 && out[32 * 99 + 1] == 2);

    may_leave_early<<<1, 32>>>(out, in);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[500] == -1);
    puts("PASS");
}
