// Repeated launches of a kernel with the same arguments. The word selects what happens between two of them, and so
// whether the next one may be skipped: test_repeats.py. With "late" as a further word, results are copied to the host only at the
// end: a copy after each launch would be an operation between two launches.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>

enum { N = 1 << 15, BLOCK = 256, TIMES = 6 };

__device__ int added;
__constant__ int factor;
__managed__ int managed_part;

// Enough work to make skipping worthwhile.
__device__ int worked(int value)
{
    for (int k = 0; k < 32; k++)
        value = value * 5 + k;
    return value;
}

__global__ void apart(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = worked(in[i]) * (factor + 1) + added + managed_part;
}

// Long for its little memory: all blocks in a column do the work, and one writes it.
__global__ void first_of_many(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = worked(in[i]);
    if (blockIdx.y == 0 || value == 1)
        out[i] = value;
}

// The same for variables of the program.
enum { FEW = 1024 };
__device__ int read_here[FEW], written_here[FEW];

__global__ void first_of_many_own()
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = worked(read_here[i]);
    if (blockIdx.y == 0 || value == 1)
        written_here[i] = value;
}

__global__ void in_place(int *numbers)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    numbers[i] = worked(numbers[i]);
}

__global__ void counted(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (worked(in[i]) != 1)
        atomicAdd(&out[i % 32], 1);
}

__global__ void printed(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = worked(in[i]);
    if (i == 0)
        printf("out[0] is %d\n", out[i]);
}

__global__ void numbered(const int *in, int *out)
{
    unsigned long long number;
    asm volatile("mov.u64 %0, %%gridid;" : "=l"(number));
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = worked(in[i]) + (number > 4);
}

__global__ void timed(const int *in, int *out)
{
    const long long begin = clock64();
    const int i = blockIdx.x * blockDim.x + threadIdx.x, value = worked(in[i]);
    out[i] = value + (clock64() < begin);
}

__global__ void fetched(cudaTextureObject_t texture, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = worked(tex1Dfetch<int>(texture, i));
}

// Kernels that write where no argument points to.
__global__ void poke(int *const *where, int value)
{
    **where = value;
}

__global__ void poke_beyond(int *numbers, long long far, int value)
{
    numbers[far] = value;
}

__global__ void to_surface(cudaSurfaceObject_t surface, int value)
{
    surf2Dwrite(value, surface, 0, 0);
}

__global__ void from_surface(cudaSurfaceObject_t surface, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = worked(surf2Dread<int>(surface, 0, 0));
}

__global__ void copied(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 32; k++)
        __syncwarp(); // as in worked()
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(out + i), "r"(in[i])); // no finding by itself
}

__global__ void racing(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i / 64] = worked(in[i / 64]);
}

// Reads its own output.
__global__ void reread(const int *in, int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = worked(in[i]);
    __syncthreads();
    if (__ldcg(out + (i ^ 1)) == 1)
        out[i] = 1;
}

// Launched with far more blocks than it needs.
__global__ void guarded(const int *in, int *out, int n, bool races)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[races ? i / 2 : i] = worked(in[i]) + i;
}

static const char *word;
static bool late;
static int *in, *out, **where;
static std::vector<int> host(N);

static bool is(const char *other)
{
    return strcmp(word, other) == 0;
}

static void say_now()
{
    unsigned sum = 0;
    cudaMemcpy(host.data(), out, N * sizeof(int), cudaMemcpyDeviceToHost);
    for (int k = 0; k < N; k++)
        sum = sum * 31 + (unsigned)host[k];
    printf("%08x\n", sum);
}

static void say()
{
    if (!late)
        say_now();
}

static void change(int time)
{
    if (is("by a copy"))
        cudaMemcpy(in + 77, &time, sizeof time, cudaMemcpyHostToDevice);
    if (is("by a copy of the same"))
        cudaMemset(in + 77, 0, sizeof time);
    if (is("by a fill"))
        cudaMemset(in + N - 1, time, 1);
    if (is("of results"))
        cudaMemset(out + N - 1, time, 1);
    if (is("by a kernel"))
        in_place<<<1, 32>>>(in);
    if (is("by a pointer"))
        poke<<<1, 1>>>(where, time);
    if (is("by going astray"))
        poke_beyond<<<1, 1>>>(out, in + 77 - out, time);
    if (is("of a variable"))
        cudaMemcpyToSymbol(added, &time, sizeof time);
    if (is("of a constant"))
        cudaMemcpyToSymbol(factor, &time, sizeof time);
    if (is("by the host"))
        managed_part = time;
    if (is("of a sign and a bit")) { // words 64 bytes apart
        const int both[17] = {0, time < 3 ? 0 : 1 << 31, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, time < 3 ? 0 : 1 << 28};
        cudaMemcpy(in, both, sizeof both, cudaMemcpyHostToDevice);
    }
    if (is("two in turns, changed") && time == 4)
        cudaMemset(in + N / 2, 1, sizeof time);
    if (is("of signs")) {
        const int both[9] = {1 << 31, 0, 0, 0, 0, 0, 0, 0, time < 3 ? 0 : 1 << 31};
        cudaMemcpy(in, both, sizeof both, cudaMemcpyHostToDevice);
    }
}

static void count_anew()
{
    cudaMemset(out, 0, N * sizeof(int));
    counted<<<N / BLOCK, BLOCK>>>(in, out);
}

// The second kernel changes what the first one wrote.
static void change_in_place()
{
    apart<<<N / BLOCK, BLOCK>>>(in, out);
    in_place<<<N / BLOCK, BLOCK>>>(out);
}

static void launch_often()
{
    for (int time = 0; time < TIMES; time++) {
        change(time);
        if (is("in place"))
            in_place<<<N / BLOCK, BLOCK>>>(out);
        else if (is("atomics"))
            counted<<<N / BLOCK, BLOCK>>>(in, out);
        else if (is("printf"))
            printed<<<N / BLOCK, BLOCK>>>(in, out);
        else if (is("its number"))
            numbered<<<N / BLOCK, BLOCK>>>(in, out);
        else if (is("a clock"))
            timed<<<N / BLOCK, BLOCK>>>(in, out);
        else if (is("long"))
            first_of_many<<<dim3(N / BLOCK, 16), BLOCK>>>(in, out);
        else if (is("a race"))
            racing<<<N / BLOCK, BLOCK>>>(in, out);
        else if (is("idle blocks") || is("idle blocks of a race"))
            guarded<<<10 * N / BLOCK, BLOCK>>>(in, out, N - 77, is("idle blocks of a race"));
        else if (is("atomics from zero"))
            count_anew();
        else if (is("two in turns") || is("two in turns, changed"))
            change_in_place();
        else
            apart<<<N / BLOCK, BLOCK>>>(in, out);
        cudaDeviceSynchronize(); // the host may change shared memory
        say();
    }
}

// Each launch's results are freed, and the next launch gets new memory.
static void allocate_anew()
{
    cudaFree(out);
    for (int time = 0; time < 3 * TIMES; time++) {
        cudaMalloc(&out, N * sizeof(int));
        apart<<<N / BLOCK, BLOCK>>>(in, out);
        say();
        cudaFree(out);
    }
    out = NULL;
}

// The same for the input; the last one is uninitialised. (Freed addresses are reused in rotation, also those below `out`: so
// many rounds that the last two are above it.)
static void allocate_anew_unset()
{
    enum { ROUNDS = 35 };
    cudaFree(in);
    for (int time = 0; time < ROUNDS; time++) {
        cudaMalloc(&in, N * sizeof(int));
        if (time < ROUNDS - 1)
            cudaMemset(in, 0, N * sizeof(int));
        apart<<<N / BLOCK, BLOCK>>>(in, out);
        say();
        cudaFree(in);
    }
}

// The host reads and writes memory shared with the device.
static void share_with_host()
{
    cudaHostAlloc(&in, N * sizeof(int), cudaHostAllocMapped);
    memset(in, 0, N * sizeof(int));
    for (int time = 0; time < TIMES; time++) {
        in[5] = time / 4; // the first ones are equal
        apart<<<N / BLOCK, BLOCK>>>(in, out);
        cudaDeviceSynchronize();
        say();
    }
}

// The host may write to the results while the kernel runs.
static void leave_results_with_host()
{
    cudaHostAlloc(&out, N * sizeof(int), cudaHostAllocMapped);
    for (int time = 0; time < TIMES; time++) {
        memset(out, 0, N * sizeof(int));
        apart<<<N / BLOCK, BLOCK>>>(in, out);
        cudaDeviceSynchronize();
        say();
    }
}

// A graph of a kernel and, if `copies`, of a copy that changes its input.
static void launch_graph(bool copies)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    apart<<<N / BLOCK, BLOCK, 0, stream>>>(in, out);
    if (copies)
        cudaMemcpyAsync(in, out, N * sizeof(int), cudaMemcpyDeviceToDevice, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&run, graph, 0);
    for (int time = 0; time < TIMES; time++) {
        cudaGraphLaunch(run, stream);
        cudaStreamSynchronize(stream);
        say();
    }
}

// A device reset initialises variables again, at the same addresses.
static void reset_between()
{
    cudaFree(in);
    cudaFree(out);
    std::fill(host.begin(), host.end(), 5);
    for (int time = 0; time < TIMES; time++) {
        cudaMemcpyToSymbol(read_here, host.data(), sizeof read_here);
        for (int k = 0; k < 3; k++) {
            first_of_many_own<<<dim3(FEW / BLOCK, 256), BLOCK>>>();
            if (k == 0)
                cudaDeviceReset();
            if (k == 1)
                cudaMemcpyToSymbol(read_here, host.data(), sizeof read_here);
        }
        int results[FEW], sum = 0;
        cudaMemcpyFromSymbol(results, written_here, sizeof results);
        for (const int result : results)
            sum = sum * 31 + result;
        printf("%08x\n", sum);
    }
    out = NULL;
}

// Another stream writes what the last launches read, and waits only for the second one.
static void race_with_stream()
{
    cudaStream_t one, two;
    cudaEvent_t event;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&event);
    for (int time = 0; time < TIMES; time++) {
        apart<<<N / BLOCK, BLOCK, 0, one>>>(in, out);
        if (time == 1)
            cudaEventRecord(event, one);
    }
    cudaStreamWaitEvent(two, event, 0);
    cudaMemsetAsync(in, 0, 64, two);
    cudaDeviceSynchronize();
    say();
}

// Another stream does the same without waiting.
static void race_with_the_same()
{
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    for (int time = 0; time <= TIMES; time++)
        reread<<<N / BLOCK, BLOCK, 0, time < TIMES ? one : two>>>(in, out);
    cudaDeviceSynchronize();
    say();
}

static cudaTextureObject_t texture_of(int *numbers)
{
    cudaTextureObject_t texture;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = numbers;
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = N * sizeof(int);
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
    return texture;
}

// After some launches the texture's memory is changed, or the texture destroyed.
static void fetch_texture()
{
    const cudaTextureObject_t texture = texture_of(in);
    for (int time = 0; time < TIMES; time++) {
        if (time == 4 && is("a texture"))
            cudaMemset(in, 7, 100);
        else if (time == 4)
            cudaDestroyTextureObject(texture);
        fetched<<<N / BLOCK, BLOCK>>>(texture, out);
        say();
    }
}

static cudaSurfaceObject_t surface_of_new(cudaArray_t *array)
{
    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = {};
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    cudaMallocArray(array, &ints, 32, 32, cudaArraySurfaceLoadStore);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = *array;
    cudaCreateSurfaceObject(&surface, &resource);
    return surface;
}

// A kernel changes what the next one reads from a surface.
static void read_surface()
{
    cudaArray_t array;
    const cudaSurfaceObject_t surface = surface_of_new(&array);
    for (int time = 0; time < TIMES; time++) {
        to_surface<<<1, 1>>>(surface, time / 3); // the first ones are equal
        from_surface<<<N / BLOCK, BLOCK>>>(surface, out);
        say();
    }
}

// A copy changes what the kernel reads from a surface.
static void copy_to_array()
{
    cudaArray_t array;
    const cudaSurfaceObject_t surface = surface_of_new(&array);
    for (int time = 0; time < TIMES; time++) {
        const int value = time / 3; // the first ones are equal
        cudaMemcpyToArray(array, 0, 0, &value, sizeof value, cudaMemcpyHostToDevice);
        from_surface<<<N / BLOCK, BLOCK>>>(surface, out);
        say();
    }
}

// A kernel writes out of bounds to another allocation, by an offset that it loads from memory.
__device__ int *heap;

__global__ void allocate_heap()
{
    heap = (int *)malloc(N * sizeof(int));
    for (int k = 0; k < N; k++)
        heap[k] = 0;
}

__global__ void stray(int *base, const long long *offset, int value)
{
    base[*offset + blockIdx.x * blockDim.x + threadIdx.x] = value;
}

static void stray_to_heap()
{
    int *where;
    long long *offset;
    allocate_heap<<<1, 1>>>();
    cudaMemcpyFromSymbol(&where, heap, sizeof where);
    const long long far = where - in;
    cudaMalloc(&offset, sizeof far);
    cudaMemcpy(offset, &far, sizeof far, cudaMemcpyHostToDevice);
    for (int time = 0; time < TIMES; time++) {
        stray<<<N / BLOCK, BLOCK>>>(in, offset, time / 3); // the first ones are equal
        apart<<<N / BLOCK, BLOCK>>>(where, out);
        say();
    }
}

// The kernel's input becomes uninitialised, with the very bytes that were there.
static void copy_unwritten()
{
    int *fresh;
    cudaMalloc(&fresh, N * sizeof(int));
    cudaMemset(in, 0xff, N * sizeof(int));
    for (int time = 0; time < TIMES; time++) {
        if (time == 4)
            copied<<<N / BLOCK, BLOCK>>>(fresh, in);
        copied<<<N / BLOCK, BLOCK>>>(in, out);
    }
    say();
}

// In each round, the output becomes uninitialised.
static void copy_unwritten_in_rounds()
{
    int *fresh;
    cudaMalloc(&fresh, N * sizeof(int));
    for (int time = 0; time < TIMES; time++) {
        cudaMemset(out, 0, N * sizeof(int));
        copied<<<N / BLOCK, BLOCK>>>(fresh, out);
    }
    say();
}

// CPU time of small launches, in seconds, with many allocations.
static void launch_beside_many()
{
    enum { ALLOCATIONS = 8000, LAUNCHES = 800 };
    for (int k = 0; k < ALLOCATIONS; k++) {
        void *one;
        cudaMalloc(&one, 1);
    }
    const clock_t begin = clock();
    for (int time = 0; time < LAUNCHES; time++)
        in_place<<<1, 32>>>(in);
    cudaDeviceSynchronize();
    printf("%f\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
}

int main(int count, char **arguments)
{
    word = arguments[1];
    late = count > 2;
    cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, N * sizeof(int));
    cudaMemset(in, 0, N * sizeof(int));
    cudaMemset(out, 0, N * sizeof(int));
    if (is("by a pointer")) {
        const int *const place = in + 77;
        cudaMalloc(&where, sizeof *where);
        cudaMemcpy(where, &place, sizeof place, cudaMemcpyHostToDevice);
    }
    if (is("mapped"))
        share_with_host();
    else if (is("by going astray to the heap"))
        stray_to_heap();
    else if (is("a surface, by a copy"))
        copy_to_array();
    else if (is("a surface"))
        read_surface();
    else if (is("results that are the host's, too"))
        leave_results_with_host();
    else if (is("a graph") || is("a graph that copies"))
        launch_graph(is("a graph that copies"));
    else if (is("two streams"))
        race_with_stream();
    else if (is("the same in two streams"))
        race_with_the_same();
    else if (is("a texture") || is("a texture that ends"))
        fetch_texture();
    else if (is("a reset"))
        reset_between();
    else if (is("unwritten"))
        copy_unwritten();
    else if (is("unwritten in rounds"))
        copy_unwritten_in_rounds();
    else if (is("memory anew"))
        allocate_anew();
    else if (is("memory anew, unset"))
        allocate_anew_unset();
    else if (is("many"))
        launch_beside_many();
    else
        launch_often();
    if (late && out)
        say_now();
    return cudaDeviceSynchronize() != cudaSuccess;
}
