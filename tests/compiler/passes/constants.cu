// constants: what is stored is in a register, a constant too; so are the operands of fmaf(), and the first ones of others. 1 / x has none.
// with: promote spaces simplify dce select
__global__ void fill(int *out, float *sums)
{
    out[0] = 5;
    out[1] = 5;
    sums[0] = fmaf(sums[0], 3.0f, 7.0f);
    sums[1] = sums[1] * 3.0f + 8.0f;
    sums[2] = fmaxf(9.0f, sums[2]);
    sums[3] = 1.0f / sums[3];
    sums[4] = 2.0f / sums[4];
}
