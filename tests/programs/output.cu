// printf in a kernel, in the order of blocks and threads here; on a GPU in any order of blocks.
#include "check.h"

__global__ void print(const char *name, int n)
{
    if (threadIdx.x < n)
        printf("%s %d.%d: %5.2f|%-4u|%x|%lld|%c|%%|%e\n", name, (int)blockIdx.x, (int)threadIdx.x, threadIdx.x * 0.5, 7u, 255,
               1ll << 40, 'a' + (int)threadIdx.x, 12345.678);
}

int main()
{
    char *name = managed<char>(8);
    snprintf(name, 8, "lane");
    print<<<2, 32>>>(name, 2);
    CUDA(cudaDeviceSynchronize());
    puts("PASS");
}
