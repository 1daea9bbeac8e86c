// Each block reverses its 256 elements, through shared memory.
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[256];
    int begin = blockIdx.x * 256;
    tile[threadIdx.x] = in[begin + threadIdx.x];
    __syncthreads();
    out[begin + threadIdx.x] = tile[255 - threadIdx.x];
}
