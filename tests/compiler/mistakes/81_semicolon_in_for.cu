// A semicolon of a for is missing.
// error 6:28: expected ';' after the declaration
// help: add ';'
__global__ void twice(float *a, int n)
{
    for (int i = threadIdx.x i < n; i += blockDim.x)
        a[i] *= 2;
}
