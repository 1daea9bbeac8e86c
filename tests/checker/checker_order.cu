// The host and streams use the same memory, ordered or not: one case for each word. test_checker_host.py checks the checker's
// messages.
#include <cstdio>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>

enum { COUNT = 4096, BYTES = COUNT * sizeof(int) };

__managed__ int shown[8];

__global__ void scale(int *numbers, int count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        numbers[i] = 3 * i;
}

__global__ void count(int *numbers)
{
    atomicAdd(numbers, 1);
}

__global__ void count_each(int *numbers)
{
    atomicAdd(&numbers[threadIdx.x], 1);
}

__global__ void clear_one_and_count_each(int *numbers)
{
    if (threadIdx.x == 3)
        numbers[3] = 0;
    atomicAdd(&numbers[threadIdx.x], 1);
}

__global__ void count_each_and_clear_one(int *numbers)
{
    atomicAdd(&numbers[threadIdx.x], 1);
    if (threadIdx.x == 3)
        numbers[3] = 0;
}

__global__ void sum_of(const int *numbers, int *sum)
{
    *sum = numbers[0] + numbers[1];
}

__global__ void set_shown()
{
    shown[threadIdx.x] = threadIdx.x;
}

__global__ void publish(int *numbers, volatile int *ready)
{
    numbers[threadIdx.x] = 1;
    __threadfence_system();
    *ready = 1;
}

static int *numbers, *pinned, *device, *mine;
static cudaStream_t one, two, lonely;
static cudaEvent_t event;
static bool called;

static void handle(int)
{
    _exit(3);
}

static void note_call(void *)
{
    called = true;
}

static void launch(cudaStream_t stream)
{
    scale<<<COUNT / 256, 256, 0, stream>>>(numbers, COUNT);
}

static int managed(const std::string &word)
{
    if (word == "no synchronization") {
        launch(0);
        return numbers[1];
    }
    if (word == "no synchronization, own handler") {
        signal(SIGSEGV, handle);
        launch(0);
        return numbers[1];
    }
    if (word == "wrong stream") {
        launch(one);
        cudaStreamSynchronize(two);
        return numbers[1];
    }
    if (word == "default stream does not wait for it") {
        launch(lonely);
        cudaMemcpy(mine, device, 4, cudaMemcpyDeviceToHost);
        return numbers[1];
    }
    if (word == "event before the kernel") {
        cudaEventRecord(event, one);
        launch(one);
        cudaEventSynchronize(event);
        return numbers[1];
    }
    if (word == "host writes what is read") {
        numbers[0] = numbers[1] = 1;
        sum_of<<<1, 1>>>(numbers, device);
        numbers[1] = 2;
        cudaDeviceSynchronize();
    }
    if (word == "variable") {
        set_shown<<<1, 8>>>();
        return shown[2];
    }
    if (word == "freed") {
        cudaFree(numbers);
        return numbers[0];
    }
    return 0;
}

static int copies(const std::string &word)
{
    if (word == "copy to pinned") {
        cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one);
        return pinned[COUNT - 1];
    }
    if (word == "copy from pinned") {
        cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, one);
        pinned[0] = 1;
        cudaStreamSynchronize(one);
    }
    return 0;
}

static void scale_in(cudaStream_t stream, int from, int number)
{
    scale<<<(number + 255) / 256, 256, 0, stream>>>(device + from, number);
}

// A graph with two branches, each of which writes all numbers or half of them, followed by a kernel that writes all.
static cudaGraphExec_t branches(int from, int number)
{
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(two, event);
    scale_in(one, 0, number);
    scale_in(two, from, number);
    cudaEventRecord(event, two);
    cudaStreamWaitEvent(one, event);
    scale_in(one, 0, COUNT);
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    return run;
}

// The bytes of an array that the host must not write, according to /proc/self/maps.
static size_t closed_bytes(const char *array, size_t bytes)
{
    const uintptr_t from = (uintptr_t)array, to = from + bytes;
    size_t closed = 0;
    char line[4400], rights[8];
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) == 3 && rights[1] != 'w' && end > from && begin < to)
            closed += (end < to ? end : to) - (begin > from ? begin : from);
    fclose(maps);
    return closed;
}

// Copies parts of a large array in several streams, and prints how many pages are closed to the host after each call.
static void parts()
{
    const size_t page = sysconf(_SC_PAGESIZE), bytes = 1024 * page;
    char *array;
    cudaMallocHost(&array, bytes);
    const auto say = [=](const char *when) { printf("%s: %zu\n", when, closed_bytes(array, bytes) / page); };
    cudaMemcpyAsync(device, array + 100 * page, 8, cudaMemcpyHostToDevice, one);
    cudaMemcpyAsync(array + 200 * page, device + 2, 8, cudaMemcpyDeviceToHost, lonely);
    say("two copies");
    scale_in(two, COUNT / 2, COUNT / 2);
    say("and a kernel that uses none of it");
    array[300 * page] = array[200 * page + 8];
    say("the host reads beside a copy's bytes");
    cudaMemsetAsync(device + COUNT - 1, 0, 4, two);
    say("and a fill begins elsewhere");
    cudaStreamSynchronize(one);
    say("the host has waited for one stream");
    for (int k = 0; k < 9; k++)
        cudaMemcpyAsync(array + k * page, device + 2, page, cudaMemcpyDeviceToHost, lonely);
    cudaEventRecord(event, lonely);
    cudaMemcpyAsync(array + 200 * page, device + 2, 8, cudaMemcpyDeviceToHost, lonely);
    cudaEventSynchronize(event);
    say("and for nine copies, not the last");
    array[0] = 1;
    say("the host writes to the first one's");
    cudaDeviceSynchronize();
    say("and has waited for all");
    cudaMemcpyAsync(array + 200 * page, device + 2, 8, cudaMemcpyDeviceToHost, lonely);
    array[200 * page + 8] = 1;
    cudaMemcpyAsync(array, device + 2, 8, cudaMemcpyDeviceToHost, lonely);
    array[200 * page] = 1; // a race, although the page was open at first
}

static void streams(const std::string &word)
{
    if (word == "parts")
        parts();
    if (word == "branches of a graph")
        cudaGraphLaunch(branches(0, COUNT), lonely);
    if (word == "graph beside a kernel") {
        cudaGraphLaunch(branches(COUNT / 2, COUNT / 2), lonely);
        scale_in(one, 0, COUNT);
    }
    if (word == "two streams") {
        scale_in(one, 0, COUNT);
        scale_in(two, 0, COUNT);
    }
    if (word == "copy beside kernel") {
        scale_in(one, 0, COUNT);
        cudaMemcpyAsync(pinned, device + 100, 400, cudaMemcpyDeviceToHost, two);
    }
    if (word == "overwritten while it is read") {
        sum_of<<<1, 1, 0, one>>>(device, device + 100);
        cudaMemsetAsync(device, 0, 400, two);
    }
    if (word == "fill beside kernel") { // cudaMemset of device memory does not wait for the fill
        cudaMemset(device, 0, BYTES);
        scale_in(lonely, 0, COUNT);
    }
    if (word == "a word of a line") {
        scale_in(one, 0, COUNT);
        cudaEventRecord(event, one);
        cudaStreamWaitEvent(two, event);
        cudaStreamWaitEvent(lonely, event);
        cudaMemsetAsync(device + 1, 0, 4, two);
        cudaMemcpyAsync(pinned, device + 2, 120, cudaMemcpyDeviceToHost, lonely); // next to it
        cudaMemcpyAsync(pinned, device, 128, cudaMemcpyDeviceToHost, lonely);
    }
    if (word == "a line after one with a word") {
        count_each<<<1, 64, 0, two>>>(device);
        count<<<1, 1, 0, one>>>(device + 31);
        cudaEventRecord(event, one);
        cudaStreamWaitEvent(lonely, event);
        cudaMemcpyAsync(pinned, device + 31, 132, cudaMemcpyDeviceToHost, lonely);
    }
    if (word == "one cleared, then counted") {
        clear_one_and_count_each<<<1, 32, 0, one>>>(device);
        count_each<<<1, 32, 0, two>>>(device);
    }
    if (word == "counted, then one cleared") {
        count_each_and_clear_one<<<1, 32, 0, one>>>(device);
        count_each<<<1, 32, 0, two>>>(device);
    }
    if (word == "event too early") {
        cudaEventRecord(event, one);
        scale_in(one, 0, COUNT);
        cudaStreamWaitEvent(two, event);
        scale_in(two, 0, COUNT);
    }
}

// Streams that are ordered by events, by the default stream or by the host, or that use different memory.
static void ordered_streams()
{
    cudaGraph_t graph;
    cudaGraphExec_t run;
    scale_in(one, 0, COUNT);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(two, event);
    scale_in(two, 0, COUNT);
    scale_in(0, 0, COUNT); // waits for both,
    scale_in(one, 0, COUNT); // which wait for it
    cudaStreamSynchronize(one);
    scale_in(lonely, 0, COUNT);
    cudaDeviceSynchronize();
    scale_in(one, 0, COUNT / 2);
    scale_in(two, COUNT / 2, COUNT / 2);
    cudaMemcpy(mine, device, BYTES, cudaMemcpyDeviceToHost);
    scale_in(lonely, 0, COUNT);
    cudaFree(NULL);
    sum_of<<<1, 1, 0, one>>>(device, device + 100);
    sum_of<<<1, 1, 0, two>>>(device, device + 200);
    cudaDeviceSynchronize();
    count<<<4, 32, 0, one>>>(device);
    count<<<4, 32, 0, two>>>(device);
    cudaDeviceSynchronize();
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    scale_in(one, 0, COUNT);
    scale_in(one, 0, COUNT);
    cudaStreamEndCapture(one, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, two);
    cudaGraphLaunch(run, two);
    cudaMemcpyAsync(mine, device, 4, cudaMemcpyDeviceToHost, two);
    scale_in(lonely, 0, COUNT);
    run = branches(COUNT / 2, COUNT / 2);
    cudaGraphLaunch(run, lonely);
    cudaGraphLaunch(run, lonely);
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t first, second;
    cudaGraph_t inner;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    scale_in(one, 0, COUNT);
    cudaStreamEndCapture(one, &inner);
    cudaGraphAddChildGraphNode(&first, graph, NULL, 0, inner);
    cudaGraphAddChildGraphNode(&second, graph, &first, 1, inner);
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, lonely);
    scale_in(lonely, 0, COUNT);
}

// All operations are ordered.
static int ordered()
{
    int result = 0;
    launch(0);
    cudaDeviceSynchronize();
    result += numbers[5];
    launch(one); // the default stream waits for it, and the host for the copy
    cudaMemcpy(mine, device, 4, cudaMemcpyDeviceToHost);
    result += numbers[5];
    launch(one);
    cudaEventRecord(event, one);
    cudaEventSynchronize(event);
    result += numbers[5];
    launch(one);
    cudaEventRecord(event, one);
    cudaStreamWaitEvent(lonely, event);
    cudaStreamSynchronize(lonely);
    result += numbers[5];
    launch(two);
    while (cudaStreamQuery(two) == cudaErrorNotReady)
        ;
    result += numbers[5];
    launch(one);
    cudaLaunchHostFunc(one, note_call, NULL);
    while (!*(volatile bool *)&called)
        ;
    result += numbers[5];
    launch(one);
    cudaMemcpyAsync(mine, device, 4, cudaMemcpyDeviceToHost, one); // the destination is not pinned, so the call waits
    result += numbers[5];
    sum_of<<<1, 1, 0, one>>>(numbers, device); // both only read
    result += numbers[5];
    scale<<<1, 256, 0, one>>>(numbers, 256); // uses another part of the array
    numbers[COUNT - 1] = 7;
    numbers[1024] += numbers[257];
    cudaMemset(pinned, 0, 256); // a fill of pinned memory waits
    pinned[0] = 1;
    cudaMemcpyAsync(pinned, device, 256, cudaMemcpyDeviceToHost, one);
    pinned[64] = pinned[65];
    cudaStreamSynchronize(one);
    std::thread([] { launch(one), cudaStreamSynchronize(one); }).join();
    result += numbers[5];
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal);
    launch(one);
    cudaStreamEndCapture(one, &graph);
    numbers[5] = 1; // the kernel is captured, but not launched
    cudaGraphInstantiate(&run, graph, 0);
    cudaGraphLaunch(run, two);
    cudaStreamSynchronize(two);
    result += numbers[5];
    publish<<<1, 32>>>(numbers, pinned); // the host observes the flag without waiting for the kernel
    while (*(volatile int *)pinned != 1)
        ;
    return result += numbers[5];
}

int main(int argc, char **argv)
{
    const std::string word = argc > 1 ? argv[1] : "";
    cudaMallocManaged(&numbers, BYTES);
    cudaMallocAsync(&mine, BYTES, 0); // before any operation
    cudaMallocHost(&pinned, BYTES);
    cudaMalloc(&device, BYTES);
    cudaMemset(device, 0, BYTES);
    memset(numbers, 0, BYTES);
    mine = new int[COUNT];
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaStreamCreateWithFlags(&lonely, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    scale<<<1, 1>>>(device, 1);
    cudaDeviceSynchronize();
    streams(word);
    if (word == "ordered streams")
        ordered_streams();
    const int result = managed(word) + copies(word) + (word == "ordered" ? ordered() : 0);
    printf("%d\n", result);
}
