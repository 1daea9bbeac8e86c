// ==== Each thread keeps its own element in a register
__global__ void differences(const float *in, float *out)
{
    __shared__ float tile[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    const float own = in[i];
    tile[tid] = own;
    __syncthreads();
    out[i] = tid == 0 ? own : own - tile[tid - 1];
}
// ==== Each thread stores its element for the next one
__global__ void differences(const float *in, float *out)
{
    __shared__ float before[257];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    const float own = in[i];
    before[tid + 1] = own;
    if (tid == 0)
        before[0] = 0;
    __syncthreads();
    out[i] = own - before[tid];
}
