// symbols: the address of a variable is moved to a register in each branch that needs it, not before them.
// with: promote spaces simplify dce simplify-cfg hoist-common
__global__ void staged(float *out, int n)
{
    __shared__ float sums[32];
    if (n < 3) {
        sums[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
        sums[n] = 2;
    }
    out[threadIdx.x] = sums[n];
}
