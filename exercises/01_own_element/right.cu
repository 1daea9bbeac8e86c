// ==== With unsigned numbers
__global__ void add_one(const float *in, float *out)
{
    const unsigned own = threadIdx.x + blockDim.x * blockIdx.x;
    out[own] = 1.0f + in[own];
}
// ==== By pointers
__global__ void add_one(const float *in, float *out)
{
    in += blockIdx.x * blockDim.x;
    out += blockIdx.x * blockDim.x;
    out[threadIdx.x] = in[threadIdx.x] + 1;
}
