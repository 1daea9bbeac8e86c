// A kernel that cannot be launched, and a program that asks why, or does not: the argument says which.
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void wide(int *numbers)
{
    numbers[threadIdx.x] = 1;
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "";
    int *numbers = NULL;
    void *list[] = {&numbers};
    cudaError_t error = cudaSuccess;
    if (strcmp(how, "call") == 0) {
        error = cudaLaunchKernel((const void *)wide, dim3(1), dim3(2048), list, 0, 0);
    } else if (strcmp(how, "thread") == 0) {
        std::thread([&] { wide<<<1, 2048>>>(numbers); }).join();
        error = cudaGetLastError(); // of another thread
    } else {
        wide<<<1, 2048>>>(numbers);
        wide<<<1, 4096>>>(numbers);
        if (strcmp(how, "last") == 0)
            error = cudaGetLastError();
        if (strcmp(how, "peek") == 0)
            error = cudaPeekAtLastError();
        if (strcmp(how, "synchronize") == 0)
            error = cudaDeviceSynchronize(); // tells of kernels that ran
    }
    printf("%s\n", cudaGetErrorName(error));
}
