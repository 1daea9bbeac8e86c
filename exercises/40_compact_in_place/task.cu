// Moves the positive elements of v to its front, in their order. index[i] is the number of positive elements before element i. One block of 256 threads, n is at most 256.
__global__ void keep_positive(float *v, const int *index, int n)
{
    int tid = threadIdx.x;
    if (tid < n && v[tid] > 0)
        v[index[tid]] = v[tid];
}
