// The size of an array in shared memory is a variable.
// error 6:25: the size of 'tile' is not a constant
// help: write a number, or extern __shared__ int tile[] if the launch decides it
__global__ void copy(const int *in, int *out, int n)
{
    __shared__ int tile[n];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
