// scan is the inclusive scan of an array. out receives the exclusive scan: its element i is the sum of the elements before element i. There are n elements, and n may be any number.
__global__ void make_exclusive(const float *scan, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i <= n)
        out[i] = scan[i - 1];
}
