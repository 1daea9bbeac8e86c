// A kernel is called as a function.
// error 11:5: 'one' is a kernel, which is launched, not called
// help: launch it from the host: one<<<blocks, threads>>>(...); a kernel calls __device__ functions
__global__ void one(int *out)
{
    *out = 1;
}

__global__ void two(int *out)
{
    one(out);
}
