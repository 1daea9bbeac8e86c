// The underscores of __syncthreads are missing.
// error 9:5: 'syncthreads' is not declared
// help: did you mean '__syncthreads'?
__global__ void one(int *out)
{
    __shared__ int value;
    if (threadIdx.x == 0)
        value = 1;
    syncthreads();
    out[threadIdx.x] = value;
}
