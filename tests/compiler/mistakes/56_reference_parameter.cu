// A kernel's parameter is a reference.
// error 4:43: a kernel's parameter cannot be a reference: the host's variable is not in device memory
// help: pass a pointer to device memory, or the value itself
__global__ void count(const int *in, int &result)
{
    if (in[threadIdx.x])
        atomicAdd(&result, 1);
}
