// promote: variables become values: no load and store of the thread's local memory is left, and a loop's variables are phis.
__global__ void sum(const int *in, int *out, int n)
{
    int total = 0;
    for (int i = 0; i < n; i++)
        total += in[i];
    *out = total;
}
