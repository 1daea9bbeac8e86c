// A function is used before its declaration.
// error 7:25: 'twice' is not declared yet
// help: move it to before this function, or declare it there: __device__ int twice(int x);
// note 10:16: 'twice' is declared here
__global__ void one(int *data)
{
    data[threadIdx.x] = twice(threadIdx.x);
}

__device__ int twice(int x)
{
    return 2 * x;
}
