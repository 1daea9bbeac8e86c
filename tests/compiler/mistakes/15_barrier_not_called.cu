// The parentheses of a barrier are missing: it is not called.
// error 9:5: the function '__syncthreads' is named, but not called
// help: write __syncthreads()
__global__ void one(int *out)
{
    __shared__ int value;
    if (threadIdx.x == 0)
        value = 1;
    __syncthreads;
    out[threadIdx.x] = value;
}
