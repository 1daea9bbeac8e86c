// compares: a comparison that several blocks need is computed in each of them, in the form that its branch needs.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void twice(int *out, int n)
{
    if (n > 3)
        out[0] = 1;
    __syncthreads();
    if (n > 3)
        out[1] = 2;
}
