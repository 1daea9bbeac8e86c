// A kernel returns a value.
// error 4:16: the kernel 'sum' must return void
// help: write __global__ void sum
__global__ int sum(const int *in)
{
    return in[0] + in[1];
}
