// dead-stores: a store that another one overwrites, with no read of these bytes in between, is removed.
// with: promote spaces simplify dce separate-offsets gvn
__global__ void last_of_two(int *out, int a, int b)
{
    __shared__ int sums[64];
    sums[threadIdx.x] = a;
    const int other = sums[threadIdx.x + 32];
    sums[threadIdx.x] = b;
    __syncthreads();
    out[0] = other + sums[1];
}
