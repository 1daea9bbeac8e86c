// Messages on stderr about a program's mistakes; the argument selects one.
#include <cstdio>
#include <cstring>
#include <thread>

__global__ void wide(int *numbers)
{
    numbers[threadIdx.x] = 1;
}

__global__ void __launch_bounds__(64) narrow(int) {}
template <class T> __global__ void __cluster_dims__(2) paired(T) {}

static void end(cudaError_t error)
{
    printf("%s\n", cudaGetErrorName(error));
}

static void refuse_launches()
{
    paired<float><<<3, 32>>>(0);
    end(cudaGetLastError());
    narrow<<<1, 65>>>(0);
    end(cudaGetLastError());
    narrow<<<dim3(1, 0), 32>>>(0);
    end(cudaGetLastError());
    narrow<<<dim3(1, 70000), 32>>>(0);
    end(cudaGetLastError());
    narrow<<<1, 32, 60000>>>(0);
    end(cudaGetLastError());
    narrow<<<1, 32, 300000>>>(0);
    end(cudaGetLastError());
    int zero = 0;
    void *list[] = {&zero};
    end(cudaLaunchCooperativeKernel((const void *)narrow, dim3(100000), dim3(32), list, 0, 0));
}

static void ask_for_time()
{
    cudaEvent_t event;
    float ms = 0;
    cudaEventCreate(&event);
    cudaEventRecord(event);
    for (int k = 0; k < 2; k++)
        end(cudaEventElapsedTime(&ms, event, event));
    printf("%f\n", ms);
}

// A launch with too many threads, with or without a check of the error.
static cudaError_t launch_widely(const char *how)
{
    int *numbers = NULL;
    void *list[] = {&numbers};
    if (strcmp(how, "call") == 0)
        return cudaLaunchKernel((const void *)wide, dim3(1), dim3(2048), list, 0, 0);
    if (strcmp(how, "thread") == 0) {
        std::thread([&] { wide<<<1, 2048>>>(numbers); }).join();
        return cudaGetLastError(); // of another thread
    }
    wide<<<1, 2048>>>(numbers);
    return strcmp(how, "last") == 0          ? cudaGetLastError()
           : strcmp(how, "peek") == 0        ? cudaPeekAtLastError()
           : strcmp(how, "synchronize") == 0 ? cudaDeviceSynchronize() // reports errors of kernels that ran
                                             : cudaSuccess;
}

int main(int, char **arguments)
{
    if (strcmp(arguments[1], "launches") == 0)
        refuse_launches();
    else if (strcmp(arguments[1], "time") == 0)
        ask_for_time();
    else
        end(launch_widely(arguments[1]));
}
