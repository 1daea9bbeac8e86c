// cublas.c: the common functions of cuBLAS for the simulator, computed on the host by OpenBLAS. Each call is an operation of its
// stream.
//
// Results are correct up to rounding, but not bit-identical to NVIDIA's. Matrices are column-major, as in cuBLAS.
#include "include/cublas_v2.h"

#include "runtime/api/library.h"

#include <cblas.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math;
};

double sim_float16_value(uint16_t bits, bool bf16);
uint16_t sim_half_from_double(double value, int rounding);
uint16_t sim_bf16_from_double(double value, int rounding);

#define API __attribute__((visibility("default")))
// Defines the name by which NVIDIA's header declares a function.
#define V2(name) extern __typeof__(name) name##_v2 __attribute__((alias(#name), visibility("default")))
#define CUBLAS_REQUIRE(condition)               \
    do {                                        \
        if (!(condition))                       \
            return CUBLAS_STATUS_INVALID_VALUE; \
    } while (0)
#define REQUIRE_HANDLE(handle)                    \
    do {                                          \
        if (!(handle))                            \
            return CUBLAS_STATUS_NOT_INITIALIZED; \
    } while (0)

// ---- Contexts

API cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    static bool is_reported;
    CUBLAS_REQUIRE(handle);
    if (!is_reported)
        fprintf(stderr, "simulator: OpenBLAS on the host computes the calls of cuBLAS; they launch no kernels and are "
                        "not counted\n");
    is_reported = true;
    scipy_openblas_set_num_threads(1); // makes results independent of the number of CPUs
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    REQUIRE_HANDLE(handle);
    free(handle);
    return cudaDeviceSynchronize() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

API cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version)
{
    (void)handle;
    CUBLAS_REQUIRE(version);
    *version = CUDART_VERSION / 1000 * 10000;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    REQUIRE_HANDLE(handle);
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

#define DEFINE_GETTER(name, type, field)                        \
    API cublasStatus_t name(cublasHandle_t handle, type *value) \
    {                                                           \
        REQUIRE_HANDLE(handle);                                 \
        CUBLAS_REQUIRE(value);                                  \
        *value = handle->field;                                 \
        return CUBLAS_STATUS_SUCCESS;                           \
    }
DEFINE_GETTER(cublasGetStream, cudaStream_t, stream)
DEFINE_GETTER(cublasGetPointerMode, cublasPointerMode_t, pointer_mode)
DEFINE_GETTER(cublasGetMathMode, cublasMath_t, math)

API cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode)
{
    REQUIRE_HANDLE(handle);
    CUBLAS_REQUIRE(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
    handle->pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

API cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    REQUIRE_HANDLE(handle);
    handle->math = mode; // ignored: all arithmetic has the precision of the type
    return CUBLAS_STATUS_SUCCESS;
}

API cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes; // not needed
    REQUIRE_HANDLE(handle);
    return CUBLAS_STATUS_SUCCESS;
}

V2(cublasCreate); V2(cublasDestroy); V2(cublasGetVersion); V2(cublasSetStream); V2(cublasGetStream);
V2(cublasSetPointerMode); V2(cublasGetPointerMode); V2(cublasSetWorkspace);

API const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
#define NAME(status) case status: return #status;
        NAME(CUBLAS_STATUS_SUCCESS) NAME(CUBLAS_STATUS_NOT_INITIALIZED) NAME(CUBLAS_STATUS_ALLOC_FAILED)
        NAME(CUBLAS_STATUS_INVALID_VALUE) NAME(CUBLAS_STATUS_ARCH_MISMATCH) NAME(CUBLAS_STATUS_MAPPING_ERROR)
        NAME(CUBLAS_STATUS_EXECUTION_FAILED) NAME(CUBLAS_STATUS_INTERNAL_ERROR) NAME(CUBLAS_STATUS_NOT_SUPPORTED)
        NAME(CUBLAS_STATUS_LICENSE_ERROR)
#undef NAME
    }
    return "unknown";
}

API const char *cublasGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

// ---- Copies

static int at_least_1(int n)
{
    return n > 1 ? n : 1;
}

static cublasStatus_t copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, int rows,
                                enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUBLAS_REQUIRE(rows >= 0 && to_pitch >= width && from_pitch >= width && width > 0);
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, (size_t)rows, kind, stream)
               ? CUBLAS_STATUS_MAPPING_ERROR
               : CUBLAS_STATUS_SUCCESS;
}

#define DEFINE_COPIES(direction, kind)                                                                                  \
    API cublasStatus_t cublas##direction##VectorAsync(int n, int size, const void *x, int incx, void *y, int incy,      \
                                                cudaStream_t stream)                                                    \
    {                                                                                                                   \
        CUBLAS_REQUIRE(incx > 0 && incy > 0 && size > 0);                                                               \
        if (incx == 1 && incy == 1) /* contiguous */                                                                    \
            return cublas##direction##MatrixAsync(n, 1, size, x, at_least_1(n), y, at_least_1(n), stream);              \
        return copy_rows(y, (size_t)incy * size, x, (size_t)incx * size, (size_t)size, n, kind, stream);                \
    }                                                                                                                   \
    API cublasStatus_t cublas##direction##Vector(int n, int size, const void *x, int incx, void *y, int incy)           \
    {                                                                                                                   \
        const cublasStatus_t status = cublas##direction##VectorAsync(n, size, x, incx, y, incy, NULL);                  \
        return cudaStreamSynchronize(NULL) ? CUBLAS_STATUS_MAPPING_ERROR : status;                                      \
    }                                                                                                                   \
    API cublasStatus_t cublas##direction##MatrixAsync(int m, int n, int size, const void *a, int lda, void *b, int ldb, \
                                                cudaStream_t stream)                                                    \
    {                                                                                                                   \
        CUBLAS_REQUIRE(m >= 0 && size > 0 && lda >= m && ldb >= m && lda > 0 && ldb > 0);                               \
        return m == 0 ? CUBLAS_STATUS_SUCCESS                                                                           \
                      : copy_rows(b, (size_t)ldb * size, a, (size_t)lda * size, (size_t)m * size, n, kind, stream);     \
    }                                                                                                                   \
    API cublasStatus_t cublas##direction##Matrix(int m, int n, int size, const void *a, int lda, void *b, int ldb)      \
    {                                                                                                                   \
        const cublasStatus_t status = cublas##direction##MatrixAsync(m, n, size, a, lda, b, ldb, NULL);                 \
        return cudaStreamSynchronize(NULL) ? CUBLAS_STATUS_MAPPING_ERROR : status;                                      \
    }
DEFINE_COPIES(Set, cudaMemcpyHostToDevice)
DEFINE_COPIES(Get, cudaMemcpyDeviceToHost)

// ---- Calls

typedef struct BlasArguments { // arguments of a call, named as in BLAS
    int m, n, k, lda, ldb, ldc; // lda, ldb and ldc are also the strides of vectors
    const void *a, *b;
    void *c;
    bool scalars_on_device;
    const void *alpha, *beta;       // device pointers
    double alpha_value, beta_value; // values of host pointers
    void *result;
    cublasOperation_t transa, transb;
    cublasSideMode_t side;
    cublasFillMode_t fill;
    cublasDiagType_t diagonal;
    cudaDataType types[3]; // of a, b and c in cublasGemmEx
    bool scalars_are_half, scalars_are_double;
} BlasArguments;

static enum CBLAS_TRANSPOSE to_blas_transpose(cublasOperation_t o)
{
    return o == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

static enum CBLAS_UPLO to_blas_fill(cublasFillMode_t fill)
{
    return fill == CUBLAS_FILL_MODE_UPPER ? CblasUpper : CblasLower;
}

static enum CBLAS_SIDE to_blas_side(cublasSideMode_t side)
{
    return side == CUBLAS_SIDE_LEFT ? CblasLeft : CblasRight;
}

static UsedMemory matrix_memory(const void *a, int rows, int columns, int ld, size_t size, bool reads, bool writes)
{
    const bool is_contiguous = ld == rows;
    return (UsedMemory){a, (size_t)rows * (is_contiguous ? (size_t)columns : 1) * size, (size_t)ld * size,
                     rows == 0 ? 0 : is_contiguous ? columns > 0 : (size_t)columns, reads, writes};
}

static UsedMemory vector_memory(const void *x, int n, int inc, size_t size, bool reads, bool writes)
{
    const int distance = inc < 0 ? -inc : inc;
    return distance <= 1 ? matrix_memory(x, n, 1, n, size, reads, writes) : matrix_memory(x, 1, n, distance, size, reads, writes);
}

static UsedMemory scalar_memory(const void *x, size_t size, bool writes)
{
    return (UsedMemory){x, size, size, 1, !writes, writes};
}

static void add_used_memory(LibraryCall *call, UsedMemory used)
{
    call->used[call->used_count++] = used;
}

// Adds scalars and the result to the memory that the call uses, if they are on the device. (Scalars on the host are read before
// the call returns, and the host waits for a result in host memory.)
static void add_scalars(LibraryCall *call, BlasArguments *args, cublasHandle_t handle, size_t size)
{
    args->scalars_on_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
    if (args->scalars_on_device && args->alpha)
        add_used_memory(call, scalar_memory(args->alpha, size, false));
    if (args->scalars_on_device && args->beta)
        add_used_memory(call, scalar_memory(args->beta, size, false));
    if (args->scalars_on_device && args->result)
        add_used_memory(call, scalar_memory(args->result, size, true));
    call->is_blocking = !args->scalars_on_device && args->result;
}

static double host_scalar(const void *scalar, size_t size)
{
    return !scalar ? 0 : size == sizeof(double) ? *(const double *)scalar : *(const float *)scalar;
}

static cublasStatus_t submit(LibraryCall *call, BlasArguments *args, cublasHandle_t handle, const void *call_site, size_t size)
{
    add_scalars(call, args, handle, size);
    if (!args->scalars_on_device) {
        const bool is_half = args->scalars_are_half;
        args->alpha_value = is_half ? sim_float16_value(*(const uint16_t *)args->alpha, false) : host_scalar(args->alpha, size);
        args->beta_value = is_half ? sim_float16_value(*(const uint16_t *)args->beta, false) : host_scalar(args->beta, size);
    }
    call->stream = handle->stream;
    call->call_site = call_site;
    call->data = args;
    call->data_bytes = sizeof *args;
    return sim_call_library(call) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
#define SUBMIT(size) submit(&call, &args, handle, __builtin_return_address(0), (size))
#define DECLARE_CALL(...) LibraryCall call = {.name = __func__, .work = (__VA_ARGS__)}

// A call with a list of pointers cannot be captured, because it reads the list from device memory.
static cublasStatus_t check_pointer_lists(cublasHandle_t handle)
{
    enum cudaStreamCaptureStatus capture;
    REQUIRE_HANDLE(handle);
    return cudaStreamIsCapturing(handle->stream, &capture) || capture ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

typedef struct ListElement {
    const void *element_address;
    void *pointer; // receives the element
} ListElement;

static void read_pointer(const void *data)
{
    const ListElement *listed = data;
    memcpy(listed->pointer, sim_memory_at(listed->element_address), sizeof(void *));
}

static cublasStatus_t read_list_element(cublasHandle_t handle, const char *name, const void *call_site,
                                        const void *element_address, void *pointer)
{
    const ListElement listed = {element_address, pointer};
    LibraryCall call = {.name = name, .call_site = call_site, .stream = handle->stream, .is_blocking = true, .work = read_pointer,
                        .data = &listed, .data_bytes = sizeof listed};
    add_used_memory(&call, scalar_memory(element_address, sizeof(void *), false));
    return sim_call_library(&call) ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
#define READ_LIST_ELEMENT(element_address, pointer) \
    RETURN_IF_FAILED(read_list_element(handle, __func__, __builtin_return_address(0), (element_address), (pointer)))
#define RETURN_IF_FAILED(call)                \
    do {                                      \
        const cublasStatus_t failed = (call); \
        if (failed)                           \
            return failed;                    \
    } while (0)

#define CONCATENATED(a, b, c) a##b##c
#define NAMED(a, b, c) CONCATENATED(a, b, c)

#define T float
#define LETTER S
#define BLAS_LETTER s
#include "cublas_of_type.h"
#undef T
#undef LETTER
#undef BLAS_LETTER
#define T double
#define LETTER D
#define BLAS_LETTER d
#include "cublas_of_type.h"

#define V2_OF_BOTH_TYPES(name) V2(cublasS##name); V2(cublasD##name)
V2_OF_BOTH_TYPES(axpy); V2_OF_BOTH_TYPES(scal); V2_OF_BOTH_TYPES(copy); V2_OF_BOTH_TYPES(swap); V2_OF_BOTH_TYPES(dot);
V2_OF_BOTH_TYPES(nrm2); V2_OF_BOTH_TYPES(asum); V2_OF_BOTH_TYPES(gemv); V2_OF_BOTH_TYPES(ger); V2_OF_BOTH_TYPES(gemm);
V2_OF_BOTH_TYPES(symm); V2_OF_BOTH_TYPES(syrk); V2_OF_BOTH_TYPES(trsm);
V2(cublasIsamax); V2(cublasIdamax); V2(cublasIsamin); V2(cublasIdamin);

// ---- Products of 16-bit floats, computed in double precision and rounded once

static size_t type_bytes(cudaDataType type) // 0: not supported
{
    return type == CUDA_R_16F || type == CUDA_R_16BF ? 2 : type == CUDA_R_32F ? 4 : type == CUDA_R_64F ? 8 : 0;
}

static double get_element(const void *a, cudaDataType type, size_t k)
{
    return type == CUDA_R_32F   ? ((const float *)a)[k]
           : type == CUDA_R_64F ? ((const double *)a)[k]
                                : sim_float16_value(((const uint16_t *)a)[k], type == CUDA_R_16BF);
}

static void set_element(void *a, cudaDataType type, size_t k, double value)
{
    if (type == CUDA_R_32F)
        ((float *)a)[k] = (float)value;
    else if (type == CUDA_R_64F)
        ((double *)a)[k] = value;
    else
        ((uint16_t *)a)[k] = type == CUDA_R_16BF ? sim_bf16_from_double(value, 0) : sim_half_from_double(value, 0);
}

static double *convert_to_double(const void *a, cudaDataType type, int rows, int columns, int ld)
{
    double *values = malloc(((size_t)rows * (size_t)columns + 1) * sizeof *values);
    if (!values)
        abort();
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            values[(size_t)j * rows + i] = get_element(sim_memory_at(a), type, (size_t)j * ld + i);
    return values;
}

static double scalar_of(const BlasArguments *args, const void *on_device, double value)
{
    if (!args->scalars_on_device)
        return value;
    const cudaDataType type = args->scalars_are_half ? CUDA_R_16F : args->scalars_are_double ? CUDA_R_64F : CUDA_R_32F;
    return get_element(sim_memory_at(on_device), type, 0);
}

static void gemm_of_any_type(const void *data)
{
    const BlasArguments *args = data;
    const bool no_trans_a = args->transa == CUBLAS_OP_N, no_trans_b = args->transb == CUBLAS_OP_N;
    const int a_rows = no_trans_a ? args->m : args->k, b_rows = no_trans_b ? args->k : args->n;
    const double alpha = scalar_of(args, args->alpha, args->alpha_value), beta = scalar_of(args, args->beta, args->beta_value);
    double *a = convert_to_double(args->a, args->types[0], a_rows, no_trans_a ? args->k : args->m, args->lda);
    double *b = convert_to_double(args->b, args->types[1], b_rows, no_trans_b ? args->n : args->k, args->ldb);
    double *c = convert_to_double(args->c, args->types[2], args->m, args->n, args->ldc);
    scipy_cblas_dgemm(CblasColMajor, to_blas_transpose(args->transa), to_blas_transpose(args->transb), args->m, args->n, args->k,
                      alpha, a, at_least_1(a_rows), b, at_least_1(b_rows), beta, c, at_least_1(args->m));
    for (int j = 0; j < args->n; j++)
        for (int i = 0; i < args->m; i++)
            set_element(sim_memory_at(args->c), args->types[2], (size_t)j * args->ldc + i, c[(size_t)j * args->m + i]);
    free(a), free(b), free(c);
}

static cublasStatus_t gemm_ex(cublasHandle_t handle, BlasArguments args, LibraryCall call, const void *call_site)
{
    for (int k = 0; k < 3; k++)
        if (!type_bytes(args.types[k]))
            return CUBLAS_STATUS_NOT_SUPPORTED;
    const bool no_trans_a = args.transa == CUBLAS_OP_N, no_trans_b = args.transb == CUBLAS_OP_N;
    const int a_rows = no_trans_a ? args.m : args.k, b_rows = no_trans_b ? args.k : args.n;
    CUBLAS_REQUIRE(args.m >= 0 && args.n >= 0 && args.k >= 0 && args.alpha && args.beta);
    CUBLAS_REQUIRE(args.lda >= at_least_1(a_rows) && args.ldb >= at_least_1(b_rows) && args.ldc >= at_least_1(args.m));
    add_used_memory(&call, matrix_memory(args.a, a_rows, no_trans_a ? args.k : args.m, args.lda, type_bytes(args.types[0]), true, false));
    add_used_memory(&call, matrix_memory(args.b, b_rows, no_trans_b ? args.n : args.k, args.ldb, type_bytes(args.types[1]), true, false));
    add_used_memory(&call, matrix_memory(args.c, args.m, args.n, args.ldc, type_bytes(args.types[2]), true, true));
    return submit(&call, &args, handle, call_site, args.scalars_are_half ? 2 : args.scalars_are_double ? 8 : 4);
}

typedef struct Batch {
    int count;
    long long a, b, c; // strides in elements between the matrices of successive products
} Batch;

static const void *offset_by(const void *first, cudaDataType type, long long elements)
{
    return (const char *)first + elements * (long long)type_bytes(type);
}

// Computes the products of a batch, each as a separate operation.
static cublasStatus_t gemm_batch_ex(cublasHandle_t handle, BlasArguments args, Batch batch, LibraryCall call, const void *call_site)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    REQUIRE_HANDLE(handle);
    CUBLAS_REQUIRE(batch.count >= 0);
    for (int k = 0; k < batch.count && !status; k++) {
        BlasArguments product = args;
        product.a = offset_by(args.a, args.types[0], k * batch.a);
        product.b = offset_by(args.b, args.types[1], k * batch.b);
        product.c = (void *)offset_by(args.c, args.types[2], k * batch.c);
        status = gemm_ex(handle, product, call, call_site);
    }
    return status;
}

// The compute type determines the type of the scalars.
static bool is_half(cublasComputeType_t compute)
{
    return compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
}

static bool is_double(cublasComputeType_t compute)
{
    return compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
}

// Packs the parameters of the calling function, which must have these names.
#define PACK_GEMM(...)                                                                                                  \
    (BlasArguments){.m = m, .n = n, .k = k, .a = a, .lda = lda, .b = b, .ldb = ldb, .c = c, .ldc = ldc, .alpha = alpha, \
           .beta = beta, .transa = transa, .transb = transb, __VA_ARGS__}

API cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                              int m, int n, int k, const void *alpha, const void *a,
                                              cudaDataType type_a, int lda, long long stridea, const void *b,
                                              cudaDataType type_b, int ldb, long long strideb, const void *beta, void *c,
                                              cudaDataType type_c, int ldc, long long stridec, int batch_count,
                                              cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    DECLARE_CALL(gemm_of_any_type);
    return gemm_batch_ex(handle, PACK_GEMM(.types = {type_a, type_b, type_c}, .scalars_are_half = is_half(compute),
                                    .scalars_are_double = is_double(compute)),
                    (Batch){batch_count, stridea, strideb, stridec}, call, __builtin_return_address(0));
}

API cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                int k, const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                                cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                                cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    DECLARE_CALL(gemm_of_any_type);
    return gemm_batch_ex(handle, PACK_GEMM(.types = {type_a, type_b, type_c}, .scalars_are_half = is_half(compute),
                                    .scalars_are_double = is_double(compute)),
                    (Batch){.count = 1}, call, __builtin_return_address(0));
}

API cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                               int k, const void *alpha, const void *a, int lda, const void *b, int ldb,
                               const void *beta, void *c, int ldc)
{
    DECLARE_CALL(gemm_of_any_type);
    return gemm_batch_ex(handle, PACK_GEMM(.types = {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F}, .scalars_are_half = true),
                    (Batch){.count = 1}, call, __builtin_return_address(0));
}

// ---- cuBLASLt: only the handle is supported, because some programs create one without using it. Calls of other functions are
// reported as missing.

typedef struct cublasLtContext *cublasLtHandle_t;

API cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    CUBLAS_REQUIRE(handle);
    *handle = malloc(1);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

API cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    REQUIRE_HANDLE(handle);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}
