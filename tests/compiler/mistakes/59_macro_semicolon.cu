// A macro that ends with a semicolon.
// error 8:25: expected ']' after the size, not ';'
// help: the macro 'N' ends with ';': delete it in line 4
#define N 256;

__global__ void copy(const int *in, int *out)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[255 - threadIdx.x];
}
