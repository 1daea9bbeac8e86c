// A template cannot know its argument.
// error 16:25: the template 'power' does not fit the arguments (int)
// help: give the template's arguments: power<...>(...)
// note 6:16: the template 'power'
template <int N>
__device__ int power(int x)
{
    int result = 1;
    for (int k = 0; k < N; k++)
        result *= x;
    return result;
}

__global__ void cubes(int *data)
{
    data[threadIdx.x] = power(data[threadIdx.x]);
}
