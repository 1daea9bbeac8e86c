// branches: the condition is inverted where that saves a jump.
// with: promote spaces simplify dce simplify-cfg gvn
__global__ void guarded(int *out, int n)
{
    const bool is_inside = threadIdx.x < n;
    if (is_inside) {
        out[threadIdx.x] = n;
        __threadfence();
        out[threadIdx.x + 1] = 1;
    }
    out[n] = is_inside;
}
