// A case occurs twice.
// error 10:5: a second 'case' of this value
// note 7:5: first used here
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
