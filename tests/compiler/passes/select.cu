// select: an addition and a multiplication become one instruction: mad for integers, fma for floats.
// with: promote spaces simplify dce simplify-cfg
__global__ void line(const float *in, float *out, int a, int b)
{
    out[a * b + threadIdx.x] = in[0] * in[1] + in[2];
}
