// Several threads of the host use the device at the same time; each has its own last error.
#include "check.h"
#include <thread>
#include <vector>

__global__ void add(int *numbers, int value)
{
    numbers[threadIdx.x] += value;
}

static void work(int number)
{
    int *kept[50], back[32];
    for (int round = 0; round < 50; round++) {
        int *numbers;
        CUDA(cudaMalloc(&kept[round], 64 * (1 + number)));
        CUDA(cudaMalloc(&numbers, sizeof back));
        CUDA(cudaMemset(numbers, 0, sizeof back));
        add<<<1, 32>>>(numbers, number + round);
        CUDA(cudaMemcpy(back, numbers, sizeof back, cudaMemcpyDeviceToHost));
        CHECK(back[0] == number + round && back[31] == number + round);
        CUDA(cudaFree(numbers));
    }
    for (int *memory : kept)
        CUDA(cudaFree(memory));
    CHECK(cudaFree(back) == cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
}

int main()
{
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; number++)
        threads.emplace_back(work, number);
    for (std::thread &thread : threads)
        thread.join();
    CHECK(cudaGetLastError() == cudaSuccess); // the others' errors are theirs
    puts("PASS");
}
