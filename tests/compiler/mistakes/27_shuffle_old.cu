// A shuffle of CUDA 8.
// error 7:10: '__shfl_down' is not declared
// help: write __shfl_down_sync(0xffffffff, ...)
__global__ void sum(float *data)
{
    float x = data[threadIdx.x];
    x += __shfl_down(x, 16);
    data[threadIdx.x] = x;
}
