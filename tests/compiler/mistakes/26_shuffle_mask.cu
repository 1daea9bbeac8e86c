// A shuffle without its mask.
// error 7:10: '__shfl_down_sync' needs 3 or 4 arguments, and this call has 2
// help: __shfl_down_sync(mask, value, distance): the mask of all lanes is 0xffffffff
__global__ void sum(float *data)
{
    float x = data[threadIdx.x];
    x += __shfl_down_sync(x, 16);
    data[threadIdx.x] = x;
}
