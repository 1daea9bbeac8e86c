// spaces: a generic pointer that can only point to shared or global memory becomes a pointer there, with ld.shared and ld.global.
// with: promote
__device__ int first_of(const int *values)
{
    return values[0] + values[1];
}

__global__ void sums(const int *in, int *out)
{
    __shared__ int own[2];
    own[0] = in[0];
    own[1] = in[1];
    out[0] = first_of(own);
    out[1] = first_of(in);
}
