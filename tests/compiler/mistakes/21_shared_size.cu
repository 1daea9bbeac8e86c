// The size of an array in shared memory is a variable.
// error 6:25: the number of elements is no constant
// help: a size that the launch decides: extern __shared__ T name[]; otherwise use a constant: const int or constexpr
__global__ void copy(const int *in, int *out, int n)
{
    __shared__ int tile[n];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}
