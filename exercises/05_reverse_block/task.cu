// Each block reverses its 256 elements, through shared memory.
// A load counts once for each warp, not for each thread.
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[256];
    int begin = blockIdx.x * 256;
    tile[threadIdx.x] = in[begin + threadIdx.x];
    // what is missing between these two lines, and which element of tile does this thread store?
    out[begin + threadIdx.x] = tile[threadIdx.x];
}
