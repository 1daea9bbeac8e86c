// The semicolon after an enumeration is missing.
// error 4:24: expected ';' after the enum
// help: add ';'
enum State { NONE, SUM }

__device__ int state_of(int x)
{
    return x ? SUM : NONE;
}

__global__ void states(int *out)
{
    out[threadIdx.x] = state_of(threadIdx.x);
}
