// lower-addresses: an index is multiplied by the size of an element, and added.
// with: promote spaces simplify dce
__global__ void copy(const double *in, double *out, int i)
{
    out[i] = in[i];
}
