// lsr: an address that grows by the same amount in each iteration is a variable of the loop, to which that is added.
// with: promote spaces simplify dce simplify-cfg rotate gvn licm
__global__ void diagonal(const float *in, float *out, int n)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const float *row = in + i * 64;
        sum += row[0] * row[i];
    }
    *out = sum;
}
