// A pointer to another type is passed.
// error 12:11: cannot convert 'float *' to 'int *' in argument 1 of 'clear'
// help: cast it if that is meant: (int *)
// note 5:17: 'clear(int * at)' is declared here
__device__ void clear(int *at)
{
    *at = 0;
}

__global__ void clear_all(float *data)
{
    clear(data + threadIdx.x);
}
