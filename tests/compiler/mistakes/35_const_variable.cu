// A constant is changed.
// error 7:5: cannot assign to 'i': it is const
// note 6:15: 'i' is declared here
__global__ void count(int *out)
{
    const int i = threadIdx.x;
    i += 32;
    out[i] = i;
}
