// speculate: a cheap value is computed before a branch if that makes the branch unnecessary.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void pick(const int *in, int *out, int n)
{
    int x = in[0];
    if (n > 3)
        x = x * 2 + n;
    out[0] = x;
}
