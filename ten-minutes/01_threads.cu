// One kernel, many threads.
// Build and run: nvcc -O3 -arch=native -o threads 01_threads.cu && ./threads
// Runs on the device, once in every thread.
__global__ void tens(float *out)
{
    out[threadIdx.x] = 10 * threadIdx.x;
}

// Runs on the host: launches one block of n threads.
static void launch(const float *, float *out, int n)
{
    tens<<<1, n>>>(out);
}

// ==== The result that the harness expects in out[i]. ====

const int N = 8; // elements, unless an argument names another number

static float expected(int i, int)
{
    return 10 * i;
}

// ==== Harness: the same in all six programs; the idea is above. ====

#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(1);
    }
}

// Launches on 0, 1, 2, …, and prints the first values of the result. Exit status: 1 if one is wrong.
int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : N;
    std::vector<float> values(n);
    for (int i = 0; i < n; i++)
        values[i] = i;
    float *in, *out;
    check(cudaMalloc(&in, n * sizeof(float)));
    check(cudaMalloc(&out, n * sizeof(float)));
    check(cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemset(out, 0, n * sizeof(float)));
    launch(in, out, n);
    check(cudaGetLastError());
    check(cudaMemcpy(values.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++) {
        wrong += values[i] != expected(i, n);
        if (i < 8)
            printf("%g ", values[i]);
    }
    printf("%s: %d of %d values are wrong\n", n > 8 ? "..." : "", wrong, n);
    check(cudaFree(in));
    check(cudaFree(out));
    return wrong > 0;
}
