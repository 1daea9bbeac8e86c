// simplify-late: divisions by powers of two are shifts, once no pass needs to know the range of their results.
// with: promote spaces simplify dce
__global__ void halves(int *data)
{
    data[0] = data[1] / 4;
}
