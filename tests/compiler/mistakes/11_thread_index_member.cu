// threadIdx without .x.
// error 6:13: cannot convert 'uint3' to 'int' in an initialisation
// help: write threadIdx.x
__global__ void one(int *out)
{
    int i = threadIdx;
    out[i] = 1;
}
