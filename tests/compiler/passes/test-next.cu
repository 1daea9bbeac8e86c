// test-next: a loop that counts compares the counter's next value, which is there anyway.
// with: promote spaces simplify dce simplify-cfg rotate licm gvn lsr fold-offsets
__global__ void fill(int *out)
{
#pragma unroll 1
    for (int i = 0; i < 1000; i++)
        out[i] = i;
}
