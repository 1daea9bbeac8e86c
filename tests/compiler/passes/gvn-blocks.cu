// gvn-blocks: once divisions are multiplications, parts that two of them have in common are computed once in a block.
// with: promote spaces simplify dce divide
__global__ void digits(unsigned *data)
{
    const unsigned x = data[0];
    data[1] = x / 10 + x % 10;
}
