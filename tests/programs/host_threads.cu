// Several threads of the host use the device at the same time; each has its own last error.
#include "check.h"
#include <thread>
#include <vector>

__global__ void add(int *numbers, int value)
{
    numbers[threadIdx.x] += value;
}

__device__ int launches;

__global__ void count(int *sum)
{
    extern __shared__ int ones[];
    ones[threadIdx.x] = 1;
    atomicAdd(sum, ones[threadIdx.x]);
    if (threadIdx.x == 0)
        atomicAdd(&launches, 1);
}

// Settings that all threads set to the same value, queries, and short-lived handles.
static void streams_and_settings()
{
    cudaDeviceProp properties;
    cudaStream_t stream;
    cudaEvent_t start, end;
    int *sum, back;
    size_t limit;
    float ms;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    for (int round = 0; round < 20; round++) {
        CUDA(cudaStreamCreate(&stream));
        CUDA(cudaEventCreate(&start));
        CUDA(cudaEventCreate(&end));
        CUDA(cudaEventRecord(start, stream));
        CUDA(cudaMallocAsync(&sum, sizeof *sum, stream));
        CUDA(cudaMemsetAsync(sum, 0, sizeof *sum, stream));
        CUDA(cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
        CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
        CUDA(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
        count<<<4, 64, 65536, stream>>>(sum);
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaMemcpyAsync(&back, sum, sizeof back, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaEventElapsedTime(&ms, start, end));
        CHECK(back == 256 && limit >= 4096);
        CUDA(cudaFreeAsync(sum, stream));
        CUDA(cudaEventDestroy(start));
        CUDA(cudaEventDestroy(end));
        CUDA(cudaStreamDestroy(stream));
    }
}

static void work(int number)
{
    streams_and_settings();
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
    int back;
    CUDA(cudaMemcpyFromSymbol(&back, launches, sizeof back));
    CHECK(back == 8 * 20 * 4);
    CHECK(cudaGetLastError() == cudaSuccess); // errors are per thread
    puts("PASS");
}
