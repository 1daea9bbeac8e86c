// The size of a local array is a variable.
// error 6:16: the number of elements is no constant
// help: a size that the launch decides: extern __shared__ T name[]; otherwise use a constant: const int or constexpr
__global__ void copy(const int *in, int *out, int n)
{
    int values[n];
    for (int i = 0; i < n; i++)
        values[i] = in[i];
    *out = values[n / 2];
}
