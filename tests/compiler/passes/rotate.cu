// rotate: a loop tests at its end, with one branch in each iteration.
// with: promote spaces simplify dce simplify-cfg
__global__ void count(const int *in, int *out)
{
    int n = 0;
    while (in[n] != 0)
        n++;
    *out = n;
}
