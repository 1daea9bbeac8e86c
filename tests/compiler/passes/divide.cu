// divide: a division by a constant is a multiplication and shifts.
// with: promote spaces simplify dce simplify-cfg
__global__ void tenths(unsigned *data)
{
    data[threadIdx.x] = data[threadIdx.x] / 10;
}
