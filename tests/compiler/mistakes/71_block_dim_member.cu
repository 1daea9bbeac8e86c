// blockDim without .x.
// error 6:24: '*' has no meaning for 'unsigned' and 'const dim3'
// help: write blockDim.x
__global__ void one(int *data)
{
    int i = blockIdx.x * blockDim + threadIdx.x;
    data[i] = 1;
}
