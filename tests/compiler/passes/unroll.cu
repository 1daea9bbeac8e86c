// unroll: a loop that counts takes four iterations at once; another one does the remainder.
// with: promote spaces simplify dce simplify-cfg rotate
__global__ void sum(const int *in, int *out, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += in[i];
    *out = total;
}
