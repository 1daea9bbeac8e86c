// Commas between the parts of a for.
// error 7:19: expected ';' between the parts of 'for', not ','
// help: write for (int i = 0; i < n; i++)
__global__ void sum(const int *in, int *out, int n)
{
    int total = 0;
    for (int i = 0, i < n, i++)
        total += in[i];
    *out = total;
}
