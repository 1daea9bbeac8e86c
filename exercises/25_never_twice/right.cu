// ==== A loop fills the tile
__global__ void sum_of_three(const float *in, float *out)
{
    __shared__ float tile[256 + 2];
    int begin = blockIdx.x * 256;
    for (int k = threadIdx.x; k < 258; k += 256)
        tile[k] = in[begin + k];
    __syncthreads();
    out[begin + threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 1] + tile[threadIdx.x + 2];
}
// ==== The last two threads load the two missing elements, and each keeps its own
__global__ void sum_of_three(const float *in, float *out)
{
    __shared__ float tile[258];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    float own = in[i];
    tile[tid] = own;
    if (tid >= 254)
        tile[tid + 2] = in[i + 2];
    __syncthreads();
    out[i] = own + tile[tid + 1] + tile[tid + 2];
}
