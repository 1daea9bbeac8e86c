// __global__ with one underscore.
// error 4:1: unknown word '_global_'
// help: did you mean '__global__'?
_global_ void one(int *data)
{
    data[threadIdx.x] = 1;
}
