// A return with a value in a kernel.
// error 6:12: 'sum' returns void, so that 'return' has no value
// help: store the result in memory: a kernel gets a pointer to it
__global__ void sum(const int *in)
{
    return in[0] + in[1];
}
