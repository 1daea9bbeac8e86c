// select: one instruction does the work of two: mad for integers and fma for floats multiply and add, bfi and prmt shift and insert.
// with: promote spaces simplify dce simplify-cfg
__global__ void line(const float *in, const unsigned char *bytes, float *out, int a, int b)
{
    out[a * b + threadIdx.x] = in[0] * in[1] + in[2];
    out[a * 32 + (b & 31)] = bytes[0] | bytes[1] << 8;
}
