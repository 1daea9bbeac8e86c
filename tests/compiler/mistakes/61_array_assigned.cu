// An array is assigned as a whole.
// error 7:5: cannot assign to an array as a whole
// help: assign its elements, one by one
__global__ void copy(const int *in, int *out)
{
    int a[4] = {in[0], in[1], in[2], in[3]}, b[4];
    b = a;
    out[threadIdx.x] = b[threadIdx.x & 3];
}
