// What the lanes of a warp can ask each other.
#include "check.h"

__global__ void run(unsigned *out)
{
    const unsigned lane = threadIdx.x;
    unsigned *mine = out + lane * 16;
    mine[0] = __ballot_sync(0xffffffff, lane % 3 == 0);
    mine[1] = __any_sync(0xffffffff, lane == 7) + 2 * __all_sync(0xffffffff, lane < 32) + 4 * __all_sync(0xffffffff, lane < 31);
    mine[2] = __match_any_sync(0xffffffff, lane / 5);
    int all;
    mine[3] = __match_all_sync(0xffffffff, lane / 32, &all) + all;
    mine[4] = __shfl_sync(0xffffffff, lane * lane, 5);
    mine[5] = __shfl_up_sync(0xffffffff, lane, 3);
    mine[6] = __shfl_down_sync(0xffffffff, lane, 3, 8); // segments of eight
    mine[7] = __shfl_xor_sync(0xffffffff, lane, 9);
    mine[8] = __reduce_add_sync(0xffffffff, lane);
    mine[9] = __reduce_max_sync(0xffffffff, lane ^ 5) + 100 * __reduce_min_sync(0xffffffff, lane + 3);
    if (lane < 10)
        mine[10] = __activemask() + __popc(__ballot_sync(0x3ff, lane & 1));
    else
        mine[10] = 1;
    __syncwarp();
    if (lane % 2) // the two halves of the warp meet at different instructions
        __syncwarp();
    else
        __syncwarp();
    mine[11] = __shfl_sync(0xffffffff, mine[10], 31);
    unsigned mask = 0;
    for (unsigned k = 0; k <= lane; k++) // lanes leave one by one
        mask = __ballot_sync(__activemask(), 1);
    mine[12] = mask;
}

int main()
{
    unsigned *out = managed<unsigned>(32 * 16);
    run<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (unsigned l = 0; l < 32; l++) {
        const unsigned *mine = out + l * 16;
        CHECK(mine[0] == 0x49249249 && mine[1] == 3);
        CHECK(mine[2] == (0x1fu << (l / 5 * 5)) && mine[3] == 0);
        CHECK(mine[4] == 25 && mine[5] == (l < 3 ? l : l - 3));
        CHECK(mine[6] == (l % 8 < 5 ? l + 3 : l) && mine[7] == (l ^ 9));
        CHECK(mine[8] == 496 && mine[9] == 31 + 300);
        CHECK(mine[10] == (l < 10 ? 0x3ff + 5 : 1) && mine[11] == 1);
        CHECK(mine[12] == 0xffffffffu << l);
    }
    puts("PASS");
}
