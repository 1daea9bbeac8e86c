// branches: the condition is inverted where that saves a jump.
// with: promote spaces simplify dce simplify-cfg
__global__ void guarded(int *out, int n)
{
    if (threadIdx.x < n) {
        out[threadIdx.x] = n;
        __threadfence();
        out[threadIdx.x + 1] = 1;
    }
}
