// join-addresses: an address that two branches need is computed once, before them.
// with: promote spaces simplify dce simplify-cfg
__global__ void either(float *out, int i, float x)
{
    if (x < 0)
        out[i] = sqrtf(x);
    else {
        __syncthreads();
        out[i] = x * x;
    }
}
