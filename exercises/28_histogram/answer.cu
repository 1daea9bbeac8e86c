// Counts how often each number occurs in in. All n elements are 0 to 15, and count[16] is initially 0.
__global__ void histogram(const int *in, int *count, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        atomicAdd(&count[in[i]], 1);
}
