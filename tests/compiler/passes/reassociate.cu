// reassociate: equal summands become one multiplication, and all constants one summand.
// with: split promote spaces simplify gvn dce simplify-cfg
__global__ void sum(const int *in, int *out, int a)
{
    out[0] = a + in[0] + (in[0] + 1) + (in[0] + 2);
}
