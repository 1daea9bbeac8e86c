// thread: a way to a branch that has decided its condition goes where it leads.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void twice(int *out, int n)
{
    if (n > 3)
        out[0] = 1;
    if (n > 3)
        out[1] = 2;
}
