// Subtracts from each row of 1,024 numbers its mean. One block of 256 threads per row.
__global__ void centre(const float *in, float *out)
{
    __shared__ float of_warp[8];
    const float *row = in + blockIdx.x * 1024;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += row[k * 256 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; w++)
        sum += of_warp[w];
    float mean = sum / 1024;
    for (int k = 0; k < 4; k++)
        out[blockIdx.x * 1024 + k * 256 + threadIdx.x] = row[k * 256 + threadIdx.x] - mean; // read again
}
