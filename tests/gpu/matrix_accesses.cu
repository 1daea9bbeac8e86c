// matrix_accesses.cu: a kernel of one warp for each way to load or store a matrix.
// matrix_accesses.h200.csv has the counts of Nsight Compute on an H200.
#include <cuda_fp16.h>
#include <mma.h>

#include "../programs/check.h"

namespace wmma = nvcuda::wmma;

extern __shared__ __align__(128) unsigned char box[];

// Prevents the compiler from removing the load.
template <class Fragment> static __device__ void keep(const Fragment &f, float *out)
{
    for (int i = 0; i < f.num_elements; i++)
        if (float(f.x[i]) == 77.25f)
            out[0] = i;
}

#define LOAD(name, use, m, n, k, T, Stored, order, from)                           \
    __global__ void name(unsigned char *memory, float *out, int stride)            \
    {                                                                              \
        wmma::fragment<wmma::use, m, n, k, T, wmma::order> f;                      \
        wmma::load_matrix_sync(f, (const Stored *)from, stride);                   \
        keep(f, out);                                                              \
    }
#define LOAD_SUM(name, T, order, from)                                             \
    __global__ void name(unsigned char *memory, float *out, int stride)            \
    {                                                                              \
        wmma::fragment<wmma::accumulator, 16, 16, 16, T> f;                        \
        wmma::load_matrix_sync(f, (const T *)from, stride, wmma::order);           \
        keep(f, out);                                                              \
    }
#define STORE_SUM(name, T, order, to)                                              \
    __global__ void name(unsigned char *memory, float *out, int stride)            \
    {                                                                              \
        wmma::fragment<wmma::accumulator, 16, 16, 16, T> f;                        \
        wmma::fill_fragment(f, T(stride));                                         \
        wmma::store_matrix_sync((T *)to, f, stride, wmma::order);                  \
    }
LOAD(global_a_row, matrix_a, 16, 16, 16, __half, __half, row_major, memory)
LOAD(global_a_col, matrix_a, 16, 16, 16, __half, __half, col_major, memory)
LOAD(global_b_col, matrix_b, 16, 16, 16, __half, __half, col_major, memory)
LOAD(global_tf_row, matrix_a, 16, 16, 8, wmma::precision::tf32, float, row_major, memory)
LOAD_SUM(global_c_row, float, mem_row_major, memory)
LOAD_SUM(global_c_col, float, mem_col_major, memory)
LOAD_SUM(global_ch_row, __half, mem_row_major, memory)
STORE_SUM(global_d_row, float, mem_row_major, memory)
STORE_SUM(global_d_col, float, mem_col_major, memory)
STORE_SUM(global_dh_col, __half, mem_col_major, memory)
LOAD(shared_a_row, matrix_a, 16, 16, 16, __half, __half, row_major, box)
LOAD(shared_a_col, matrix_a, 16, 16, 16, __half, __half, col_major, box)
LOAD(shared_a32_row, matrix_a, 32, 8, 16, __half, __half, row_major, box)
LOAD_SUM(shared_c_row, float, mem_row_major, box)
LOAD_SUM(shared_c_col, float, mem_col_major, box)
STORE_SUM(shared_d_row, float, mem_row_major, box)
STORE_SUM(shared_dh_col, __half, mem_col_major, box)

// ldmatrix and stmatrix, with the given stride between rows, in bytes.
#define ROWS(name, options, registers, stride)                                                                \
    __global__ void name(unsigned char *, float *out, int)                                                    \
    {                                                                                                         \
        unsigned r[4];                                                                                        \
        const unsigned at = (unsigned)__cvta_generic_to_shared(box) + threadIdx.x * (stride);                 \
        asm volatile("ldmatrix.sync.aligned.m8n8." options ".shared.b16 {" registers "}, [%4];"               \
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at));                             \
        if (r[0] == 77)                                                                                       \
            out[0] = 1;                                                                                       \
    }
#define STORE_ROWS(name, options, registers, stride)                                                          \
    __global__ void name(unsigned char *, float *, int number)                                                \
    {                                                                                                         \
        const unsigned at = (unsigned)__cvta_generic_to_shared(box) + threadIdx.x * (stride);                 \
        asm volatile("stmatrix.sync.aligned.m8n8." options ".shared.b16 [%0], {" registers "};"               \
                     ::"r"(at), "r"(number), "r"(number), "r"(number), "r"(number) : "memory");               \
    }
ROWS(rows_16, "x4", "%0,%1,%2,%3", 16)
ROWS(rows_32, "x4", "%0,%1,%2,%3", 32)
ROWS(rows_48, "x4", "%0,%1,%2,%3", 48)
ROWS(rows_64, "x4", "%0,%1,%2,%3", 64)
ROWS(rows_80, "x4", "%0,%1,%2,%3", 80)
ROWS(rows_128, "x4", "%0,%1,%2,%3", 128)
ROWS(rows_144, "x4", "%0,%1,%2,%3", 144)
ROWS(rows_trans_128, "x4.trans", "%0,%1,%2,%3", 128)
ROWS(rows_x2_128, "x2", "%0,%1", 128)
ROWS(rows_x1_128, "x1", "%0", 128)
ROWS(rows_x1_16, "x1", "%0", 16)
STORE_ROWS(store_16, "x4", "%1,%2,%3,%4", 16)
STORE_ROWS(store_128, "x4", "%1,%2,%3,%4", 128)
STORE_ROWS(store_x2_128, "x2", "%1,%2", 128)

int main()
{
    unsigned char *memory;
    float *out;
    CUDA(cudaMalloc(&memory, 1 << 16));
    CUDA(cudaMemset(memory, 0, 1 << 16));
    CUDA(cudaMalloc(&out, 1 << 16));
    for (int stride : {32, 64, 48})
        for (auto kernel : {global_a_row, global_a_col, global_b_col, global_tf_row, global_c_row, global_c_col, global_ch_row,
                            global_d_row, global_d_col, global_dh_col, shared_a_row, shared_a_col, shared_a32_row, shared_c_row,
                            shared_c_col, shared_d_row, shared_dh_col})
            kernel<<<1, 32, 16384>>>(memory, out, stride);
    for (auto kernel : {rows_16, rows_32, rows_48, rows_64, rows_80, rows_128, rows_144, rows_trans_128, rows_x2_128, rows_x1_128,
                        rows_x1_16, store_16, store_128, store_x2_128})
        kernel<<<1, 32, 16384>>>(memory, out, 0);
    CUDA(cudaDeviceSynchronize());
    puts("done");
}
