// Warps.
// Build and run: nvcc -O3 -arch=native -o warps 04_warps.cu && ./warps
// Both paths add 100, in 100 additions or in 50.
__global__ void two_paths(const float *in, float *out)
{
    const int i = threadIdx.x;
    float x = in[i];
    if (i % 2 == 0)
        for (int k = 0; k < 100; k++)
            x += 1;
    else
        for (int k = 0; k < 50; k++)
            x += 2;
    out[i] = x;
}

// Launches one block of n threads.
static void launch(const float *in, float *out, int n)
{
    two_paths<<<1, n>>>(in, out);
}

// ==== The result that the harness expects in out[i]. ====

const int N = 64; // elements, unless an argument names another number

static float expected(int i, int)
{
    return i + 100;
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
