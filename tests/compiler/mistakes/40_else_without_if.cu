// An else without an if: the if ended before.
// error 9:5: 'else' without an 'if' before it
// help: delete the ';' after the condition in line 7, which is the whole body of the 'if'
__global__ void add(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n);
        out[i] = in[i];
    else
        out[i] = 0;
}
