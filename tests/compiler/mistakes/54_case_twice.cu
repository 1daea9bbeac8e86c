// A case is there twice.
// error 9:5: a second 'case' of this value
__global__ void names(const int *in, int *out)
{
    switch (in[threadIdx.x]) {
    case 1:
        out[threadIdx.x] = 10;
        break;
    case 1:
        out[threadIdx.x] = 20;
    }
}
