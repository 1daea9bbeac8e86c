// A misspelt type.
// error 6:5: unknown type 'flaot'
// help: did you mean 'float'?
__global__ void twice(float *data)
{
    flaot x = data[threadIdx.x];
    data[threadIdx.x] = 2 * x;
}
