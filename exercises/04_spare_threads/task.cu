// Count by hand what a launch of add_one with n = 900 and blocks of 256 threads makes of this.
// Write your numbers behind the equals signs, and save. A load request is one load of one warp, with at least one of its threads.
//
// threads launched =
// load requests =
// 32-byte pieces of memory that are loaded =

__global__ void add_one(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] + 1;
}
