// divide: a division by a constant is a multiplication and shifts. Another one of 64 bits first tests for small numbers, but not if one
// is a hash.
// with: promote spaces simplify dce simplify-cfg
__global__ void tenths(unsigned *data, unsigned long long *words, unsigned long long n)
{
    data[threadIdx.x] = data[threadIdx.x] / 10;
    words[0] = words[0] / n;
    words[1] = (words[1] << 32) / data[0];
    words[2] = (words[2] ^ 5) % n;
}
