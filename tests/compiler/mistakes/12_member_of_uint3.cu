// threadIdx has no member of this name.
// error 6:19: 'uint3' has no member 'X'
// help: did you mean 'x'?
__global__ void one(int *out)
{
    out[threadIdx.X] = 1;
}
