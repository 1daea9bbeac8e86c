// A function does not return a value.
// error 10:1: 'sign' may end without returning a 'int'
// help: add a return at the end, for every way through the function
__device__ int sign(int x)
{
    if (x > 0)
        return 1;
    if (x < 0)
        return -1;
}

__global__ void signs(int *data)
{
    data[threadIdx.x] = sign(data[threadIdx.x]);
}
