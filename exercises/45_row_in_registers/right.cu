// ==== One vector per thread
__global__ void centre(const float *in, float *out)
{
    __shared__ float of_warp[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 own = ((const float4 *)in)[i];
    float sum = own.x + own.y + own.z + own.w;
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = of_warp[threadIdx.x % 8];
    for (int s = 4; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    float mean = sum / 1024;
    ((float4 *)out)[i] = make_float4(own.x - mean, own.y - mean, own.z - mean, own.w - mean);
}
// ==== In shared memory
__global__ void centre(const float *in, float *out)
{
    __shared__ float row[1024], sums[256];
    int tid = threadIdx.x, begin = blockIdx.x * 1024;
    sums[tid] = 0;
    for (int k = tid; k < 1024; k += 256) {
        row[k] = in[begin + k];
        sums[tid] += row[k];
    }
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    float mean = sums[0] / 1024;
    for (int k = tid; k < 1024; k += 256)
        out[begin + k] = row[k] - mean;
}
