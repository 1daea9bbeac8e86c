// ==== A for loop that ends at the prefix
__global__ void look_back(const int *status, int *start, int tile)
{
    int sum = 0;
    for (int t = tile - 1; t >= 0; t--) {
        int word = status[16 * t + threadIdx.x];
        sum += word >> 1;
        if (word & 1)
            break;
    }
    start[threadIdx.x] = sum;
}
// ==== All tiles, from the first: a prefix replaces the sum
__global__ void look_back(const int *status, int *start, int tile)
{
    int sum = 0;
    for (int t = 0; t < tile; t++) {
        int word = status[16 * t + threadIdx.x];
        sum = word % 2 == 1 ? word / 2 : sum + word / 2;
    }
    start[threadIdx.x] = sum;
}
