// Count by hand the threads, load requests and sectors of a launch of add_one with n = 900 and blocks of 256 threads.
// Write your numbers after the equals signs, and save. A load request is one load instruction of a warp with at least one active thread.
//
// threads launched =
// load requests =
// 32-byte sectors loaded =

__global__ void add_one(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1;
}
