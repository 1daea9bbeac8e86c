// A kernel that gets a struct by value: the counters call it by its own name, not by the struct's.
#include <cstdio>

struct Pair {
    int a, b;
};

__global__ void add_pair(Pair pair, int *sum)
{
    *sum = pair.a + pair.b;
}

int main()
{
    int *device, sum;
    cudaMalloc(&device, sizeof(int));
    add_pair<<<1, 1>>>({2, 3}, device);
    cudaMemcpy(&sum, device, sizeof(int), cudaMemcpyDeviceToHost);
    printf("%s\n", sum == 5 ? "PASS" : "FAIL");
    return sum != 5;
}
