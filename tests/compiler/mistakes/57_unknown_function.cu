// A misspelt function.
// error 8:18: 'sqrft' is not declared
// help: did you mean 'sqrtf'?
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = sqrft(in[i]);
}
