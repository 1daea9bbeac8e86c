// Programmatic dependent launch: the second kernel may begin before the first has ended.
#include "cases.h"

enum { BLOCKS = 4, THREADS = 64, COUNT = BLOCKS * THREADS };

// Starts a kernel that may begin before the previous one of the stream has ended.
template <class... Parameters> static void start_early(void (*kernel)(Parameters...), cudaStream_t stream, Parameters... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(BLOCKS);
    config.blockDim = dim3(THREADS);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA(cudaLaunchKernelEx(&config, kernel, arguments...));
}

// ---- The first kernel

enum Trigger { NEVER, AT_FIRST, AFTER_WRITE, AFTER_FENCE, BARRIER_THEN_FENCE };

// Reads in[i] and writes out[i]; it lets its dependents begin before or after this, or does not.
template <Trigger when> __global__ void first(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (when == AT_FIRST)
        cudaTriggerProgrammaticLaunchCompletion();
    out[i] = in[i] + 1;
    if (when == AFTER_FENCE)
        __threadfence();
    if (when == BARRIER_THEN_FENCE) {
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            cudaTriggerProgrammaticLaunchCompletion();
        }
    } else if (when >= AFTER_WRITE) {
        cudaTriggerProgrammaticLaunchCompletion();
    }
}

// ---- The second

enum Wait { ALL, NONE, AFTER_LOAD, ONE_THREAD, ONE_THREAD_BARRIER, ONE_BLOCK };

// Reads what the first kernel has written.
template <Wait how> __global__ void second(const int *from, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    int early = 0;
    if (how == AFTER_LOAD)
        early = from[i];
    if (how == ALL || how == AFTER_LOAD || (how == ONE_BLOCK && blockIdx.x == 0) ||
        ((how == ONE_THREAD || how == ONE_THREAD_BARRIER) && threadIdx.x == 0))
        cudaGridDependencySynchronize();
    if (how == ONE_THREAD_BARRIER)
        __syncthreads();
    out[i] = how == AFTER_LOAD ? early : from[i];
}

template <Trigger when, Wait how> static void run_pair()
{
    int *in = zeros<int>(COUNT), *between = zeros<int>(COUNT), *out = zeros<int>(COUNT);
    first<when><<<BLOCKS, THREADS>>>(in, between);
    start_early(second<how>, nullptr, (const int *)between, out);
    finish_and_free(in, between, out);
}

// Overwrites what the first kernel reads, and waits only then.
__global__ void overwrite(int *in)
{
    in[blockIdx.x * blockDim.x + threadIdx.x] = 7;
    cudaGridDependencySynchronize();
}

template <Trigger when> static void run_overwrite()
{
    int *in = zeros<int>(COUNT), *out = zeros<int>(COUNT);
    first<when><<<BLOCKS, THREADS>>>(in, out);
    start_early(overwrite, nullptr, in);
    finish_and_free(in, out);
}

// Writes what the first kernel writes, too.
template <bool waits> __global__ void write_again(int *out)
{
    if (waits)
        cudaGridDependencySynchronize();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

template <bool waits> static void run_write_again()
{
    int *in = zeros<int>(COUNT), *out = zeros<int>(COUNT);
    first<NEVER><<<BLOCKS, THREADS>>>(in, out);
    start_early(write_again<waits>, nullptr, out);
    finish_and_free(in, out);
}

// ---- What else orders the two kernels

enum Between { COPY, EVENT, HOST };

template <Between what> static void run_between()
{
    int *in = zeros<int>(COUNT), *between = zeros<int>(COUNT), *out = zeros<int>(COUNT), *other = zeros<int>(COUNT);
    cudaStream_t stream;
    cudaEvent_t event;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaEventCreate(&event));
    first<NEVER><<<BLOCKS, THREADS, 0, stream>>>(in, between);
    if (what == COPY)
        CUDA(cudaMemcpyAsync(other, in, sizeof(int), cudaMemcpyDeviceToDevice, stream));
    else if (what == EVENT)
        CUDA(cudaEventRecord(event, stream));
    else
        CUDA(cudaStreamSynchronize(stream));
    start_early(second<NONE>, stream, (const int *)between, out);
    finish_and_free(in, between, out, other);
}

// ---- Three kernels: the third reads what the first has written

// Has nothing to do with the memory of the other two.
template <bool waits> __global__ void middle(int *own)
{
    if (waits)
        cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    own[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

template <bool waits> static void run_three()
{
    int *in = zeros<int>(COUNT), *between = zeros<int>(COUNT), *own = zeros<int>(COUNT), *out = zeros<int>(COUNT);
    first<NEVER><<<BLOCKS, THREADS>>>(in, between);
    start_early(middle<waits>, nullptr, own);
    start_early(second<NONE>, nullptr, (const int *)between, out);
    finish_and_free(in, between, own, out);
}

static const Case CASES[] = {
    {"wait", run_pair<NEVER, ALL>},
    {"no-wait", run_pair<NEVER, NONE>},
    {"trigger-wait", run_pair<AT_FIRST, ALL>},
    {"trigger-no-wait", run_pair<AT_FIRST, NONE>},
    {"trigger-after-write-no-wait", run_pair<AFTER_WRITE, NONE>},
    {"fence-before-trigger-no-wait", run_pair<AFTER_FENCE, NONE>},
    {"barrier-fence-trigger-no-wait", run_pair<BARRIER_THEN_FENCE, NONE>},
    {"wait-after-load", run_pair<NEVER, AFTER_LOAD>},
    {"wait-of-one-thread", run_pair<NEVER, ONE_THREAD>},
    {"wait-of-one-thread-and-barrier", run_pair<NEVER, ONE_THREAD_BARRIER>},
    {"wait-of-one-block", run_pair<NEVER, ONE_BLOCK>},
    {"overwrite-read-before-end", run_overwrite<NEVER>},
    {"overwrite-read-before-trigger", run_overwrite<AFTER_FENCE>},
    {"overwrite-read-after-trigger", run_overwrite<AT_FIRST>},
    {"write-again-wait", run_write_again<true>},
    {"write-again-no-wait", run_write_again<false>},
    {"copy-between", run_between<COPY>},
    {"event-between", run_between<EVENT>},
    {"host-waits-between", run_between<HOST>},
    {"three-middle-waits", run_three<true>},
    {"three-middle-does-not-wait", run_three<false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
