// out[i] is the difference between in[i] and in[i - 1]; the first element of each block is copied.
__global__ void differences(const float *in, float *out)
{
    __shared__ float tile[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    tile[tid] = in[i];
    __syncthreads();
    out[i] = tid > 0 ? tile[tid] - tile[tid - 1] : tile[tid];
}
