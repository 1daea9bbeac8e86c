// cublas_of_type.h: the functions for one element type T, with LETTER in their cuBLAS names and BLAS_LETTER in their BLAS names.
// cublas.c includes this file once for each type. A function checks its arguments, lists the memory that it uses, and enqueues
// its work.
#define CUBLAS(name) NAMED(cublas, LETTER, name)
#define BLAS(name) NAMED(scipy_cblas_, BLAS_LETTER, name)
#define WORK(name) NAMED(BLAS_LETTER, _, name)
#define ALPHA ((T)(args->scalars_on_device ? *(const T *)sim_memory_at(args->alpha) : args->alpha_value))
#define BETA ((T)(args->scalars_on_device ? *(const T *)sim_memory_at(args->beta) : args->beta_value))
#define A ((const T *)sim_memory_at(args->a))
#define B ((const T *)sim_memory_at(args->b))
#define C ((T *)sim_memory_at(args->c))
#define PREPARE_CALL(work, ...)         \
    REQUIRE_HANDLE(handle);             \
    BlasArguments args = {__VA_ARGS__}; \
    DECLARE_CALL(WORK(work))
#define DECLARE_ARGUMENTS const BlasArguments *args = data

// ---- Vectors

static void WORK(axpy)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(axpy)(args->n, ALPHA, A, args->lda, C, args->ldc);
}

API cublasStatus_t CUBLAS(axpy)(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy)
{
    PREPARE_CALL(axpy, .n = n, .alpha = alpha, .a = x, .lda = incx, .c = y, .ldc = incy);
    CUBLAS_REQUIRE(alpha);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add_used_memory(&call, vector_memory(x, n, incx, sizeof(T), true, false));
    add_used_memory(&call, vector_memory(y, n, incy, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(scal)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(scal)(args->n, ALPHA, C, args->ldc);
}

API cublasStatus_t CUBLAS(scal)(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)
{
    PREPARE_CALL(scal, .n = n, .alpha = alpha, .c = x, .ldc = incx);
    CUBLAS_REQUIRE(alpha);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add_used_memory(&call, vector_memory(x, n, incx, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(copy)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(copy)(args->n, A, args->lda, C, args->ldc);
}

API cublasStatus_t CUBLAS(copy)(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy)
{
    PREPARE_CALL(copy, .n = n, .a = x, .lda = incx, .c = y, .ldc = incy);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add_used_memory(&call, vector_memory(x, n, incx, sizeof(T), true, false));
    add_used_memory(&call, vector_memory(y, n, incy, sizeof(T), false, true));
    return SUBMIT(sizeof(T));
}

static void WORK(swap)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(swap)(args->n, (T *)A, args->lda, C, args->ldc);
}

API cublasStatus_t CUBLAS(swap)(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy)
{
    PREPARE_CALL(swap, .n = n, .a = x, .lda = incx, .c = y, .ldc = incy);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add_used_memory(&call, vector_memory(x, n, incx, sizeof(T), true, true));
    add_used_memory(&call, vector_memory(y, n, incy, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

// ---- Scalar results: 0 if there are no elements

#define RESULT(type) (*(type *)(args->scalars_on_device ? sim_memory_at(args->result) : args->result))
#define DEFINE_REDUCTION(which, type, value)                                                                         \
    static void WORK(which)(const void *data)                                                                        \
    {                                                                                                                \
        DECLARE_ARGUMENTS;                                                                                           \
        RESULT(type) = args->n > 0 && args->lda > 0 ? (value) : 0;                                                   \
    }                                                                                                                \
    static cublasStatus_t WORK(begin_##which)(cublasHandle_t handle, const char *name, const void *call_site, int n, \
                                              const T *x, int incx, type *result)                                    \
    {                                                                                                                \
        PREPARE_CALL(which, .n = n, .a = x, .lda = incx, .result = result);                                          \
        CUBLAS_REQUIRE(result);                                                                                      \
        call.name = name;                                                                                            \
        if (n > 0 && incx > 0)                                                                                       \
            add_used_memory(&call, vector_memory(x, n, incx, sizeof(T), true, false));                               \
        return submit(&call, &args, handle, call_site, sizeof(type));                                                \
    }
#define REDUCE(which) WORK(begin_##which)(handle, __func__, __builtin_return_address(0), n, x, incx, result)
#define INDEX(of) NAMED(scipy_cblas_i, BLAS_LETTER, of)

DEFINE_REDUCTION(nrm2, T, BLAS(nrm2)(args->n, A, args->lda))
DEFINE_REDUCTION(asum, T, BLAS(asum)(args->n, A, args->lda))
DEFINE_REDUCTION(amax, int, (int)INDEX(amax)(args->n, A, args->lda) + 1)
DEFINE_REDUCTION(amin, int, (int)INDEX(amin)(args->n, A, args->lda) + 1)

API cublasStatus_t CUBLAS(nrm2)(cublasHandle_t handle, int n, const T *x, int incx, T *result)
{
    return REDUCE(nrm2);
}

API cublasStatus_t CUBLAS(asum)(cublasHandle_t handle, int n, const T *x, int incx, T *result)
{
    return REDUCE(asum);
}

API cublasStatus_t NAMED(cublasI, BLAS_LETTER, amax)(cublasHandle_t handle, int n, const T *x, int incx, int *result)
{
    return REDUCE(amax);
}

API cublasStatus_t NAMED(cublasI, BLAS_LETTER, amin)(cublasHandle_t handle, int n, const T *x, int incx, int *result)
{
    return REDUCE(amin);
}

static void WORK(dot)(const void *data)
{
    DECLARE_ARGUMENTS;
    RESULT(T) = args->n > 0 ? BLAS(dot)(args->n, A, args->lda, B, args->ldb) : 0;
}

API cublasStatus_t CUBLAS(dot)(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result)
{
    PREPARE_CALL(dot, .n = n, .a = x, .lda = incx, .b = y, .ldb = incy, .result = result);
    CUBLAS_REQUIRE(result);
    if (n > 0) {
        add_used_memory(&call, vector_memory(x, n, incx, sizeof(T), true, false));
        add_used_memory(&call, vector_memory(y, n, incy, sizeof(T), true, false));
    }
    return SUBMIT(sizeof(T));
}

// ---- A matrix and vectors

static void WORK(gemv)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(gemv)(CblasColMajor, to_blas_transpose(args->transa), args->m, args->n, ALPHA, A, args->lda, B, args->ldb, BETA, C,
               args->ldc);
}

API cublasStatus_t CUBLAS(gemv)(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,
                                const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy)
{
    PREPARE_CALL(gemv, .transa = trans, .m = m, .n = n, .alpha = alpha, .a = a, .lda = lda, .b = x, .ldb = incx, .beta = beta,
          .c = y, .ldc = incy);
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(m) && incx && incy && alpha && beta);
    add_used_memory(&call, matrix_memory(a, m, n, lda, sizeof(T), true, false));
    add_used_memory(&call, vector_memory(x, trans == CUBLAS_OP_N ? n : m, incx, sizeof(T), true, false));
    add_used_memory(&call, vector_memory(y, trans == CUBLAS_OP_N ? m : n, incy, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(ger)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(ger)(CblasColMajor, args->m, args->n, ALPHA, A, args->lda, B, args->ldb, C, args->ldc);
}

API cublasStatus_t CUBLAS(ger)(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y,
                               int incy, T *a, int lda)
{
    PREPARE_CALL(ger, .m = m, .n = n, .alpha = alpha, .a = x, .lda = incx, .b = y, .ldb = incy, .c = a, .ldc = lda);
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(m) && incx && incy && alpha);
    add_used_memory(&call, vector_memory(x, m, incx, sizeof(T), true, false));
    add_used_memory(&call, vector_memory(y, n, incy, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(a, m, n, lda, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

// ---- Matrices

static void WORK(gemm)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(gemm)(CblasColMajor, to_blas_transpose(args->transa), to_blas_transpose(args->transb), args->m, args->n, args->k, ALPHA, A, args->lda, B, args->ldb,
               BETA, C, args->ldc);
}

static cublasStatus_t WORK(begin_gemm)(cublasHandle_t handle, const char *name, const void *call_site, BlasArguments args)
{
    REQUIRE_HANDLE(handle);
    const bool no_trans_a = args.transa == CUBLAS_OP_N, no_trans_b = args.transb == CUBLAS_OP_N;
    LibraryCall call = {.name = name, .work = WORK(gemm)};
    CUBLAS_REQUIRE(args.m >= 0 && args.n >= 0 && args.k >= 0 && args.alpha && args.beta);
    CUBLAS_REQUIRE(args.lda >= at_least_1(no_trans_a ? args.m : args.k) && args.ldb >= at_least_1(no_trans_b ? args.k : args.n) &&
         args.ldc >= at_least_1(args.m));
    add_used_memory(&call, matrix_memory(args.a, no_trans_a ? args.m : args.k, no_trans_a ? args.k : args.m, args.lda, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(args.b, no_trans_b ? args.k : args.n, no_trans_b ? args.n : args.k, args.ldb, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(args.c, args.m, args.n, args.ldc, sizeof(T), true, true));
    return submit(&call, &args, handle, call_site, sizeof(T));
}
#define GEMM(ofa, ofb, ofc)                                                                                                    \
    WORK(begin_gemm)(handle, __func__, __builtin_return_address(0),                                                            \
                     (BlasArguments){.transa = transa, .transb = transb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta, \
                            .a = (ofa), .lda = lda, .b = (ofb), .ldb = ldb, .c = (ofc), .ldc = ldc})

API cublasStatus_t CUBLAS(gemm)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                int k, const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c,
                                int ldc)
{
    return GEMM(a, b, c);
}

API cublasStatus_t CUBLAS(gemmStridedBatched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                              int m, int n, int k, const T *alpha, const T *a, int lda,
                                              long long stridea, const T *b, int ldb, long long strideb, const T *beta,
                                              T *c, int ldc, long long stridec, int batch_count)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    CUBLAS_REQUIRE(batch_count >= 0);
    for (int index = 0; index < batch_count && !status; index++)
        status = GEMM(a + index * stridea, b + index * strideb, c + index * stridec);
    return status;
}

API cublasStatus_t CUBLAS(gemmBatched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                       int n, int k, const T *alpha, const T *const a_list[], int lda, const T *const b_list[],
                                       int ldb, const T *beta, T *const c_list[], int ldc, int batch_count)
{
    cublasStatus_t status = check_pointer_lists(handle);
    CUBLAS_REQUIRE(batch_count >= 0);
    for (int index = 0; index < batch_count && !status; index++) {
        const T *a, *b;
        T *c;
        READ_LIST_ELEMENT(a_list + index, &a);
        READ_LIST_ELEMENT(b_list + index, &b);
        READ_LIST_ELEMENT(c_list + index, &c);
        status = GEMM(a, b, c);
    }
    return status;
}

// C = alpha op(A) + beta op(B). C may alias A or B if that matrix is not transposed.
static void WORK(geam)(const void *data)
{
    DECLARE_ARGUMENTS;
    const T alpha = ALPHA, beta = BETA, *const a = A, *const b = B;
    T *const c = C;
    for (size_t j = 0; j < (size_t)args->n; j++)
        for (size_t i = 0; i < (size_t)args->m; i++) {
            const size_t a_index = args->transa == CUBLAS_OP_N ? j * (size_t)args->lda + i : i * (size_t)args->lda + j;
            const size_t b_index = args->transb == CUBLAS_OP_N ? j * (size_t)args->ldb + i : i * (size_t)args->ldb + j;
            c[j * (size_t)args->ldc + i] = (alpha != 0 ? alpha * a[a_index] : 0) + (beta != 0 ? beta * b[b_index] : 0);
        }
}

API cublasStatus_t CUBLAS(geam)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc)
{
    PREPARE_CALL(geam, .transa = transa, .transb = transb, .m = m, .n = n, .alpha = alpha, .beta = beta, .a = a, .lda = lda,
          .b = b, .ldb = ldb, .c = c, .ldc = ldc);
    const bool no_trans_a = transa == CUBLAS_OP_N, no_trans_b = transb == CUBLAS_OP_N;
    const bool has_host_scalars = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && alpha && beta && ldc >= at_least_1(m));
    if (!has_host_scalars || *alpha != 0)
        add_used_memory(&call, matrix_memory(a, no_trans_a ? m : n, no_trans_a ? n : m, lda, sizeof(T), true, false));
    if (!has_host_scalars || *beta != 0)
        add_used_memory(&call, matrix_memory(b, no_trans_b ? m : n, no_trans_b ? n : m, ldb, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(c, m, n, ldc, sizeof(T), false, true));
    return SUBMIT(sizeof(T));
}

static void WORK(symm)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(symm)(CblasColMajor, to_blas_side(args->side), to_blas_fill(args->fill), args->m, args->n, ALPHA, A, args->lda, B, args->ldb, BETA, C,
               args->ldc);
}

API cublasStatus_t CUBLAS(symm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m, int n,
                                const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc)
{
    PREPARE_CALL(symm, .side = side, .fill = fill, .m = m, .n = n, .alpha = alpha, .a = a, .lda = lda, .b = b, .ldb = ldb,
          .beta = beta, .c = c, .ldc = ldc);
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(order) && ldb >= at_least_1(m) && ldc >= at_least_1(m) && alpha && beta);
    add_used_memory(&call, matrix_memory(a, order, order, lda, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(b, m, n, ldb, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(c, m, n, ldc, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(syrk)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(syrk)(CblasColMajor, to_blas_fill(args->fill), to_blas_transpose(args->transa), args->n, args->k, ALPHA, A, args->lda, BETA, C, args->ldc);
}

API cublasStatus_t CUBLAS(syrk)(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t trans, int n, int k,
                                const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc)
{
    PREPARE_CALL(syrk, .fill = fill, .transa = trans, .n = n, .k = k, .alpha = alpha, .a = a, .lda = lda, .beta = beta, .c = c,
          .ldc = ldc);
    const int rows = trans == CUBLAS_OP_N ? n : k;
    CUBLAS_REQUIRE(n >= 0 && k >= 0 && lda >= at_least_1(rows) && ldc >= at_least_1(n) && alpha && beta);
    add_used_memory(&call, matrix_memory(a, rows, trans == CUBLAS_OP_N ? k : n, lda, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(c, n, n, ldc, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(trsm)(const void *data)
{
    DECLARE_ARGUMENTS;
    BLAS(trsm)(CblasColMajor, to_blas_side(args->side), to_blas_fill(args->fill), to_blas_transpose(args->transa),
               args->diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit, args->m, args->n, ALPHA, A, args->lda, C, args->ldc);
}

API cublasStatus_t CUBLAS(trsm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                                cublasOperation_t trans, cublasDiagType_t diagonal, int m, int n, const T *alpha,
                                const T *a, int lda, T *b, int ldb)
{
    PREPARE_CALL(trsm, .side = side, .fill = fill, .transa = trans, .diagonal = diagonal, .m = m, .n = n, .alpha = alpha,
          .a = a, .lda = lda, .c = b, .ldc = ldb);
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(order) && ldb >= at_least_1(m) && alpha);
    add_used_memory(&call, matrix_memory(a, order, order, lda, sizeof(T), true, false));
    add_used_memory(&call, matrix_memory(b, m, n, ldb, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

// Decomposes a matrix into LU factors in place. `b`, unless NULL, receives the row exchanged in each step; `a` receives the first
// step with a zero pivot, counted from 1, or 0.
static void WORK(getrf)(const void *data)
{
    DECLARE_ARGUMENTS;
    const int n = args->n, ld = args->ldc;
    int *const rows = args->b ? sim_memory_at(args->b) : NULL, *const info = sim_memory_at(args->a);
    *info = 0;
    for (int k = 0; k < n; k++) {
        T *const pivot = C + (size_t)k * (size_t)ld + k;
        const int row = rows ? k + (int)INDEX(amax)(n - k, pivot, 1) : k;
        BLAS(swap)(n, C + k, ld, C + row, ld);
        if (rows)
            rows[k] = row + 1;
        if (*pivot == 0) {
            *info = *info ? *info : k + 1;
            continue;
        }
        for (int row_below = 1; row_below < n - k; row_below++)
            pivot[row_below] /= *pivot;
        BLAS(ger)(CblasColMajor, n - k - 1, n - k - 1, -1, pivot + 1, 1, pivot + ld, ld, pivot + ld + 1, ld);
    }
}

API cublasStatus_t CUBLAS(getrfBatched)(cublasHandle_t handle, int n, T *const matrices[], int lda, int *rows, int *info, int batch_count)
{
    cublasStatus_t status = check_pointer_lists(handle);
    CUBLAS_REQUIRE(n >= 0 && batch_count >= 0 && lda >= at_least_1(n) && info);
    for (int k = 0; k < batch_count && !status; k++) {
        T *a;
        int *const matrix_pivots = rows ? rows + (size_t)k * (size_t)n : NULL;
        READ_LIST_ELEMENT(matrices + k, &a);
        PREPARE_CALL(getrf, .n = n, .a = info + k, .b = matrix_pivots, .c = a, .ldc = lda);
        add_used_memory(&call, matrix_memory(a, n, n, lda, sizeof(T), true, true));
        add_used_memory(&call, vector_memory(info + k, 1, 1, sizeof *info, false, true));
        if (rows)
            add_used_memory(&call, vector_memory(matrix_pivots, n, 1, sizeof *rows, false, true));
        status = SUBMIT(sizeof(T));
    }
    return status;
}

#undef CUBLAS
#undef BLAS
#undef WORK
#undef ALPHA
#undef BETA
#undef A
#undef B
#undef C
#undef PREPARE_CALL
#undef DECLARE_ARGUMENTS
#undef RESULT
#undef DEFINE_REDUCTION
#undef REDUCE
#undef INDEX
#undef GEMM
