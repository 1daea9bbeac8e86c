// Thread 0 of each block writes the block's largest element to part; the last block finds the largest of them.
__device__ unsigned blocks_done;

__global__ void largest(const float *in, float *part, float *best)
{
    float own = in[blockIdx.x * 32 + threadIdx.x];
    for (int s = 16; s > 0; s /= 2)
        own = fmaxf(own, __shfl_down_sync(0xffffffff, own, s));
    if (threadIdx.x == 0) {
        part[blockIdx.x] = own;
        if (atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1) {
            for (int k = 0; k < gridDim.x; k++)
                own = fmaxf(own, part[k]);
            *best = own;
        }
    }
}
