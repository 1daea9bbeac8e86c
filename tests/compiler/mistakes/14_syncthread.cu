// A misspelt barrier.
// error 9:5: '__syncthread' is not declared
// help: did you mean '__syncthreads'?
__global__ void one(int *out)
{
    __shared__ int value;
    if (threadIdx.x == 0)
        value = 1;
    __syncthread();
    out[threadIdx.x] = value;
}
