// simplify: constants are computed, and x + 0, x * 8 and the like have shorter forms.
// with: promote spaces
__global__ void simple(const unsigned *in, unsigned *out)
{
    const unsigned x = in[0];
    out[0] = (x + 0) * 8 + (3 * 4 - 12) * x + (x ^ x);
}
