// The semicolon after return is missing.
// error 6:21: expected ';' after 'return'
// help: add ';'
__global__ void twice(float *a, int n)
{
    if (n > 5) return
    float x = a[threadIdx.x];
    a[threadIdx.x] = 2 * x;
}
