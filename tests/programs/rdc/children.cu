// Kernels that launch kernels: a recursive sort, a sum by nested launches, streams, events, the tail stream, and
// rejected calls.
#include "../check.h"

#include <cstring>

// ---- Recursion: each launch sorts the two sides of its pivot in separate streams.

__global__ void quicksort(int *values, int count)
{
    int low = 0, high = count - 1;
    const int pivot = values[count / 2];
    while (low <= high) {
        while (values[low] < pivot)
            low++;
        while (values[high] > pivot)
            high--;
        if (low <= high) {
            const int value = values[low];
            values[low++] = values[high];
            values[high--] = value;
        }
    }
    for (int side = 0; side < 2; side++) {
        const int first = side == 0 ? 0 : low, length = side == 0 ? high + 1 : count - low;
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        if (length > 1)
            quicksort<<<1, 1, 0, stream>>>(values + first, length);
        cudaStreamDestroy(stream);
    }
}

static void sort()
{
    const int COUNT = 200;
    int *values = managed<int>(COUNT);
    for (int i = 0; i < COUNT; i++)
        values[i] = i * 37 % COUNT;
    quicksort<<<1, 1>>>(values, COUNT);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        CHECK(values[i] == i);
    CUDA(cudaFree(values));
}

// ---- A sum: each launch adds the upper half to the lower one, and launches the next; dynamic shared memory.

__global__ void nested_sum(int *values)
{
    extern __shared__ int upper[];
    upper[threadIdx.x] = values[blockDim.x + threadIdx.x];
    values[threadIdx.x] += upper[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0 && blockDim.x > 1)
        nested_sum<<<1, blockDim.x / 2, blockDim.x / 2 * sizeof(int)>>>(values);
}

static void sum()
{
    const int COUNT = 256;
    int *values = managed<int>(COUNT);
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
    nested_sum<<<1, COUNT / 2, COUNT / 2 * sizeof(int)>>>(values);
    CUDA(cudaDeviceSynchronize());
    CHECK(values[0] == COUNT * (COUNT - 1) / 2);
    CUDA(cudaFree(values));
}

// ---- The order of launches: each appends its letter.

struct Text {
    int length, unused; // a struct with an uninitialised member
    char letters[64];
};

struct Letter {
    char letter;
    double unused;
};

__global__ void write(Text *text, Letter letter)
{
    text->letters[text->length++] = letter.letter;
}

// Writes its letter, and launches another kernel in its tail stream, to run after all its other work.
__global__ void write_two(Text *text, Letter letter, char last)
{
    write<<<1, 1, 0, cudaStreamTailLaunch>>>(text, Letter{last});
    write<<<1, 1>>>(text, letter);
}

__global__ void order(Text *text)
{
    cudaStream_t one, two;
    cudaEvent_t first;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&first, cudaEventDisableTiming);
    Letter d;
    d.letter = 'd';
    write_two<<<1, 1, 0, cudaStreamTailLaunch>>>(text, Letter{'e'}, 'g');
    write<<<1, 1, 0, cudaStreamTailLaunch>>>(text, Letter{'h'});
    write_two<<<1, 1, 0, one>>>(text, Letter{'a'}, 'b');
    cudaEventRecord(first, one);
    cudaStreamWaitEvent(two, first, 0);
    write<<<1, 1, 0, two>>>(text, Letter{'c'});
    write<<<1, 1, 0, two>>>(text, d);
    cudaEventDestroy(first);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
}

__global__ void alone(int *value)
{
    atomicAdd(value, 1);
}

__global__ void many(int *value)
{
    alone<<<2, 32, 0, cudaStreamFireAndForget>>>(value);
}

static void orders()
{
    Text *text = managed<Text>(1);
    memset(text, 0, sizeof *text);
    order<<<1, 1>>>(text);
    CUDA(cudaDeviceSynchronize());
    CHECK(!strcmp(text->letters, "abcdegh"));
    CUDA(cudaFree(text));
    int *value = managed<int>(1);
    *value = 0;
    many<<<3, 5>>>(value);
    CUDA(cudaDeviceSynchronize());
    CHECK(*value == 3 * 5 * 2 * 32);
    CUDA(cudaFree(value));
}

// ---- Rejected calls

enum { LAUNCHES = 10 };

__global__ void nothing() {}

__global__ void ask(int *answers)
{
    nothing<<<0, 1>>>();
    answers[0] = cudaPeekAtLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaErrorInvalidConfiguration;
    answers[1] = cudaGetLastError() == cudaSuccess;
    nothing<<<1, 2000>>>();
    answers[2] = cudaGetLastError() == cudaErrorInvalidConfiguration;
    nothing<<<1, 1, 0, (cudaStream_t)12345>>>();
    answers[3] = cudaGetLastError() == cudaErrorInvalidResourceHandle;
    int run = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        nothing<<<1, 1>>>();
        run += cudaGetLastError() == cudaSuccess;
    }
    answers[4] = run;
    const char *text = cudaGetErrorName(cudaErrorInvalidValue);
    answers[5] = text[0] == 'c' && text[4] == 'E';
    cudaFuncAttributes attributes;
    int device, threads, blocks;
    answers[6] = cudaGetDevice(&device) == cudaSuccess && device == 0 &&
                 cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device) == cudaSuccess && threads == 1024 &&
                 cudaFuncGetAttributes(&attributes, nothing) == cudaSuccess && attributes.maxThreadsPerBlock == 1024 &&
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 1024, 0) == cudaSuccess && blocks == 2;
    cudaStream_t stream;
    answers[7] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault) == cudaErrorInvalidValue &&
                 cudaGetLastError() == cudaErrorInvalidValue;
}

__global__ void deeper(int *depth, int level)
{
    *depth = level;
    deeper<<<1, 1>>>(depth, level + 1);
    if (cudaGetLastError() == cudaErrorLaunchMaxDepthExceeded)
        *depth += 1000;
}

static void refusals()
{
    enum { ANSWERS = 8 };
    int *answers = managed<int>(ANSWERS);
    CUDA(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, LAUNCHES - 3));
    ask<<<1, 1>>>(answers);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < ANSWERS; i++)
        CHECK(answers[i] == (i == 4 ? LAUNCHES - 3 : 1));
    deeper<<<1, 1>>>(answers, 0);
    CUDA(cudaDeviceSynchronize());
    CHECK(answers[0] == 1024); // 24 levels below the first
    CUDA(cudaFree(answers));
}

// ---- Copies, fills, memory

__global__ void use(int *to)
{
    for (int i = 0; i < 4; i++)
        to[i] *= 2;
}

__global__ void copy(int *to, const int *from)
{
    cudaMemcpyAsync(to, from, 4 * sizeof *to, cudaMemcpyDeviceToDevice, 0);
    use<<<1, 1>>>(to);
    cudaMemsetAsync(to + 4, 1, 4 * sizeof *to, 0);
    void *memory = nullptr;
    if (cudaMalloc(&memory, 64) == cudaSuccess && memory)
        cudaFree(memory);
}

static void copies()
{
    int *to = managed<int>(8), *from = managed<int>(4);
    for (int i = 0; i < 4; i++)
        from[i] = i;
    copy<<<1, 1>>>(to, from);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        CHECK(to[i] == 2 * i && to[4 + i] == 0x01010101);
    CUDA(cudaFree(to));
    CUDA(cudaFree(from));
}

int main()
{
    sort();
    sum();
    orders();
    refusals();
    copies();
    printf("PASS\n");
    return EXIT_SUCCESS;
}
