// Divergence: nested branches, loops of different lengths, early exits, a switch.
#include "check.h"

__device__ int collatz(unsigned n)
{
    int steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

__device__ __noinline__ int fibonacci(int n) // recursion, to a different depth in each lane
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ int early(int i)
{
    for (int k = 0; k < 10; k++) {
        if (i == k)
            return 100 + k;
        for (int j = 0; j < k; j++)
            if (i == 20 + j)
                return 200 + 10 * k + j;
    }
    return -1;
}

__host__ __device__ int chosen(int i)
{
    switch (i % 9) {
    case 0: return i + 5;
    case 1: return i * 3;
    case 2: return i ^ 21;
    case 3: return -i;
    case 4: return i / 2;
    case 5: return i << 3;
    case 6: return i * i;
    case 7: return ~i;
    default: return 1;
    }
}

typedef int (*Function)(int);
__device__ Function functions[] = {fibonacci, early};

__global__ void run(int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return; // some threads of the last block; the others still reach the barrier
    __shared__ int shared;
    int *mine = out + i * 5;
    mine[0] = collatz(i + 1);
    mine[1] = functions[i % 2](i % 2 ? i : i % 12);
    mine[2] = chosen(i);
    mine[3] = 0;
    for (int round = 0; round < 3; round++) { // barriers in a loop
        if (threadIdx.x == (round * 7) % 32)
            shared = round + blockIdx.x;
        __syncthreads();
        mine[3] += shared;
        __syncthreads();
    }
    int sum = 0;
    for (int k = 0; k < i % 32; k++) {
        if (k % 3 == 0)
            continue;
        if (k > 20)
            break;
        sum += k;
        if (i % 5 == 0)
            for (int j = 0; j < k; j++)
                sum += j & 1;
    }
    mine[4] = sum;
}

static int host_fibonacci(int n)
{
    return n < 2 ? n : host_fibonacci(n - 1) + host_fibonacci(n - 2);
}

static int host_early(int i)
{
    return i < 10 ? 100 + i : i >= 20 && i < 29 ? 200 + 10 * (i - 19) + i - 20 : -1;
}

int main()
{
    const int n = 300;
    int *out = managed<int>(n * 5);
    run<<<3, 128>>>(out, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        int steps = 0, sum = 0;
        for (unsigned k = i + 1; k != 1; steps++)
            k = k % 2 ? 3 * k + 1 : k / 2;
        for (int k = 0; k < i % 32 && k <= 20; k++)
            if (k % 3)
                sum += k + (i % 5 == 0 ? k / 2 : 0);
        CHECK(out[i * 5] == steps);
        CHECK(out[i * 5 + 1] == (i % 2 ? host_early(i) : host_fibonacci(i % 12)));
        CHECK(out[i * 5 + 2] == chosen(i));
        CHECK(out[i * 5 + 3] == 3 + 3 * (i / 128));
        CHECK(out[i * 5 + 4] == sum);
    }
    puts("PASS");
}
