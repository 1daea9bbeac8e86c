// bit-tests: a bit that a vote takes is shifted to the lowest place, and c ? 0 : -1 selects by the inverse comparison.
// with: promote spaces simplify gvn dce simplify-cfg if-convert
__global__ void same(const unsigned *in, unsigned *out)
{
    const unsigned set = __ballot_sync(~0u, (in[threadIdx.x] & 8) != 0);
    out[threadIdx.x] = (in[threadIdx.x] & 8) != 0 ? set : ~set;
}
