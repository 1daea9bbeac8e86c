// Shared memory is no parameter.
// error 4:36: a parameter cannot be in shared memory
// help: declare the array in the kernel: __shared__ int name[256]; or extern __shared__ int name[];
__global__ void reverse(int *data, __shared__ int *tile)
{
    tile[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = tile[31 - threadIdx.x];
}
