// A kernel calls a function of the host.
// error 12:25: 'half' is a host function, which a kernel cannot call
// help: write __device__ before the function 'half'
// note 5:7: 'half' is declared here
float half(float x)
{
    return x / 2;
}

__global__ void halve(float *data)
{
    data[threadIdx.x] = half(data[threadIdx.x]);
}
