// loaded: load latency of device memory while other blocks read, as CSV: one row for each length of their pauses.
#include <cstdio>
#include <cstdlib>
#include <vector>

const unsigned THREADS = 512, BLOCKS_PER_SM = 4; // fills an SM
const unsigned LOADS = 4;                        // float4 loads per thread and tile
const unsigned LINKS = 4000, STRIDE = 1000003;   // elements of the chain: nearly every load is on another page
const long long ARRAY_BYTES = 1ll << 32;

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "loaded: %s: %s\n", call, cudaGetErrorString(error));
    exit(error == cudaErrorNoDevice ? 77 : EXIT_FAILURE);
}

struct Watch {
    unsigned done;            // set at the end of the chain: the readers stop
    unsigned long long tiles; // read by the readers so far
    unsigned long long read;  // of these, during the chain
    unsigned long long ns;    // duration of the chain
    unsigned end;             // last element; prevents dead-code elimination of the loads
};

__device__ unsigned long long nanoseconds()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    return now;
}

__device__ void pause(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles)
        continue;
}

// Each load's address is the value that the previous load returned.
__device__ void follow(const unsigned *chain, volatile Watch *watch)
{
    pause(200000); // until the readers are running
    const unsigned long long tiles = watch->tiles, start = nanoseconds();
    unsigned at = 0;
    for (unsigned k = 0; k < LINKS; k++)
        at = chain[at];
    watch->end = at; // waits for the last load
    __threadfence();
    watch->ns = nanoseconds() - start;
    watch->read = watch->tiles - tiles;
    watch->done = 1;
}

// Reads tile after tile, with a pause after each, until the chain ends.
__device__ void read(const float4 *array, long long tiles, long long cycles, Watch *watch, float *never)
{
    __shared__ unsigned done;
    float sum = 0.0f;
    for (long long tile = blockIdx.x;; tile = (tile + gridDim.x) % tiles) {
        float4 values[LOADS];
        for (unsigned k = 0; k < LOADS; k++)
            values[k] = array[(tile * LOADS + k) * THREADS + threadIdx.x];
        for (float4 v : values)
            sum += v.x + v.y + v.z + v.w;
        if (__syncthreads_count(sum != 0)) // waits until all threads have their tile; the count is 0
            *never = sum;
        if (threadIdx.x == 0) {
            atomicAdd(&watch->tiles, 1ull);
            done = *(volatile unsigned *)&watch->done;
        }
        __syncthreads();
        if (done)
            return;
        pause(cycles);
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    loaded(const unsigned *chain, const float4 *array, long long tiles, long long cycles, Watch *watch, float *never)
{
    if (blockIdx.x > 0)
        read(array, tiles, cycles, watch, never);
    else if (threadIdx.x == 0)
        follow(chain, watch);
}

static unsigned *make_chain(size_t length)
{
    std::vector<unsigned> chain(length);
    for (size_t i = 0; i < length; i++)
        chain[i] = (unsigned)((i + STRIDE) % length);
    unsigned *device_chain;
    CHECK(cudaMalloc(&device_chain, length * sizeof(unsigned)));
    CHECK(cudaMemcpy(device_chain, chain.data(), length * sizeof(unsigned), cudaMemcpyHostToDevice));
    return device_chain;
}

int main()
{
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    const unsigned *chain = make_chain(8 * device.l2CacheSize / sizeof(unsigned));
    float4 *array;
    float *never;
    Watch *watch, seen;
    CHECK(cudaMalloc(&array, ARRAY_BYTES));
    CHECK(cudaMemset(array, 0, ARRAY_BYTES)); // evicts the chain from the L2 cache
    CHECK(cudaMalloc(&never, sizeof *never));
    CHECK(cudaMalloc(&watch, sizeof *watch));
    const long long tile_bytes = LOADS * THREADS * sizeof(float4), tiles = ARRAY_BYTES / tile_bytes;
    const int most = BLOCKS_PER_SM * device.multiProcessorCount;
    printf("device,sm_count,blocks,pause_cycles,gb_per_s,load_ns\n");
    for (int cycles : {-1, 20000, 10000, 5000, 3000, 2000, 1500, 1000, 700, 400, 200, 0}) { // -1: no other block reads
        const int blocks = cycles < 0 ? 1 : most;
        for (int run = 0; run < 2; run++) { // the first run fills the TLBs
            CHECK(cudaMemset(watch, 0, sizeof *watch));
            loaded<<<most, THREADS>>>(chain, array, tiles, 0, watch, never); // flushes the L2 cache
            CHECK(cudaMemset(watch, 0, sizeof *watch));
            loaded<<<blocks, THREADS>>>(chain, array, tiles, cycles, watch, never);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(&seen, watch, sizeof seen, cudaMemcpyDeviceToHost));
        }
        printf("%s,%d,%d,%d,%.1f,%.1f\n", device.name, device.multiProcessorCount, blocks, cycles < 0 ? 0 : cycles,
               (double)seen.read * tile_bytes / seen.ns, (double)seen.ns / LINKS);
    }
}
