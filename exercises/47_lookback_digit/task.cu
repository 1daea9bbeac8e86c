// start[d] is the sum of the counts of digit d in the tiles before `tile`, back to the nearest prefix. A status word is 2 * count, plus 1 if it is a prefix:
// then its count includes all earlier tiles. status[16 * t + d] is that of digit d in tile t; tile 0 has prefixes. One block of 16 threads.
__global__ void look_back(const int *status, int *start, int tile)
{
    int digit = threadIdx.x, sum = 0;
    // from the tile before, back to the nearest prefix
    start[digit] = sum;
}
