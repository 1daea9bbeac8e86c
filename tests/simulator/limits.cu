// Limits of the machine and of its inputs; the argument names the test.
#include "../programs/check.h"
#include <cuda.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdint>
#include <cstring>
#include <string>

__global__ void __cluster_dims__(8) meet(int *count)
{
    extern __shared__ int own[];
    own[threadIdx.x] = 1;
    atomicAdd(count, own[threadIdx.x]);
}

// Eight blocks of a cluster are co-resident, and four SMs hold one each.
static void cluster_that_does_not_fit()
{
    int *count;
    const int bytes = 160 * 1024;
    CUDA(cudaMalloc(&count, 4));
    CUDA(cudaMemset(count, 0, 4));
    CUDA(cudaFuncSetAttribute(meet, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    meet<<<8, 1024, bytes>>>(count);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    meet<<<8, 1024, 4096>>>(count); // two blocks on each SM
    CUDA(cudaGetLastError());
    int sum;
    CUDA(cudaMemcpy(&sum, count, 4, cudaMemcpyDeviceToHost));
    CHECK(sum == 8192);
}

static size_t unused()
{
    size_t bytes, total;
    CUDA(cudaMemGetInfo(&bytes, &total));
    return bytes;
}

static void memory_of_the_host_is_not_the_devices()
{
    void *pinned, *managed, *device, *more;
    const size_t all = unused(), part = 100 << 20;
    CUDA(cudaMallocHost(&pinned, part));
    CUDA(cudaMallocManaged(&managed, part));
    CHECK(unused() == all);
    CUDA(cudaMalloc(&device, all - part));
    CUDA(cudaMallocHost(&more, 2 * part)); // more than the device has left
    CHECK(cudaMalloc(&more, 2 * part) == cudaErrorMemoryAllocation);
    CHECK(cudaMallocHost(&more, (size_t)1 << 46) == cudaErrorMemoryAllocation);
    CHECK(unused() == part);
}

__global__ void add_up(const int *numbers, int n, int *sum)
{
    for (int k = 0; k < n; k++)
        *sum += numbers[k];
}

// True if n new numbers are zeros on the host and in a kernel; writes them all.
static bool are_zeros(int *numbers, int n, int *sum)
{
    int bits = 0;
    for (int k = 0; k < n; k++)
        bits |= numbers[k];
    CUDA(cudaMemset(sum, 0, 4));
    add_up<<<1, 1>>>(numbers, n, sum);
    int device_sum;
    CUDA(cudaMemcpy(&device_sum, sum, 4, cudaMemcpyDeviceToHost));
    memset(numbers, 1, n * 4);
    return bits == 0 && device_sum == 0;
}

static void what_the_host_may_touch_begins_as_zeros()
{
    const int n = 3000;
    int *sum, *numbers[2];
    CUDA(cudaMalloc(&sum, 4));
    for (int round = 0; round < 2; round++) { // the second time in reused memory
        CUDA(cudaMallocManaged(&numbers[0], n * 4));
        CUDA(cudaMallocHost(&numbers[1], n * 4));
        CHECK(are_zeros(numbers[0], n, sum) && are_zeros(numbers[1], n, sum));
        CUDA(cudaFree(numbers[0]));
        CUDA(cudaFreeHost(numbers[1]));
    }
}

// Sizes that fit the limit of the process only once, after a request that exceeds it.
static void memory_is_freed_under_a_limit()
{
    const size_t bytes = 192 << 20;
    const rlimit limit = {256 << 20, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_DATA, &limit) == 0);
    void *pinned, *managed;
    for (int round = 0; round < 3; round++) {
        CHECK(cudaMallocHost(&pinned, 2 * bytes) == cudaErrorMemoryAllocation);
        CUDA(cudaMallocHost(&pinned, bytes));
        CUDA(cudaFreeHost(pinned));
        CUDA(cudaMallocManaged(&managed, bytes));
        CUDA(cudaFree(managed));
    }
}

__managed__ int counted = 1;

__global__ void count_once()
{
    atomicAdd(&counted, 1);
}

static void count_to_two()
{
    count_once<<<1, 1>>>();
    CUDA(cudaDeviceSynchronize());
    CHECK(counted == 2);
}

// Those that start before the first CUDA call have their own managed variables.
static void processes_count_for_themselves()
{
    for (int k = 0; k < 2; k++) {
        const pid_t child = fork();
        if (child == 0) {
            count_to_two();
            _exit(EXIT_SUCCESS);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    count_to_two();
}

static const char *const PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry with_a_name(.param .u64 data) {\n"
    ".reg .b64 %rd1;\nld.param.u64 %rd1, [data];\nst.global.u32 [%rd1], 1;\nret;\n}\n";

// A kernel of an unloaded module races with a copy, and is named.
static void name_of_an_unloaded_kernel()
{
    CUmodule module;
    CUfunction function;
    cudaStream_t one, two;
    int *numbers, back;
    CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&numbers, 4));
    CHECK(cuModuleLoadData(&module, PTX) == CUDA_SUCCESS && cuModuleGetFunction(&function, module, "with_a_name") == CUDA_SUCCESS);
    void *arguments[] = {&numbers};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, one, arguments, nullptr) == CUDA_SUCCESS);
    CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
    CUDA(cudaMemcpyAsync(&back, numbers, 4, cudaMemcpyDeviceToHost, two));
}

// A fat binary with wrong sizes in its header, before an inaccessible page.
static void damaged_header(const char *path)
{
    static char file[1 << 20];
    FILE *in = fopen(path, "rb");
    const size_t bytes = in ? fread(file, 1, sizeof file, in) : 0, page = sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
    CHECK(bytes > 16);
    char *memory = (char *)mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED && mprotect(memory + room, page, PROT_NONE) == 0);
    CUmodule module;
    char *data = (char *)memcpy(memory + room - bytes, file, bytes);
    CUDA(cudaFree(nullptr));
    CHECK(cuModuleLoadData(&module, data) == CUDA_SUCCESS);
    uint64_t payload;
    memcpy(&payload, data + 8, sizeof payload);
    for (const uint64_t wrong : {payload + 1, payload + (1 << 30), (uint64_t)1 << 40, (uint64_t)1 << 63, ~(uint64_t)0, ~(uint64_t)15, (uint64_t)8}) {
        memcpy(data + 8, &wrong, sizeof wrong);
        CHECK(cuModuleLoadData(&module, data) == CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
}

__device__ unsigned ended;

// A bulk copy of each block signals an mbarrier without a fence, and reads the writes of earlier blocks.
__global__ void unfenced(int *numbers)
{
    __shared__ alignas(128) int own[64];
    __shared__ uint64_t barrier;
    const unsigned at = __cvta_generic_to_shared(&barrier), to = __cvta_generic_to_shared(own);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to),
                     "l"(numbers + blockIdx.x * 64), "r"(at) : "memory");
    }
    __syncthreads();
    for (unsigned over = 0; !over;)
        asm volatile("{.reg .pred %%p; mbarrier.test_wait.parity.shared.b64 %%p, [%1], 0; selp.u32 %0, 1, 0, %%p;}"
                     : "=r"(over) : "r"(at) : "memory");
    for (int k = 0; k < 30000; k++)
        own[threadIdx.x] = own[threadIdx.x] * 3 + 1;
    numbers[blockIdx.x * 64 + threadIdx.x] = own[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(&ended, 1);
}

static void blocks_that_start_again()
{
    int *numbers;
    CUDA(cudaMalloc(&numbers, 64 * 64 * 4));
    CUDA(cudaMemset(numbers, 0, 64 * 64 * 4));
    unfenced<<<64, 64>>>(numbers);
    CUDA(cudaDeviceSynchronize());
}

// All blocks add to one sum without atomics; the first one is delayed.
__global__ void add_plainly(int *sum)
{
    int mine = threadIdx.x;
    for (int k = 0; k < (blockIdx.x == 0 ? 15000 : 1); k++)
        mine = mine * 3 + __shfl_xor_sync(~0u, mine, 1);
    *sum += mine;
}

static void blocks_that_race()
{
    int *sum;
    CUDA(cudaMalloc(&sum, sizeof *sum));
    CUDA(cudaMemset(sum, 0, sizeof *sum));
    add_plainly<<<16, 64>>>(sum);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(sum));
}

// All blocks read the same words and write one each in the same line; the first block keeps reading.
__global__ void read_beside(int *words)
{
    int mine = 0;
    for (int k = 0; k < (blockIdx.x == 0 ? 20000 : 100); k++)
        mine += words[(threadIdx.x + k) % 16];
    if (threadIdx.x == 0)
        words[16 + blockIdx.x] = mine;
}

static void blocks_that_write_beside()
{
    int *words;
    CUDA(cudaMalloc(&words, 32 * sizeof *words));
    CUDA(cudaMemset(words, 0, 16 * sizeof *words));
    read_beside<<<16, 64>>>(words);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(words));
}

__global__ void align(int *remainders)
{
    __shared__ char before;
    __shared__ __align__(16384) int own[32];
    before = 1;
    own[threadIdx.x] = threadIdx.x;
    __syncwarp();
    remainders[threadIdx.x] = (int)__cvta_generic_to_shared(own) % 16384 + own[31 - threadIdx.x] + before - 1;
}

static void wide_alignment()
{
    int *remainders = managed<int>(32);
    align<<<1, 32>>>(remainders);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < 32; k++)
        CHECK(remainders[k] == 31 - k);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void deprecated_calls()
{
    cudaSharedMemConfig width;
    CUsharedconfig driver_width;
    CUfunc_cache cache;
    cudaFunction_t function;
    CUdevprop old;
    cudaDeviceProp properties;
    CUDA(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    CUDA(cudaDeviceGetSharedMemConfig(&width));
    CHECK(width == cudaSharedMemBankSizeFourByte);
    CUDA(cudaFuncSetSharedMemConfig(align, cudaSharedMemBankSizeEightByte));
    CHECK(cudaDeviceGetSharedMemConfig(nullptr) == cudaErrorInvalidValue);
    CHECK(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) == CUDA_SUCCESS);
    CHECK(cuCtxGetSharedMemConfig(&driver_width) == CUDA_SUCCESS && driver_width == CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
    CHECK(cuCtxGetCacheConfig(&cache) == CUDA_SUCCESS && cache == CU_FUNC_CACHE_PREFER_NONE);
    CUDA(cudaGetFuncBySymbol(&function, (const void *)align));
    CHECK(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE) == CUDA_SUCCESS);
    CUDA(cudaGetDeviceProperties(&properties, 0));
    CHECK(cuDeviceGetProperties(&old, 0) == CUDA_SUCCESS && old.SIMDWidth == 32 && old.maxThreadsDim[2] == properties.maxThreadsDim[2]);
    CHECK(old.maxGridSize[0] == properties.maxGridSize[0] && old.textureAlign == (int)properties.textureAlignment);
    CHECK(cuDeviceGetProperties(&old, 1) == CUDA_ERROR_INVALID_DEVICE);
}

// A bulk copy of so many bytes, perhaps 0.
__global__ void copy(int *numbers, unsigned bytes)
{
    __shared__ alignas(128) int own[64];
    __shared__ uint64_t barrier;
    const unsigned at = __cvta_generic_to_shared(&barrier), to = __cvta_generic_to_shared(own);
    own[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %3, [%2];" ::"r"(to), "l"(numbers),
                     "r"(at), "r"(bytes) : "memory");
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    }
    for (unsigned over = 0; !over;)
        asm volatile("{.reg .pred %%p; mbarrier.test_wait.parity.shared.b64 %%p, [%1], 0; selp.u32 %0, 1, 0, %%p;}"
                     : "=r"(over) : "r"(at) : "memory");
    numbers[threadIdx.x] = own[threadIdx.x];
}

static void copy_of_nothing()
{
    int *numbers, last;
    CUDA(cudaMalloc(&numbers, 256));
    CUDA(cudaMemset(numbers, 0, 256));
    copy<<<1, 64>>>(numbers, 0);
    CUDA(cudaMemcpy(&last, numbers + 63, 4, cudaMemcpyDeviceToHost));
    CHECK(last == 63);
}

int main(int, char **arguments)
{
    const std::string word = arguments[1];
    if (word == "cluster")
        cluster_that_does_not_fit();
    if (word == "memory")
        memory_of_the_host_is_not_the_devices();
    if (word == "zeros")
        what_the_host_may_touch_begins_as_zeros();
    if (word == "limit")
        memory_is_freed_under_a_limit();
    if (word == "processes")
        processes_count_for_themselves();
    if (word == "unloaded")
        name_of_an_unloaded_kernel();
    if (word == "damaged")
        damaged_header(arguments[2]);
    if (word == "alignment")
        wide_alignment();
    if (word == "deprecated")
        deprecated_calls();
    if (word == "nothing")
        copy_of_nothing();
    if (word == "race")
        blocks_that_race();
    if (word == "beside")
        blocks_that_write_beside();
    if (word == "again")
        blocks_that_start_again();
    puts("PASS");
    return 0;
}
