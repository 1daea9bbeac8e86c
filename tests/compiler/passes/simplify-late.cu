// simplify-late: divisions by powers of two are shifts, once no pass needs to know the range of their results; addends that a shift drops are left out.
// with: promote spaces simplify dce
__global__ void halves(int *data)
{
    data[0] = data[1] / 4;
    data[2] = (4 * threadIdx.x + 3) >> 3;
}
