// The counter of a loop is used after it.
// error 8:12: 'i' is not declared
// help: the 'i' of line 6 is known in its block only: declare it before
__global__ void count(const int *in, int *out, int n)
{
    for (int i = 0; i < n && in[i]; i++)
        continue;
    *out = i;
}
