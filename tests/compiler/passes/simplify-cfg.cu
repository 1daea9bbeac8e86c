// simplify-cfg: blocks that only jump, and those that cannot be reached, are removed.
// with: promote spaces simplify dce
__global__ void constant(int *out, int n)
{
    if (sizeof(int) == 4) {
        if (n > 0)
            out[0] = 1;
    } else {
        out[1] = 2;
    }
    return;
}
