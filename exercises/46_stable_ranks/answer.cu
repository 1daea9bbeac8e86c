// rank[i] is the number of elements before in[i], within its warp of 32, that are equal to it. All elements are 0 to 7; n is a multiple of 32.
__global__ void ranks(const int *in, int *rank)
{
    int i = blockIdx.x * 32 + threadIdx.x, lane = threadIdx.x;
    int digit = in[i];
    unsigned same = 0xffffffff; // a bit for each lane: is its element equal?
    for (int bit = 1; bit < 8; bit *= 2) {
        unsigned set = __ballot_sync(0xffffffff, (digit & bit) != 0);
        same &= (digit & bit) != 0 ? set : ~set;
    }
    rank[i] = __popc(same & ((1u << lane) - 1));
}
