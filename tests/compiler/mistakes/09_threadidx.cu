// A built-in variable in small letters.
// error 6:9: 'threadidx' is not declared
// help: did you mean 'threadIdx'?
__global__ void one(int *out)
{
    out[threadidx.x] = 1;
}
