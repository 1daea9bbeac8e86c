// cublas_v2.h: declares the cuBLAS functions that the simulator implements, for machines without NVIDIA's header. If the toolkit
// has this header, its version is used; the declarations are compatible. NVIDIA's "cuBLAS" documentation describes the functions.
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_

#include <stddef.h>

#include <cuda_runtime_api.h>
#include <library_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_ARCH_MISMATCH = 8, CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13, CUBLAS_STATUS_INTERNAL_ERROR = 14, CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0, CUBLAS_TENSOR_OP_MATH = 1, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64, CUBLAS_COMPUTE_16F_PEDANTIC = 65, CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70, CUBLAS_COMPUTE_64F_PEDANTIC = 71, CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75, CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef struct cublasContext *cublasHandle_t;

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
cublasStatus_t cublasSetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasGetVector(int n, int size, const void *x, int incx, void *y, int incy);
cublasStatus_t cublasSetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int size, const void *x, int incx, void *y, int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrix(int m, int n, int size, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasGetMatrix(int m, int n, int size, const void *a, int lda, void *b, int ldb);
cublasStatus_t cublasSetMatrixAsync(int m, int n, int size, const void *a, int lda, void *b, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int m, int n, int size, const void *a, int lda, void *b, int ldb, cudaStream_t stream);

#define CUBLAS_OF_TYPE(S, L, T)                                                                                         \
    cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy); \
    cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T *alpha, T *x, int incx);                       \
    cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy);                 \
    cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy);                       \
    cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result); \
    cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T *x, int incx, T *result);                      \
    cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T *x, int incx, T *result);                      \
    cublasStatus_t cublasI##L##amax(cublasHandle_t handle, int n, const T *x, int incx, int *result);                   \
    cublasStatus_t cublasI##L##amin(cublasHandle_t handle, int n, const T *x, int incx, int *result);                   \
    cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,        \
                                   const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy);           \
    cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx,            \
                                  const T *y, int incy, T *a, int lda);                                                 \
    cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,    \
                                   int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb,              \
                                   const T *beta, T *c, int ldc);                                                       \
    cublasStatus_t cublas##S##gemmStridedBatched(                                                                       \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T *alpha, \
        const T *a, int lda, long long stridea, const T *b, int ldb, long long strideb, const T *beta, T *c, int ldc,   \
        long long stridec, int batch);                                                                                  \
    cublasStatus_t cublas##S##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,    \
                                          int m, int n, int k, const T *alpha, const T *const a[], int lda,             \
                                          const T *const b[], int ldb, const T *beta, T *const c[], int ldc,            \
                                          int batch);                                                                   \
    cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,    \
                                   int n, const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb,      \
                                   T *c, int ldc);                                                                      \
    cublasStatus_t cublas##S##symm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m, int n,   \
                                   const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c,       \
                                   int ldc);                                                                            \
    cublasStatus_t cublas##S##syrk(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t trans, int n, int k, \
                                   const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc);                  \
    cublasStatus_t cublas##S##trsm(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,                 \
                                   cublasOperation_t trans, cublasDiagType_t diagonal, int m, int n, const T *alpha,    \
                                   const T *a, int lda, T *b, int ldb);                                                 \
    cublasStatus_t cublas##S##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *rows, int *info,   \
                                           int batch);
CUBLAS_OF_TYPE(S, s, float)
CUBLAS_OF_TYPE(D, d, double)
#undef CUBLAS_OF_TYPE

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void *alpha, const void *a, cudaDataType type_a,
                                          int lda, long long stridea, const void *b, cudaDataType type_b, int ldb,
                                          long long strideb, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          long long stridec, int batch, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
#ifdef __CUDA_FP16_H__
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half *alpha, const __half *a, int lda, const __half *b, int ldb,
                           const __half *beta, __half *c, int ldc);
#endif

#ifdef __cplusplus
}
#endif
#endif
