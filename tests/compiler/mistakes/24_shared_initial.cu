// A variable in shared memory has an initial value.
// error 6:26: a variable in shared memory cannot have an initial value
// help: one thread assigns to it, then __syncthreads()
__global__ void count(int *out)
{
    __shared__ int total = 0;
    atomicAdd(&total, 1);
    __syncthreads();
    *out = total;
}
