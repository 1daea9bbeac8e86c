// ==== The other warps return
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int s = 128; s > 32; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }
    if (tid >= 32)
        return;
    for (int s = 32; s > 0; s /= 2) {
        float other = sums[tid + s];
        __syncwarp();
        sums[tid] += other;
        __syncwarp();
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
// ==== One warp adds 256 elements, eight per thread
__global__ void sum(const float *in, float *out)
{
    __shared__ float sums[256];
    int tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    if (tid < 32) {
        for (int k = tid + 32; k < 256; k += 32)
            sums[tid] += sums[k];
        __syncwarp();
        for (int s = 16; s > 0; s /= 2) {
            if (tid < s)
                sums[tid] += sums[tid + s];
            __syncwarp();
        }
    }
    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
