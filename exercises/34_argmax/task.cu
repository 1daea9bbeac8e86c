// where[block] is the index of the largest of the block's 256 elements; no two elements are equal.
__global__ void largest(const float *in, int *where)
{
    __shared__ float best[256];
    __shared__ int index[256];
    int tid = threadIdx.x;
    best[tid] = in[blockIdx.x * 256 + tid];
    index[tid] = blockIdx.x * 256 + tid;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (tid < s)
            best[tid] = fmaxf(best[tid], best[tid + s]); // and where was it?
        __syncthreads();
    }
    if (tid == 0)
        where[blockIdx.x] = index[0];
}
