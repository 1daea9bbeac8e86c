// The host, streams and kernels: what is ordered by a stream, an event or a wait, and what is not.
#include "cases.h"

enum { COUNT = 256 };

__global__ void fill(int *values, int value)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void add_one(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

static cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking)
{
    cudaStream_t stream;
    CUDA(cudaStreamCreateWithFlags(&stream, flags));
    return stream;
}

static cudaEvent_t new_event()
{
    cudaEvent_t event;
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    return event;
}

static void destroy(cudaStream_t stream)
{
    CUDA(cudaStreamDestroy(stream));
}

// ---- A kernel writes, another one reads.

enum Between { SAME_STREAM, EVENT, EVENT_TOO_EARLY, STREAM_WAIT, DEVICE_WAIT, NOTHING, OTHER_EVENT };

template <Between between> static void run_two_kernels()
{
    const cudaStream_t first = new_stream(), second = between == SAME_STREAM ? first : new_stream();
    const cudaEvent_t event = new_event();
    int *values = zeros<int>(COUNT), *out = zeros<int>(COUNT);
    CUDA(cudaDeviceSynchronize());
    if (between == EVENT_TOO_EARLY)
        CUDA(cudaEventRecord(event, first));
    if (between == OTHER_EVENT)
        CUDA(cudaEventRecord(event, second));
    fill<<<2, COUNT / 2, 0, first>>>(values, 7);
    if (between == EVENT)
        CUDA(cudaEventRecord(event, first));
    if (between == EVENT || between == EVENT_TOO_EARLY || between == OTHER_EVENT)
        CUDA(cudaStreamWaitEvent(second, event, 0));
    if (between == STREAM_WAIT)
        CUDA(cudaStreamSynchronize(first));
    if (between == DEVICE_WAIT)
        CUDA(cudaDeviceSynchronize());
    add_one<<<2, COUNT / 2, 0, second>>>(values, out);
    finish_and_free(values, out);
    CUDA(cudaEventDestroy(event));
    if (second != first)
        destroy(second);
    destroy(first);
}

// The default stream waits for streams that do not say that they are none of its business.
template <unsigned flags> static void run_default_stream()
{
    const cudaStream_t stream = new_stream(flags);
    int *values = zeros<int>(COUNT), *out = zeros<int>(COUNT);
    CUDA(cudaDeviceSynchronize());
    fill<<<2, COUNT / 2, 0, stream>>>(values, 7);
    add_one<<<2, COUNT / 2>>>(values, out);
    finish_and_free(values, out);
    destroy(stream);
}

// Two streams that only read the same, or write halves.
template <bool overlap> static void run_halves()
{
    const cudaStream_t first = new_stream(), second = new_stream();
    int *in = numbers(COUNT), *out = zeros<int>(2 * COUNT);
    CUDA(cudaDeviceSynchronize());
    add_one<<<2, COUNT / 2, 0, first>>>(in, out);
    add_one<<<2, COUNT / 2, 0, second>>>(in, out + (overlap ? COUNT / 2 : COUNT));
    finish_and_free(in, out);
    destroy(first);
    destroy(second);
}

// A fork and a join: two streams work between two kernels of a third.
template <bool joined> static void run_fork_and_join()
{
    const cudaStream_t origin = new_stream(), left = new_stream(), right = new_stream();
    const cudaEvent_t forked = new_event(), left_done = new_event(), right_done = new_event();
    int *values = zeros<int>(COUNT), *a = zeros<int>(COUNT), *b = zeros<int>(COUNT);
    CUDA(cudaDeviceSynchronize());
    fill<<<2, COUNT / 2, 0, origin>>>(values, 7);
    CUDA(cudaEventRecord(forked, origin));
    CUDA(cudaStreamWaitEvent(left, forked, 0));
    CUDA(cudaStreamWaitEvent(right, forked, 0));
    add_one<<<2, COUNT / 2, 0, left>>>(values, a);
    add_one<<<2, COUNT / 2, 0, right>>>(values, b);
    CUDA(cudaEventRecord(left_done, left));
    CUDA(cudaEventRecord(right_done, right));
    CUDA(cudaStreamWaitEvent(origin, left_done, 0));
    if (joined)
        CUDA(cudaStreamWaitEvent(origin, right_done, 0));
    fill<<<2, COUNT / 2, 0, origin>>>(a, 1);
    fill<<<2, COUNT / 2, 0, origin>>>(values, 8);
    finish_and_free(values, a, b);
    for (const cudaEvent_t event : {forked, left_done, right_done})
        CUDA(cudaEventDestroy(event));
    for (const cudaStream_t stream : {origin, left, right})
        destroy(stream);
}

// ---- A kernel and the copies of the host.

enum Copy { SAME, OTHER, OTHER_AFTER_EVENT, BLOCKING_COPY, SET_ON_OTHER, UPLOAD_ON_OTHER };

template <Copy copy> static void run_copy()
{
    const cudaStream_t stream = new_stream(copy == BLOCKING_COPY ? cudaStreamDefault : cudaStreamNonBlocking), other = new_stream();
    const cudaEvent_t event = new_event();
    int *values = zeros<int>(COUNT), *host;
    CUDA(cudaMallocHost(&host, COUNT * sizeof(int)));
    memset(host, 0, COUNT * sizeof(int));
    CUDA(cudaDeviceSynchronize());
    fill<<<2, COUNT / 2, 0, stream>>>(values, 7);
    CUDA(cudaEventRecord(event, stream));
    if (copy == OTHER_AFTER_EVENT)
        CUDA(cudaStreamWaitEvent(other, event, 0));
    if (copy == BLOCKING_COPY)
        CUDA(cudaMemcpy(host, values, COUNT * sizeof(int), cudaMemcpyDeviceToHost));
    else if (copy == SET_ON_OTHER)
        CUDA(cudaMemsetAsync(values, 0, COUNT * sizeof(int), other));
    else if (copy == UPLOAD_ON_OTHER)
        CUDA(cudaMemcpyAsync(values, host, COUNT * sizeof(int), cudaMemcpyHostToDevice, other));
    else
        CUDA(cudaMemcpyAsync(host, values, COUNT * sizeof(int), cudaMemcpyDeviceToHost, copy == SAME ? stream : other));
    finish_and_free(values);
    CUDA(cudaFreeHost(host));
    CUDA(cudaEventDestroy(event));
    destroy(stream);
    destroy(other);
}

// The next data are copied while the kernel still reads the old ones, or into a buffer of their own.
template <bool own_buffer> static void run_next_data()
{
    const cudaStream_t work = new_stream(), copies = new_stream();
    const cudaEvent_t there = new_event();
    int *in = zeros<int>(2 * COUNT), *out = zeros<int>(2 * COUNT), *host;
    CUDA(cudaMallocHost(&host, COUNT * sizeof(int)));
    memset(host, 0, COUNT * sizeof(int));
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < 2; k++) {
        int *const part = own_buffer ? in + k * COUNT : in;
        CUDA(cudaMemcpyAsync(part, host, COUNT * sizeof(int), cudaMemcpyHostToDevice, copies));
        CUDA(cudaEventRecord(there, copies));
        CUDA(cudaStreamWaitEvent(work, there, 0));
        add_one<<<2, COUNT / 2, 0, work>>>(part, out + k * COUNT);
    }
    finish_and_free(in, out);
    CUDA(cudaFreeHost(host));
    CUDA(cudaEventDestroy(there));
    destroy(work);
    destroy(copies);
}

// ---- Memory that host and kernel both reach.

enum Wait { WAIT_FOR_DEVICE, WAIT_FOR_STREAM, WAIT_FOR_EVENT, NO_WAIT };
static volatile int seen; // keeps the host's read

template <Wait wait> static void run_managed_read()
{
    const cudaEvent_t event = new_event();
    int *values;
    CUDA(cudaMallocManaged(&values, COUNT * sizeof(int)));
    memset(values, 0, COUNT * sizeof(int));
    fill<<<2, COUNT / 2>>>(values, 7);
    CUDA(cudaEventRecord(event));
    if (wait == WAIT_FOR_DEVICE)
        CUDA(cudaDeviceSynchronize());
    if (wait == WAIT_FOR_STREAM)
        CUDA(cudaStreamSynchronize(0));
    if (wait == WAIT_FOR_EVENT)
        CUDA(cudaEventSynchronize(event));
    seen = values[17];
    finish_and_free(values);
    CUDA(cudaEventDestroy(event));
}

template <bool wait> static void run_managed_write()
{
    int *values, *out = zeros<int>(COUNT);
    CUDA(cudaMallocManaged(&values, COUNT * sizeof(int)));
    memset(values, 0, COUNT * sizeof(int));
    add_one<<<2, COUNT / 2>>>(values, out);
    if (wait)
        CUDA(cudaDeviceSynchronize());
    values[17] = 3; // the kernel may still read it
    finish_and_free(values, out);
}

// Pinned memory, into which a copy goes on while the host reads it.
template <bool wait> static void run_pinned_read()
{
    const cudaStream_t stream = new_stream();
    int *values = zeros<int>(COUNT), *host;
    CUDA(cudaMallocHost(&host, COUNT * sizeof(int)));
    memset(host, 0, COUNT * sizeof(int));
    CUDA(cudaDeviceSynchronize());
    fill<<<2, COUNT / 2, 0, stream>>>(values, 7);
    CUDA(cudaMemcpyAsync(host, values, COUNT * sizeof(int), cudaMemcpyDeviceToHost, stream));
    if (wait)
        CUDA(cudaStreamSynchronize(stream));
    seen = host[17];
    finish_and_free(values);
    CUDA(cudaFreeHost(host));
    destroy(stream);
}

// Pinned memory that a kernel writes. A fence at the end of the kernel does not make the host wait.
__global__ void fill_and_fence(int *values, int value)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] = value;
    __threadfence_system();
}

template <bool wait> static void run_fence_and_read()
{
    int *host, *device;
    CUDA(cudaHostAlloc(&host, COUNT * sizeof(int), cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&device, host, 0));
    fill_and_fence<<<2, COUNT / 2>>>(device, 7);
    if (wait)
        CUDA(cudaDeviceSynchronize());
    seen = host[17];
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFreeHost(host));
}

// A variable of the module, set by the host between launches.
__device__ int factor;

__global__ void scaled(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x] * factor;
}

template <bool ordered> static void run_symbol()
{
    const cudaStream_t stream = new_stream(), other = new_stream();
    int *in = numbers(COUNT), *out = zeros<int>(COUNT);
    const int two = 2;
    CUDA(cudaMemcpyToSymbol(factor, &two, sizeof two));
    CUDA(cudaDeviceSynchronize());
    scaled<<<1, COUNT, 0, stream>>>(in, out);
    CUDA(cudaMemcpyToSymbolAsync(factor, &two, sizeof two, 0, cudaMemcpyHostToDevice, ordered ? stream : other));
    finish_and_free(in, out);
    destroy(stream);
    destroy(other);
}

// ---- Bytes, and neighbours in one word.

// Every second byte, from `first` on.
__global__ void add_to_bytes(unsigned char *values, int first)
{
    values[2 * threadIdx.x + first] += 1;
}

// Two streams add to the same bytes, or to neighbouring ones.
template <int apart> static void run_bytes()
{
    const cudaStream_t stream = new_stream(), other = new_stream();
    unsigned char *values = zeros<unsigned char>(2 * COUNT);
    CUDA(cudaDeviceSynchronize());
    add_to_bytes<<<1, COUNT, 0, stream>>>(values, 0);
    add_to_bytes<<<1, COUNT, 0, other>>>(values, apart);
    finish_and_free(values);
    destroy(stream);
    destroy(other);
}

// The host reads a byte that the kernel may write, or its neighbour.
template <int apart, bool waits> static void run_managed_bytes()
{
    unsigned char *values;
    CUDA(cudaMallocManaged(&values, 2 * COUNT));
    memset(values, 0, 2 * COUNT);
    add_to_bytes<<<1, COUNT>>>(values, 0);
    if (waits)
        CUDA(cudaDeviceSynchronize());
    if (((volatile unsigned char *)values)[100 + apart] > 1)
        puts("two");
    finish_and_free(values);
}

__device__ __noinline__ int twice(int value)
{
    return 2 * value;
}

__global__ void call_twice(int *values)
{
    values[threadIdx.x] = twice(values[threadIdx.x]);
}

// A kernel that calls a function.
template <bool waits> static void run_managed_call()
{
    int *values;
    CUDA(cudaMallocManaged(&values, COUNT * sizeof(int)));
    memset(values, 0, COUNT * sizeof(int));
    call_twice<<<1, COUNT>>>(values);
    if (waits)
        CUDA(cudaDeviceSynchronize());
    if (((volatile int *)values)[7] != 0)
        puts("not zero");
    finish_and_free(values);
}

// Memory of a stream's pool, given back in the order of the stream.
template <bool ordered> static void run_stream_memory()
{
    const cudaStream_t stream = new_stream(), other = new_stream();
    int *values, *out = zeros<int>(COUNT);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMallocAsync(&values, COUNT * sizeof(int), stream));
    fill<<<2, COUNT / 2, 0, stream>>>(values, 7);
    add_one<<<2, COUNT / 2, 0, ordered ? stream : other>>>(values, out);
    CUDA(cudaFreeAsync(values, stream));
    finish_and_free(out);
    destroy(stream);
    destroy(other);
}

// The same, used by another stream, which must be ordered after the allocation and before the free.
template <bool awaits, bool is_awaited> static void run_stream_memory_elsewhere()
{
    const cudaStream_t stream = new_stream(), other = new_stream();
    const cudaEvent_t made = new_event(), used = new_event();
    int *values;
    CUDA(cudaMallocAsync(&values, COUNT * sizeof(int), stream));
    CUDA(cudaEventRecord(made, stream));
    if (awaits)
        CUDA(cudaStreamWaitEvent(other, made, 0));
    fill<<<2, COUNT / 2, 0, other>>>(values, 7);
    CUDA(cudaEventRecord(used, other));
    if (is_awaited)
        CUDA(cudaStreamWaitEvent(stream, used, 0));
    CUDA(cudaFreeAsync(values, stream));
    finish();
    CUDA(cudaEventDestroy(made));
    CUDA(cudaEventDestroy(used));
    destroy(stream);
    destroy(other);
}

static const Case CASES[] = {
    {"kernels-same-stream", run_two_kernels<SAME_STREAM>},
    {"kernels-event", run_two_kernels<EVENT>},
    {"kernels-event-too-early", run_two_kernels<EVENT_TOO_EARLY>},
    {"kernels-event-of-reader", run_two_kernels<OTHER_EVENT>},
    {"kernels-stream-wait", run_two_kernels<STREAM_WAIT>},
    {"kernels-device-wait", run_two_kernels<DEVICE_WAIT>},
    {"kernels-unordered", run_two_kernels<NOTHING>},
    {"default-stream", run_default_stream<cudaStreamDefault>},
    {"default-stream-non-blocking", run_default_stream<cudaStreamNonBlocking>},
    {"halves", run_halves<false>},
    {"halves-overlap", run_halves<true>},
    {"fork-and-join", run_fork_and_join<true>},
    {"fork-half-joined", run_fork_and_join<false>},
    {"copy-same-stream", run_copy<SAME>},
    {"copy-other-stream", run_copy<OTHER>},
    {"copy-other-stream-event", run_copy<OTHER_AFTER_EVENT>},
    {"copy-blocking", run_copy<BLOCKING_COPY>},
    {"set-other-stream", run_copy<SET_ON_OTHER>},
    {"upload-other-stream", run_copy<UPLOAD_ON_OTHER>},
    {"next-data", run_next_data<true>},
    {"next-data-same-buffer", run_next_data<false>},
    {"managed-device-wait", run_managed_read<WAIT_FOR_DEVICE>},
    {"managed-stream-wait", run_managed_read<WAIT_FOR_STREAM>},
    {"managed-event-wait", run_managed_read<WAIT_FOR_EVENT>},
    {"managed-no-wait", run_managed_read<NO_WAIT>},
    {"managed-write", run_managed_write<true>},
    {"managed-write-no-wait", run_managed_write<false>},
    {"pinned-wait", run_pinned_read<true>},
    {"pinned-no-wait", run_pinned_read<false>},
    {"pinned-fence-wait", run_fence_and_read<true>},
    {"pinned-fence-no-wait", run_fence_and_read<false>},
    {"symbol-same-stream", run_symbol<true>},
    {"symbol-other-stream", run_symbol<false>},
    {"bytes-unordered", run_bytes<0>},
    {"bytes-of-one-word", run_bytes<1>},
    {"managed-bytes-wait", run_managed_bytes<0, true>},
    {"managed-bytes-no-wait", run_managed_bytes<0, false>},
    {"managed-bytes-neighbour", run_managed_bytes<1, false>},
    {"managed-call-wait", run_managed_call<true>},
    {"managed-call-no-wait", run_managed_call<false>},
    {"stream-memory", run_stream_memory<true>},
    {"stream-memory-other-stream", run_stream_memory<false>},
    {"stream-memory-elsewhere", run_stream_memory_elsewhere<true, true>},
    {"stream-memory-used-early", run_stream_memory_elsewhere<false, true>},
    {"stream-memory-freed-early", run_stream_memory_elsewhere<true, false>},
};

int main(int argc, char **argv)
{
    return run_case(argc, argv, CASES);
}
