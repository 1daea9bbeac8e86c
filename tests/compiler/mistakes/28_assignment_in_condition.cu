// = for == in a condition.
// warning 6:11: an assignment is the condition
// help: write == to compare, or ((n = 1)) to assign
__global__ void first(int *out, int n)
{
    if (n = 1)
        out[threadIdx.x] = n;
}
