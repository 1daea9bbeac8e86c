// A pointer to another type is passed.
// error 10:11: cannot convert 'float *' to 'int *'
__device__ void clear(int *at)
{
    *at = 0;
}

__global__ void clear_all(float *data)
{
    clear(data + threadIdx.x);
}
