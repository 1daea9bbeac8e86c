// The argument of a template is a variable.
// error 12:31: the template 'times' needs a constant for 'N'
// help: pass it as a parameter of the function, or make it constexpr
template <int N>
__device__ int times(int x)
{
    return N * x;
}

__global__ void multiply(int *data, int n)
{
    data[threadIdx.x] = times<n>(data[threadIdx.x]);
}
