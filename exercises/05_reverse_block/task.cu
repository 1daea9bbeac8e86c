// Each block turns its own 256 elements round, through shared memory.
// A load is counted once for each warp, not for each of its threads.
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[256];
    int begin = blockIdx.x * 256;
    tile[threadIdx.x] = in[begin + threadIdx.x];
    // what is missing between these two lines, and which element of tile is this thread's?
    out[begin + threadIdx.x] = tile[threadIdx.x];
}
