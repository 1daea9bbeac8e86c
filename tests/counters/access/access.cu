// Kernels that load and store in the ways that a GPU's counters distinguish: each is launched once,
// to compare what the simulator counts with what Nsight Compute reads.
// Build and run: nvcc -O3 -arch=native -o access access.cu && ./access

#include <cstdio>

const int BLOCKS = 8, THREADS = 96, WORDS = 96 * 36; // shared words, enough for every stride

// Shared memory with a stride: S words between neighbouring lanes is an S-way conflict for S = 2,
// 4, … 32; an odd stride has none.
template <int stride> __global__ void shared_stride(float *out)
{
    __shared__ float words[WORDS];
    words[threadIdx.x * stride] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = words[(THREADS - 1 - threadIdx.x) * stride];
}

// All lanes of a warp read the same word; then pairs of lanes do.
__global__ void shared_broadcast(float *out)
{
    __shared__ float words[THREADS];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = words[threadIdx.x / 32] + words[threadIdx.x / 2];
}

// Elements of 8 and 16 bytes, with a stride in elements.
template <class T, int stride> __global__ void shared_vector(T *out)
{
    __shared__ T words[THREADS * stride];
    const unsigned tid = threadIdx.x;
    T value = {};
    value.x = tid;
    value.y = tid + 1;
    words[tid * stride] = value;
    __syncthreads();
    out[blockIdx.x * THREADS + tid] = words[(THREADS - 1 - tid) * stride];
}

// Pairs of lanes read the same element of 8 bytes, quads the same of 16.
template <class T, int sharers> __global__ void shared_vector_broadcast(T *out)
{
    __shared__ T words[THREADS];
    const unsigned tid = threadIdx.x;
    T value = {};
    value.x = tid;
    value.y = tid + 1;
    words[tid] = value;
    __syncthreads();
    out[blockIdx.x * THREADS + tid] = words[tid / sharers];
}

// Only the first lanes of each warp, or every second, read elements of 4, 8 and 16 bytes.
template <class T, int lanes, int step> __global__ void shared_vector_some(T *out)
{
    __shared__ T words[THREADS];
    const unsigned tid = threadIdx.x, i = blockIdx.x * THREADS + tid;
    words[tid] = T();
    __syncthreads();
    if (tid % 32 < lanes && tid % step == 0)
        out[i] = words[tid];
}

// Any pattern at all: lanes read words by a multiplicative hash.
__global__ void shared_hash(float *out)
{
    __shared__ float words[1024];
    for (int i = threadIdx.x; i < 1024; i += THREADS)
        words[i] = i;
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = words[(threadIdx.x * 2654435761u + blockIdx.x) >> 22];
}

template <class T> __global__ void shared_vector_hash(T *out)
{
    __shared__ T words[256];
    T value = {};
    value.x = threadIdx.x;
    value.y = 1;
    for (int i = threadIdx.x; i < 256; i += THREADS)
        words[i] = value;
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = words[(threadIdx.x * 2654435761u + blockIdx.x) >> 24];
}

// Bytes: four lanes share a word.
__global__ void shared_bytes(unsigned char *out)
{
    __shared__ unsigned char bytes[THREADS * 3];
    bytes[threadIdx.x * 3] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = bytes[(THREADS - 1 - threadIdx.x) * 3];
}

// One lane adds neighbouring words: ptxas reads them by wider loads than PTX shows.
__global__ void shared_merged(float *out)
{
    __shared__ float words[THREADS];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = words[1] + words[2] + words[3] + words[4] + words[5] + words[6] + words[7];
}

// Device memory with a stride, and off the 32-byte grid.
template <int stride> __global__ void global_stride(const float *in, float *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i * stride];
}

template <int offset> __global__ void global_misaligned(const float *in, float *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    out[i + offset] = in[i + offset];
}

template <class T, int stride> __global__ void global_vector(const T *in, T *out)
{
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = in[i * stride];
}

// A matrix of 96 columns read down its columns, written along its rows.
__global__ void global_columns(const float *in, float *out)
{
    out[blockIdx.x * THREADS + threadIdx.x] = in[threadIdx.x * THREADS + blockIdx.x];
}

__global__ void global_hash(const float *in, float *out)
{
    out[blockIdx.x * THREADS + threadIdx.x] = in[(threadIdx.x * 2654435761u + blockIdx.x) >> 20];
}

// Warps of which only some lanes work.
__global__ void some_lanes(const float *in, float *out)
{
    __shared__ float words[THREADS];
    const unsigned tid = threadIdx.x, i = blockIdx.x * THREADS + tid;
    words[tid] = tid;
    __syncthreads();
    if (tid % 3 == 1)
        out[i] = in[i] + words[tid ^ 1];
    if (tid < 5)
        out[i] = in[i * 4] + words[tid * 2];
}

template <class T> static T *allocated(size_t bytes)
{
    void *memory;
    if (cudaMalloc(&memory, bytes) != cudaSuccess || cudaMemset(memory, 0, bytes) != cudaSuccess)
        exit(EXIT_FAILURE);
    return (T *)memory;
}

int main()
{
    const size_t bytes = 1 << 20;
    float *in = allocated<float>(bytes), *out = allocated<float>(bytes);
    shared_stride<1><<<BLOCKS, THREADS>>>(out);
    shared_stride<2><<<BLOCKS, THREADS>>>(out);
    shared_stride<3><<<BLOCKS, THREADS>>>(out);
    shared_stride<4><<<BLOCKS, THREADS>>>(out);
    shared_stride<8><<<BLOCKS, THREADS>>>(out);
    shared_stride<16><<<BLOCKS, THREADS>>>(out);
    shared_stride<32><<<BLOCKS, THREADS>>>(out);
    shared_stride<33><<<BLOCKS, THREADS>>>(out);
    shared_broadcast<<<BLOCKS, THREADS>>>(out);
    shared_vector<float2, 1><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector<float2, 2><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector<float2, 3><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector<float2, 16><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector<float4, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector<float4, 2><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector<float4, 3><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector<float4, 8><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_broadcast<float2, 2><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_broadcast<float2, 32><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_broadcast<float4, 2><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_broadcast<float4, 4><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float, 1, 1><<<BLOCKS, THREADS>>>(out);
    shared_vector_some<float, 32, 2><<<BLOCKS, THREADS>>>(out);
    shared_vector_some<float2, 1, 1><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_some<float2, 2, 1><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_some<float2, 16, 1><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_some<float2, 17, 1><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_some<float2, 32, 2><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_some<float4, 1, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 2, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 8, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 9, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 17, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 25, 1><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 32, 2><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_vector_some<float4, 32, 4><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_hash<<<BLOCKS, THREADS>>>(out);
    shared_vector_hash<float2><<<BLOCKS, THREADS>>>((float2 *)out);
    shared_vector_hash<float4><<<BLOCKS, THREADS>>>((float4 *)out);
    shared_bytes<<<BLOCKS, THREADS>>>((unsigned char *)out);
    global_stride<1><<<BLOCKS, THREADS>>>(in, out);
    global_stride<2><<<BLOCKS, THREADS>>>(in, out);
    global_stride<7><<<BLOCKS, THREADS>>>(in, out);
    global_stride<32><<<BLOCKS, THREADS>>>(in, out);
    global_misaligned<1><<<BLOCKS, THREADS>>>(in, out);
    global_misaligned<7><<<BLOCKS, THREADS>>>(in, out);
    global_vector<float2, 1><<<BLOCKS, THREADS>>>((float2 *)in, (float2 *)out);
    global_vector<float2, 3><<<BLOCKS, THREADS>>>((float2 *)in, (float2 *)out);
    global_vector<float4, 1><<<BLOCKS, THREADS>>>((float4 *)in, (float4 *)out);
    global_vector<float4, 5><<<BLOCKS, THREADS>>>((float4 *)in, (float4 *)out);
    global_columns<<<BLOCKS, THREADS>>>(in, out);
    global_hash<<<BLOCKS, THREADS>>>(in, out);
    some_lanes<<<BLOCKS, THREADS>>>(in, out);
    shared_merged<<<BLOCKS, THREADS>>>(out);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        fprintf(stderr, "access: %s\n", cudaGetErrorString(error));
    return error == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
