// A constant is changed.
// error 7:5: 'i' is const
// help: delete const where it is declared, or use another variable
__global__ void count(int *out)
{
    const int i = threadIdx.x;
    i += 32;
    out[i] = i;
}
