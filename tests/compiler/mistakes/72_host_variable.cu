// A kernel uses a variable of the host.
// error 9:23: 'count' is a host variable, which a kernel cannot access
// help: pass it as a parameter, or write __device__ before 'count'
// note 5:5: 'count' is declared here
int count = 32;

__global__ void one(int *data)
{
    if (threadIdx.x < count)
        data[threadIdx.x] = 1;
}
