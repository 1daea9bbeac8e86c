// simplify: constants are computed, and x + 0, x * 8 and the like have shorter forms.
// with: promote spaces
__global__ void simple(const unsigned *in, unsigned *out)
{
    const unsigned x = in[0];
    out[0] = (x + 0) * 8 + (3 * 4 - 12) * x + (x ^ x);
    out[1] = ~x ^ 5;
    out[2] = threadIdx.x * 4 >> 3;
    out[3] = 1u << (int)x % 32;
    out[4] = x & 1 ? 1 : 0;
    out[5] = (x > 7 ? 1 : 2) + 1;
}
