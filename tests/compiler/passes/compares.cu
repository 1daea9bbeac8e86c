// compares: a comparison that several blocks need is computed in each of them, in the form that its branch needs; not the success of atomicCAS.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void twice(int *out, int n)
{
    if (n > 3)
        out[0] = 1;
    const bool is_free = atomicCAS(out, 0, 1) == 0;
    if (is_free)
        __threadfence();
    if (n > 3)
        out[1] = 2;
    if (is_free)
        out[2] = 3;
    if (clock64() == 0) // of an intrinsic without operands
        out[3] = 4;
}
