// Two indices in one pair of brackets.
// error 7:10: [a, b] uses only b
// help: write [y][x], or an index of one dimension: y * width + x
__global__ void one(int *data)
{
    __shared__ int tile[8][8];
    tile[threadIdx.y, threadIdx.x] = 1;
    data[0] = tile[0][0];
}
