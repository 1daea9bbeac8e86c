// A constexpr that is none.
// error 6:23: 'n' is constexpr, but its value is not a constant
// help: write const instead of constexpr
__global__ void copy(const int *in, int *out)
{
    constexpr int n = blockDim.x;
    out[threadIdx.x] = in[n - 1 - threadIdx.x];
}
