// A misspelt built-in variable.
// error 6:22: 'blockDIm' is not declared
// help: did you mean 'blockDim'?
__global__ void one(int *out)
{
    out[blockIdx.x * blockDIm.x + threadIdx.x] = 1;
}
