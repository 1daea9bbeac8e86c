// ==== Each thread writes the next element
__global__ void make_exclusive(const float *scan, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        out[0] = 0;
    if (i + 1 < n)
        out[i + 1] = scan[i];
}
// ==== The bounds first
__global__ void make_exclusive(const float *scan, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float before = 0;
    if (i > 0)
        before = scan[i - 1];
    out[i] = before;
}
