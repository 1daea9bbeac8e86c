// A loop that the lanes of a warp leave after different numbers of iterations. In PTX it is one loop, and lanes reconverge when
// all have left it. The last compiler stage unrolls it and does not let them reconverge in between: a GPU counts more requests.
// Build and run: nvcc -O3 -arch=native -o loops loops.cu && ./loops

#include <cstdio>

__global__ void uneven_turns(const float *in, float *out)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < (int)threadIdx.x % 13; k++)
        sum += in[thread + 32 * k];
    out[thread] = sum;
}

int main()
{
    const unsigned blocks = 96, threads = 256;
    float *in, *out;
    cudaMalloc(&in, (blocks * threads + 13 * 32) * sizeof(float));
    cudaMalloc(&out, blocks * threads * sizeof(float));
    cudaMemset(in, 0, (blocks * threads + 13 * 32) * sizeof(float));
    uneven_turns<<<blocks, threads>>>(in, out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        fprintf(stderr, "loops: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
