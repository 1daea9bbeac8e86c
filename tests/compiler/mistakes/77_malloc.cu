// A kernel allocates an array as in C.
// error 6:29: this compiler does not have 'malloc', which nvcc has
// help: use an array of the kernel's own, shared memory, or memory that the host allocates
__global__ void sums(float *data, int n)
{
    float *parts = (float *)malloc(n * sizeof(float));
    parts[0] = data[threadIdx.x];
    data[threadIdx.x] = parts[0];
}
