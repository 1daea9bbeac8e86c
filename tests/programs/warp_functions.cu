// Warp-level functions: vote, match, shuffle, reduce.
#include "check.h"
#include <cooperative_groups.h>

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
    if (lane % 2) // odd and even lanes execute different instructions
        __syncwarp();
    else
        __syncwarp();
    mine[11] = __shfl_sync(0xffffffff, mine[10], 31);
    unsigned mask = 0;
    for (unsigned k = 0; k <= lane; k++) // lanes leave one by one
        mask = __ballot_sync(__activemask(), 1);
    mine[12] = mask;
}

// Lanes of one instruction with different masks: the halves of the warp, or its quarters; lane 31
// arrives late in the last quarter.
__global__ void parts(unsigned *out)
{
    const unsigned lane = threadIdx.x, half = lane < 16 ? 0xffff : 0xffff0000, quarter = 0xffu << lane / 8 * 8;
    const unsigned square = lane * lane;
    unsigned *mine = out + lane * 16;
    mine[0] = __ballot_sync(half, lane % 3 == 0);
    mine[1] = __reduce_add_sync(half, lane);
    mine[2] = __any_sync(half, lane == 7) + 2 * __all_sync(half, lane > 15);
    mine[3] = __match_any_sync(half, lane / 5);
    mine[4] = __shfl_xor_sync(half, square, 5);
    const auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    mine[5] = tile.ballot(lane % 5 == 0);
    mine[6] = __shfl_up_sync(quarter, square, 1, 8);
    __shared__ volatile unsigned late;
    late = 0;
    __syncwarp();
    if (lane == 31) {
        late = 5;
        __syncwarp(quarter);
    } else {
        __syncwarp(quarter);
        mine[7] = lane < 24 ? 5 : late;
    }
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
    parts<<<1, 32>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (unsigned l = 0; l < 32; l++) {
        const unsigned *mine = out + l * 16, first = l / 16 * 16, half = 0xffffu << first;
        CHECK(mine[0] == (0x49249249 & half) && mine[1] == 16 * first + 120 && mine[2] == (l < 16 ? 1 : 2));
        CHECK(mine[3] == (0x1fu << l / 5 * 5 & half) && mine[4] == (l ^ 5) * (l ^ 5));
        CHECK(mine[5] == (0x42108421u >> first & 0xffff) && mine[6] == (l % 8 ? (l - 1) * (l - 1) : l * l));
        CHECK(l == 31 || mine[7] == 5);
    }
    puts("PASS");
}
