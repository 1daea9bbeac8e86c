// The size of a local array is a variable.
// error 6:16: the size of 'values' is not a constant
// help: write a number, or make it a constant: constexpr int n = ...
__global__ void copy(const int *in, int *out, int n)
{
    int values[n];
    for (int i = 0; i < n; i++)
        values[i] = in[i];
    *out = values[n / 2];
}
