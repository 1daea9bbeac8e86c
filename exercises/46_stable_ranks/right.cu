// ==== match.any
__global__ void ranks(const int *in, int *rank)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    unsigned same = __match_any_sync(0xffffffff, in[i]);
    rank[i] = __popc(same & ((1u << threadIdx.x) - 1));
}
// ==== A ballot for each value
__global__ void ranks(const int *in, int *rank)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    int digit = in[i];
    unsigned same = 0;
    for (int value = 0; value < 8; value++) {
        unsigned those = __ballot_sync(0xffffffff, digit == value);
        if (digit == value)
            same = those;
    }
    rank[i] = __popc(same << (31 - threadIdx.x)) - 1;
}
