// How often is each number in in? All n of them are 0 to 15, and count[16] is 0 before.
__global__ void histogram(const int *in, int *count, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        atomicAdd(&count[in[i]], 1);
}
