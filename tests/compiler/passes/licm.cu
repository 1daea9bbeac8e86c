// licm: what is the same in each iteration is computed before the loop, but not the address of an atomic operation, counts + 4 bytes.
// with: promote spaces simplify dce simplify-cfg rotate
__global__ void scale(const float *in, float *out, int *counts, int n, float a, float b)
{
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        out[i] = in[i] * sqrtf(a / b);
        atomicAdd(counts + 1, 1);
        if (in[i] > 0) { // a division by zero is no error, unless it is one of integers
            out[n + i] = b / a;
            counts[2] = 99 / n;
        }
    }
}
