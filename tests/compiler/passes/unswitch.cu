// unswitch: a test that is the same in each iteration is done once, and each side has a loop of its own.
// with: promote spaces simplify dce simplify-cfg rotate gvn licm
__global__ void scan(const float *in, float *out, int n, bool exclusive)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        if (exclusive)
            out[i] = sum;
        sum += in[i];
        if (!exclusive)
            out[i] = sum;
    }
}
