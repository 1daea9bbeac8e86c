// shared-variables: a shared variable that only ever holds one constant is not loaded, and one that nothing loads is not stored.
// with: promote spaces simplify dce
__global__ void never_last(int *out)
{
    __shared__ bool is_last;
    is_last = false;
    __syncthreads();
    if (!is_last)
        out[threadIdx.x] = 1;
}
