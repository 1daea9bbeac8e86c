// ==== With while
__global__ void twice(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < n) {
        out[i] = in[i] + in[i];
        i += gridDim.x * blockDim.x;
    }
}
// ==== Each block processes its own part
__global__ void twice(const float *in, float *out, int n)
{
    int each = (n + gridDim.x - 1) / gridDim.x, begin = blockIdx.x * each;
    for (int i = begin + threadIdx.x; i < min(begin + each, n); i += blockDim.x)
        out[i] = 2 * in[i];
}
