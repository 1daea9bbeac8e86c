// constants: what is stored is in a register, a constant too.
// with: promote spaces simplify dce
__global__ void fill(int *out)
{
    out[0] = 5;
    out[1] = 5;
}
