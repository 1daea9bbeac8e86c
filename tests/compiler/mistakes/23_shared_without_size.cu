// An array in shared memory has no size, and is not extern.
// error 6:20: the array 'tile' has no size
// help: write its size, or extern __shared__ if the launch decides it
__global__ void copy(const int *in, int *out)
{
    __shared__ int tile[];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
