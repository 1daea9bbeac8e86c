// out[i] is what in grows by from element i - 1 to element i; the first of each block is given as it is.
__global__ void differences(const float *in, float *out)
{
    __shared__ float tile[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    tile[tid] = in[i];
    __syncthreads();
    out[i] = tid > 0 ? tile[tid] - tile[tid - 1] : tile[tid];
}
