// An array is assigned as a whole.
// error 7:7: an array cannot be assigned
// help: copy its elements in a loop, or put it in a struct
__global__ void copy(const int *in, int *out)
{
    int a[4] = {in[0], in[1], in[2], in[3]}, b[4];
    b = a;
    out[threadIdx.x] = b[threadIdx.x & 3];
}
