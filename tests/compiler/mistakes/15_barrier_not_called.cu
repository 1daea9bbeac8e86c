// The parentheses of a barrier are missing: it is not called.
// warning 9:5: this names the function '__syncthreads', but does not call it
// help: call it: __syncthreads()
__global__ void one(int *out)
{
    __shared__ int value;
    if (threadIdx.x == 0)
        value = 1;
    __syncthreads;
    out[threadIdx.x] = value;
}
