// printf in a kernel: in the order of blocks and threads on the simulator, in any order of blocks on a GPU.
#include "check.h"

__global__ void print(const char *name, int n)
{
    if (threadIdx.x < n)
        printf("%s %d.%d: %5.2f|%-4u|%x|%lld|%c|%%|%e\n", name, (int)blockIdx.x, (int)threadIdx.x, threadIdx.x * 0.5, 7u, 255,
               1ll << 40, 'a' + (int)threadIdx.x, 12345.678);
}

__global__ void count(int *out)
{
    out[0] = printf("%hhd|%hu|%*d|%s\n", 511, 65537, 4, 5, "end");
    out[1] = printf("nothing\n");
    out[2] = printf(nullptr);
}

int main()
{
    char *name = managed<char>(8);
    snprintf(name, 8, "lane");
    print<<<2, 32>>>(name, 2);
    int *out = managed<int>(3);
    count<<<1, 1>>>(out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 5 && out[1] == 0 && out[2] == -1);
    puts("PASS");
}
