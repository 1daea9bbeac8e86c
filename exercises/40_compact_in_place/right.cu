// ==== Through shared memory
__global__ void keep_positive(float *v, const int *index, int n)
{
    __shared__ float copy[256];
    int tid = threadIdx.x;
    if (tid < n)
        copy[tid] = v[tid];
    __syncthreads();
    if (tid < n && copy[tid] > 0)
        v[index[tid]] = copy[tid];
}
// ==== The new index is known before the barrier
__global__ void keep_positive(float *v, const int *index, int n)
{
    int to = -1;
    float own = 0;
    if (threadIdx.x < n && v[threadIdx.x] > 0) {
        own = v[threadIdx.x];
        to = index[threadIdx.x];
    }
    __syncthreads();
    if (to >= 0)
        v[to] = own;
}
