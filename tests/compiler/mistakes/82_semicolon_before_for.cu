// A semicolon is missing before a declaration, which is used later.
// error 7:16: expected ';' after the expression
// help: add ';'
__global__ void sum(float *a, int n)
{
    if (threadIdx.x == 0)
        a[n] = 0
    float own = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        own += a[i];
    atomicAdd(&a[n], own);
}
