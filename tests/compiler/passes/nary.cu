// nary: a sum continues an earlier sum of some of its summands.
// with: promote spaces simplify gvn dce simplify-cfg
__global__ void sums(int *out, int tile, int warp, int lane)
{
    out[0] = tile + warp + lane;
    out[1] = tile + (warp + 32) + lane;
}
