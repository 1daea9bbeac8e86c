// chosen: a load from one of two variables is a choice between two loads, so that the variables can be registers.
// with: promote spaces simplify dce simplify-cfg
__global__ void smaller(const int *in, int *out)
{
    int a = in[0], b = in[1];
    *out = *(a < b ? &a : &b);
}
