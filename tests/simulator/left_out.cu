// left_out.cu: idle blocks and read-only memory: what the simulator may skip and what it
// must not. The first argument names a case.
#include <cstdio>
#include <cstdlib>
#include <cstring>

enum { N = 1000 };

// ---- Idle blocks: launched with many more threads than N

__global__ void guarded(float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;
}

__global__ void guarded_long(float *out, long long n)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = i;
}

__global__ void guarded_unsigned(float *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;
}

__global__ void guarded_twice(float *out, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = x;
}

__global__ void wraps_around(float *out, unsigned n, unsigned stride) // late blocks have small indices again
{
    const unsigned i = blockIdx.x * stride + threadIdx.x;
    if (i < n)
        atomicAdd(&out[i], 1);
}

__global__ void counts_the_others(float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;
    else if (threadIdx.x == 0)
        atomicAdd(&out[N], 1);
}

__global__ void waits_first(float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    __syncthreads();
    if (i < n)
        out[i] = i;
}

// ---- An address that one block writes and another reads, through pointers of every origin

__device__ void meet(int writer, float *written, const float *read, float *sink)
{
    if (blockIdx.x != writer)
        sink[threadIdx.x] = *read;
    else if (threadIdx.x == 0)
        *written = 1;
}

struct Part {
    int size;
    float *first;
};

__device__ float variable[64];
__device__ __noinline__ void set(float *place) { *place = 1; }

__global__ void own(int writer, float *a, const float *b, float *sink) { meet(writer, a + 20, b + 4, sink); }
__global__ void loaded(int writer, float **a, const float *b, float *sink) { meet(writer, a[1] + 20, b + 4, sink); }
__global__ void chosen(int writer, float *a, float *c, int which, const float *b, float *sink) { meet(writer, (which ? a : c) + 20, b + 4, sink); }
__global__ void in_a_structure(int writer, Part a, const float *b, float *sink) { meet(writer, a.first + 20, b + 4, sink); }
__global__ void as_a_number(int writer, unsigned long long a, const float *b, float *sink) { meet(writer, (float *)a + 20, b + 4, sink); }
__global__ void of_a_variable(int writer, const float *b, float *sink) { meet(writer, variable + 20, b + 4, sink); }
__global__ void astray(int writer, float *c, long long apart, const float *b, float *sink) { meet(writer, c + apart, b + 4, sink); }

__global__ void by_a_function(int writer, float *a, const float *b, float *sink)
{
    if (blockIdx.x != writer)
        sink[threadIdx.x] = b[4];
    else if (threadIdx.x == 0)
        set(a + 20);
}

__global__ void as_a_vector(int writer, float4 *a, const float *b, float *sink)
{
    if (blockIdx.x != writer)
        sink[threadIdx.x] = b[4];
    else if (threadIdx.x == 0)
        a[5] = {1, 1, 1, 1};
}

__global__ void updated(int writer, float *a, const float *b, float *sink)
{
    if (blockIdx.x != writer)
        sink[threadIdx.x] = b[4];
    else if (threadIdx.x == 0)
        atomicAdd(a + 20, 1);
}

__global__ void shared_or_not(int writer, float *a, int which, const float *b, float *sink)
{
    __shared__ float own[32];
    float *const place = which ? a : own;
    meet(writer, place + 20, b + 4, sink);
}

__global__ void walked_to(int writer, float *a, int stride, const float *b, float *sink)
{
    float *place = a;
    for (int k = 0; k < 20; k += stride)
        place += stride;
    meet(writer, place, b + 4, sink);
}

__global__ void copied(int writer, float *a, const float *c, const float *b, float *sink)
{
    if (blockIdx.x != writer)
        sink[threadIdx.x] = b[4];
    else if (threadIdx.x == 0)
        memcpy(a + 16, c, 32);
}

__global__ void read_only(int writer, const float *a, const float *b, float *sink) // no thread writes to a and b
{
    sink[blockIdx.x * 32 + threadIdx.x] = a[20] + b[4];
}

static void launch(const char *name, int writer)
{
    float *a, *c, *sink, *address, **table;
    cudaMalloc(&a, 256);
    cudaMalloc(&c, 256);
    cudaMalloc(&sink, 256);
    cudaMalloc(&table, 16);
    cudaMemset(a, 0, 256);
    cudaMemset(c, 0, 256);
    float *const both[] = {c, a};
    cudaMemcpy(table, both, sizeof both, cudaMemcpyHostToDevice);
    cudaGetSymbolAddress((void **)&address, variable);
    const float *const b = a + 16;
    const auto is = [&](const char *other) { return strcmp(name, other) == 0; };
    if (is("own")) own<<<2, 32>>>(writer, a, b, sink);
    if (is("loaded")) loaded<<<2, 32>>>(writer, table, b, sink);
    if (is("chosen")) chosen<<<2, 32>>>(writer, a, c, 1, b, sink);
    if (is("in a structure")) in_a_structure<<<2, 32>>>(writer, {64, a}, b, sink);
    if (is("as a number")) as_a_number<<<2, 32>>>(writer, (unsigned long long)a, b, sink);
    if (is("of a variable")) of_a_variable<<<2, 32>>>(writer, address + 16, sink);
    if (is("astray")) astray<<<2, 32>>>(writer, c, a + 20 - c, b, sink);
    if (is("by a function")) by_a_function<<<2, 32>>>(writer, a, b, sink);
    if (is("as a vector")) as_a_vector<<<2, 32>>>(writer, (float4 *)a, b, sink);
    if (is("updated")) updated<<<2, 32>>>(writer, a, b, sink);
    if (is("shared or not")) shared_or_not<<<2, 32>>>(writer, a, 1, b, sink);
    if (is("walked to")) walked_to<<<2, 32>>>(writer, a, 4, b, sink);
    if (is("copied")) copied<<<2, 32>>>(writer, a, c, b, sink);
    if (is("read only")) read_only<<<2, 32>>>(writer, a, b, sink);
    cudaDeviceSynchronize();
}

int main(int, char **arguments)
{
    const char *const name = arguments[1];
    const int more = atoi(arguments[2]); // blocks, or the one that writes
    const auto is = [&](const char *other) { return strcmp(name, other) == 0; };
    float *out, found[N + 1];
    cudaMalloc(&out, sizeof found);
    cudaMemset(out, 0, sizeof found);
    if (is("guarded")) guarded<<<more, 96>>>(out, N);
    if (is("guarded, long")) guarded_long<<<more, 100>>>(out, N);
    if (is("guarded, unsigned")) guarded_unsigned<<<more, 128>>>(out, N);
    if (is("guarded twice")) guarded_twice<<<dim3(4, more), dim3(10, 10)>>>(out, 30, 33);
    if (is("guarded at the side")) guarded_twice<<<dim3(more, 4), dim3(10, 10)>>>(out, 30, 33);
    if (is("wraps around")) wraps_around<<<more, 32>>>(out, N, 1u << 24);
    if (is("counts the others")) counts_the_others<<<more, 64>>>(out, N);
    if (is("waits first")) waits_first<<<more, 64>>>(out, N);
    cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost);
    double sum = 0;
    for (int k = 0; k <= N; k++)
        sum += (k + 1) * found[k];
    printf("%s: %s, sum %.0f\n", name, cudaGetErrorString(cudaGetLastError()), sum);
    launch(name, more);
    return 0;
}
