// The simulator's cuBLAS functions, against plain loops. With an argument, one mistake: 1 a matrix that is too small, 2 a
// host pointer, 3 a stream that does not wait for the writes of another one, 4 and 5 a list of pointers that is in host
// memory.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas_v2.h>
#include <cuda_fp16.h>
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

#define OK(call)                                                            \
    do {                                                                    \
        const int error = (int)(call);                                      \
        if (error) {                                                        \
            printf("FAIL line %d: %d\n", __LINE__, error);                  \
            exit(1);                                                        \
        }                                                                   \
    } while (0)
#define NEAR(a, b)                                                          \
    do {                                                                    \
        if (!(fabs((double)(a) - (double)(b)) <= 1e-4 * (1 + fabs((double)(b))))) { \
            printf("FAIL line %d: %g is not %g\n", __LINE__, (double)(a), (double)(b)); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

template <typename T> T *on_device(const std::vector<T> &values)
{
    T *there;
    OK(cudaMalloc(&there, values.size() * sizeof(T)));
    OK(cudaMemcpy(there, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return there;
}

template <typename T> std::vector<T> back(const T *there, size_t count)
{
    std::vector<T> values(count);
    OK(cudaMemcpy(values.data(), there, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

__global__ void fill(float *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = 1;
}

static const int M = 5, N = 4, K = 3;

static void vectors(cublasHandle_t handle)
{
    const std::vector<float> x = {1, -7, 3, 4, 2}, y = {2, 0, 1, 1, -1};
    float *dx = on_device(x), *dy = on_device(y), result;
    const float alpha = 2;
    int place;
    OK(cublasSdot(handle, 5, dx, 1, dy, 1, &result));
    NEAR(result, 7);
    OK(cublasSnrm2(handle, 5, dx, 1, &result));
    NEAR(result, sqrt(79.0));
    OK(cublasSasum(handle, 3, dx, 2, &result)); // 1, 3, 2
    NEAR(result, 6);
    OK(cublasIsamax(handle, 5, dx, 1, &place));
    NEAR(place, 2);
    OK(cublasIsamin(handle, 5, dx, 1, &place));
    NEAR(place, 1);
    OK(cublasSaxpy(handle, 5, &alpha, dx, 1, dy, 1));
    NEAR(back(dy, 5)[1], -14);
    OK(cublasSswap(handle, 5, dx, 1, dy, 1));
    OK(cublasSscal(handle, 5, &alpha, dx, 1));
    NEAR(back(dx, 5)[0], 8);
    OK(cublasScopy(handle, 5, dx, 1, dy, 1));
    NEAR(back(dy, 5)[0], 8);

    const float gaps[6] = {1, 0, 2, 0, 3, 0}; // strided and contiguous copies
    float there[3];
    OK(cublasSetVector(3, sizeof(float), gaps, 2, dx, 1));
    OK(cublasGetVector(3, sizeof(float), dx, 1, there, 1));
    NEAR(there[2], 3);

    float *scalar = on_device(std::vector<float>{3, 0}); // scalars and results on the device
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasSscal(handle, 5, scalar, dx, 1));
    OK(cublasSasum(handle, 1, dx, 1, scalar + 1));
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    NEAR(back(scalar, 2)[1], 3);
}

template <typename T> double at(const std::vector<T> &a, int ld, bool turned, int i, int j)
{
    return (double)(turned ? a[i * ld + j] : a[j * ld + i]);
}

static void matrices(cublasHandle_t handle)
{
    for (int turns = 0; turns < 4; turns++) {
        const bool ta = turns & 1, tb = turns & 2;
        const int lda = 6, ldb = 7, ldc = 8;
        std::vector<double> a(lda * 6), b(ldb * 7), c(ldc * N, 0.5);
        for (size_t k = 0; k < a.size(); k++)
            a[k] = (double)(k % 7) - 3;
        for (size_t k = 0; k < b.size(); k++)
            b[k] = (double)(k % 5) / 2;
        double *da = on_device(a), *db = on_device(b), *dc = on_device(c);
        const double alpha = 1.5, beta = 2;
        OK(cublasDgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, M, N, K, &alpha, da, lda,
                       db, ldb, &beta, dc, ldc));
        const std::vector<double> got = back(dc, c.size());
        for (int i = 0; i < M; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += at(a, lda, ta, i, k) * at(b, ldb, tb, k, j);
                NEAR(got[j * ldc + i], alpha * sum + beta * 0.5);
            }
        NEAR(got[M], 0.5); // the element after the matrix is unchanged
    }

    // C and y are not read if beta is 0.
    const float one = 1, zero = 0;
    float *a = on_device(std::vector<float>{1, 2, 3, 4}), *x = on_device(std::vector<float>{1, 1}), *y, *c;
    OK(cudaMalloc(&y, 2 * sizeof(float)));
    OK(cudaMalloc(&c, 4 * sizeof(float)));
    OK(cublasSgemv(handle, CUBLAS_OP_N, 2, 2, &one, a, 2, x, 1, &zero, y, 1));
    NEAR(back(y, 2)[0], 4);
    NEAR(back(y, 2)[1], 6);
    OK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &one, a, 1, 2, a, 1, 2, &zero, c, 1, 1, 2));
    NEAR(back(c, 2)[1], 25);
    OK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, &one, a, 2, &zero, a, 2, c, 2));
    NEAR(back(c, 4)[1], 3);
    OK(cublasSger(handle, 2, 2, &one, x, 1, x, 1, c, 2));
    NEAR(back(c, 4)[1], 4);
    OK(cublasStrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, 2, 1, &one, a, 2, x, 2));
    NEAR(back(x, 2)[1], -0.25);
    OK(cublasSsyrk(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, 2, 2, &one, a, 2, &zero, c, 2));
    NEAR(back(c, 4)[2], 14);

    float *ha[2] = {a, a + 1}, *hc[2] = {c, c + 1};
    float **la = on_device(std::vector<float *>(ha, ha + 2)), **lc = on_device(std::vector<float *>(hc, hc + 2));
    OK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, la, 1, la, 1, &zero, lc, 1, 2));
    NEAR(back(c, 2)[1], 4);

    // With row exchange the first pivot is 4, without it 2; the second matrix has a last pivot of 0.
    double *two = on_device(std::vector<double>{2, 4, 1, 5, 3, 6, 1, 2}), *lists[2] = {two, two + 4};
    double **listed = on_device(std::vector<double *>(lists, lists + 2));
    int *rows = on_device(std::vector<int>(4)), *info = on_device(std::vector<int>{7, 7});
    OK(cublasDgetrfBatched(handle, 2, listed, 2, rows, info, 2));
    OK(!(back(two, 4) == std::vector<double>{4, 0.5, 5, -1.5} && back(rows, 4) == std::vector<int>{2, 2, 2, 2}));
    OK(!(back(info, 2) == std::vector<int>{0, 2}));
    OK(cudaMemcpy(two, std::vector<double>{2, 4, 1, 5}.data(), 4 * sizeof(double), cudaMemcpyHostToDevice));
    OK(cublasDgetrfBatched(handle, 2, listed, 2, NULL, info, 1));
    OK(!(back(two, 4) == std::vector<double>{2, 2, 1, 3}));

    __half *h = on_device(std::vector<__half>{__float2half(1.5f), __float2half(2.0f)});
    OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &one, h, CUDA_R_16F, 1, h, CUDA_R_16F, 1, &zero, c,
                    CUDA_R_32F, 1, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    NEAR(back(c, 1)[0], 6.25);
    OK(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, h, CUDA_R_16F, 1, 1, h, CUDA_R_16F,
                                  1, 1, &zero, c, CUDA_R_32F, 1, 2, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    NEAR(back(c, 3)[0], 2.25);
    NEAR(back(c, 3)[2], 4);

    const __half half_one = __float2half(1), half_zero = __float2half(0);
    OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &half_one, h, CUDA_R_16F, 1, h, CUDA_R_16F, 1, &half_zero,
                    h, CUDA_R_16F, 1, CUBLAS_COMPUTE_16F_PEDANTIC, CUBLAS_GEMM_DEFAULT));
    NEAR(__half2float(back(h, 1)[0]), 2.25);
}

static void in_streams(cublasHandle_t handle, bool waits)
{
    enum { COUNT = 1 << 10 };
    const float alpha = 2;
    cudaStream_t first, second;
    cudaEvent_t written;
    cudaGraph_t graph;
    cudaGraphExec_t run;
    float *x, *y;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaEventCreate(&written));
    OK(cudaMalloc(&x, COUNT * sizeof(float)));
    OK(cudaMalloc(&y, COUNT * sizeof(float)));
    fill<<<1, 64, 0, first>>>(x, COUNT);
    OK(cudaEventRecord(written, first));
    if (waits)
        OK(cudaStreamWaitEvent(second, written, 0));
    OK(cublasSetStream(handle, second));
    OK(cublasScopy(handle, COUNT, x, 1, y, 1));
    OK(cudaStreamBeginCapture(second, cudaStreamCaptureModeThreadLocal));
    OK(cublasSaxpy(handle, COUNT, &alpha, x, 1, y, 1));
    OK(cudaStreamEndCapture(second, &graph));
    OK(cudaGraphInstantiate(&run, graph, 0));
    for (int k = 0; k < 3; k++)
        OK(cudaGraphLaunch(run, second));
    OK(cudaStreamSynchronize(second));
    NEAR(back(y, COUNT)[COUNT - 1], 7);
    OK(cublasSetStream(handle, 0));
}

int main(int argc, char **argv)
{
    const int mistake = argc > 1 ? atoi(argv[1]) : 0;
    cublasHandle_t handle;
    OK(cublasCreate(&handle));
    if (mistake == 1 || mistake == 2) {
        float *a = on_device(std::vector<float>(15)), one = 1;
        std::vector<float> host(16);
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, mistake == 1 ? a : host.data(), 4, a, 4, &one, a, 4);
        return 0;
    }
    if (mistake == 4 || mistake == 5) {
        float *listed[] = {on_device(std::vector<float>(1))}, one = 1;
        int *info = on_device(std::vector<int>(1));
        if (mistake == 4)
            cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, listed, 1, listed, 1, &one, listed, 1, 1);
        else
            cublasSgetrfBatched(handle, 1, listed, 1, NULL, info, 1);
        return 0;
    }
    vectors(handle);
    matrices(handle);
    in_streams(handle, mistake != 3);
    OK(cublasDestroy(handle));
#if __has_include(<cublasLt.h>)
    cublasLtHandle_t light;
    OK(cublasLtCreate(&light));
    OK(cublasLtDestroy(light));
#endif
    puts("PASS");
}
