// ==== Reversed by the store
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[256];
    int begin = blockIdx.x * 256;
    tile[255 - threadIdx.x] = in[begin + threadIdx.x];
    __syncthreads();
    out[begin + threadIdx.x] = tile[threadIdx.x];
}
// ==== In place, by half of the threads
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[256];
    const int tid = threadIdx.x, begin = blockIdx.x * blockDim.x;
    tile[tid] = in[begin + tid];
    __syncthreads();
    if (tid < 128) {
        const float first = tile[tid];
        tile[tid] = tile[255 - tid];
        tile[255 - tid] = first;
    }
    __syncthreads();
    out[begin + tid] = tile[tid];
}
