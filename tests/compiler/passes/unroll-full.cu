// unroll-full: a loop of few iterations becomes straight code.
// with: promote spaces simplify dce simplify-cfg rotate
__global__ void power(const int *in, int *out)
{
    int x = 1;
    for (int i = 0; i < 4; i++)
        x *= in[i];
    *out = x;
}
