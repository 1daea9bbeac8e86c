// Shared memory and a barrier.
// Build and run: nvcc -O3 -arch=native -o barrier 05_barrier.cu && ./barrier
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[64]; // one for each block
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

// Launches one block of 64 threads.
static void launch(const float *in, float *out, int)
{
    reverse<<<1, 64>>>(in, out);
}

// ==== The result that the harness expects in out[i]. ====

const int N = 64; // elements, unless an argument names another number

static float expected(int i, int)
{
    return i < 64 ? 63 - i : 0;
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
