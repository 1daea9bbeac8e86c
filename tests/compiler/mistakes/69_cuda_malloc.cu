// A kernel allocates memory as the host does.
// error 6:5: 'cudaMalloc' is a host function, which a kernel cannot call
__global__ void one(int *data)
{
    int *copy;
    cudaMalloc(&copy, 4);
    data[threadIdx.x] = 1;
}
