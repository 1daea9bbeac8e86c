// One block of 32 threads is launched. Count its accesses and conflicts by hand, write your numbers after the equals signs, and save.
// Each wavefront of a warp's access after its first one counts as a bank conflict.
//
// shared stores =
// shared loads =
// bank conflicts =

__global__ void pick(const float *in, float *out)
{
    __shared__ float tile[128];
    int lane = threadIdx.x;
    for (int k = 0; k < 4; k++)
        tile[32 * k + lane] = in[32 * k + lane];
    __syncwarp();
    out[lane] = tile[3 * lane] + tile[4 * lane];
}
