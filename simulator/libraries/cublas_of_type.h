// cublas_of_type.h: the calls for one type T, with LETTER in their cuBLAS names and BLAS_LETTER in their BLAS names. cublas.c
// includes it once for each type. A call checks its arguments, declares the memory that it uses, and enqueues its work.
#define CUBLAS(name) NAMED(cublas, LETTER, name)
#define BLAS(name) NAMED(scipy_cblas_, BLAS_LETTER, name)
#define WORK(name) NAMED(BLAS_LETTER, _, name)
#define ALPHA ((T)(t->scalars_on_device ? *(const T *)sim_memory_at(t->alpha) : t->alpha_value))
#define BETA ((T)(t->scalars_on_device ? *(const T *)sim_memory_at(t->beta) : t->beta_value))
#define A ((const T *)sim_memory_at(t->a))
#define B ((const T *)sim_memory_at(t->b))
#define C ((T *)sim_memory_at(t->c))
#define BEGIN(work, ...)    \
    REQUIRE_HANDLE(handle); \
    Task t = {__VA_ARGS__}; \
    DECLARE_CALL(WORK(work))
#define BEGIN_WORK const Task *t = data

// ---- Vectors

static void WORK(axpy)(const void *data)
{
    BEGIN_WORK;
    BLAS(axpy)(t->n, ALPHA, A, t->lda, C, t->ldc);
}

API cublasStatus_t CUBLAS(axpy)(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy)
{
    BEGIN(axpy, .n = n, .alpha = alpha, .a = x, .lda = incx, .c = y, .ldc = incy);
    CUBLAS_REQUIRE(alpha);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add(&call, vector(x, n, incx, sizeof(T), true, false));
    add(&call, vector(y, n, incy, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(scal)(const void *data)
{
    BEGIN_WORK;
    BLAS(scal)(t->n, ALPHA, C, t->ldc);
}

API cublasStatus_t CUBLAS(scal)(cublasHandle_t handle, int n, const T *alpha, T *x, int incx)
{
    BEGIN(scal, .n = n, .alpha = alpha, .c = x, .ldc = incx);
    CUBLAS_REQUIRE(alpha);
    if (n <= 0 || incx <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add(&call, vector(x, n, incx, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(copy)(const void *data)
{
    BEGIN_WORK;
    BLAS(copy)(t->n, A, t->lda, C, t->ldc);
}

API cublasStatus_t CUBLAS(copy)(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy)
{
    BEGIN(copy, .n = n, .a = x, .lda = incx, .c = y, .ldc = incy);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add(&call, vector(x, n, incx, sizeof(T), true, false));
    add(&call, vector(y, n, incy, sizeof(T), false, true));
    return SUBMIT(sizeof(T));
}

static void WORK(swap)(const void *data)
{
    BEGIN_WORK;
    BLAS(swap)(t->n, (T *)A, t->lda, C, t->ldc);
}

API cublasStatus_t CUBLAS(swap)(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy)
{
    BEGIN(swap, .n = n, .a = x, .lda = incx, .c = y, .ldc = incy);
    if (n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    add(&call, vector(x, n, incx, sizeof(T), true, true));
    add(&call, vector(y, n, incy, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

// ---- Scalar results: 0 if there are no elements

#define RESULT(type) (*(type *)(t->scalars_on_device ? sim_memory_at(t->result) : t->result))
#define REDUCTION(which, type, value)                                                                           \
    static void WORK(which)(const void *data)                                                                   \
    {                                                                                                           \
        BEGIN_WORK;                                                                                             \
        RESULT(type) = t->n > 0 && t->lda > 0 ? (value) : 0;                                                    \
    }                                                                                                           \
    static cublasStatus_t WORK(begin_##which)(cublasHandle_t handle, const char *name, const void *from, int n, \
                                              const T *x, int incx, type *result)                               \
    {                                                                                                           \
        BEGIN(which, .n = n, .a = x, .lda = incx, .result = result);                                            \
        CUBLAS_REQUIRE(result);                                                                                 \
        call.name = name;                                                                                       \
        if (n > 0 && incx > 0)                                                                                  \
            add(&call, vector(x, n, incx, sizeof(T), true, false));                                             \
        return submit(&call, &t, handle, from, sizeof(type));                                                   \
    }
#define REDUCE(which) WORK(begin_##which)(handle, __func__, __builtin_return_address(0), n, x, incx, result)
#define INDEX(of) NAMED(scipy_cblas_i, BLAS_LETTER, of)

REDUCTION(nrm2, T, BLAS(nrm2)(t->n, A, t->lda))
REDUCTION(asum, T, BLAS(asum)(t->n, A, t->lda))
REDUCTION(amax, int, (int)INDEX(amax)(t->n, A, t->lda) + 1)
REDUCTION(amin, int, (int)INDEX(amin)(t->n, A, t->lda) + 1)

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
    BEGIN_WORK;
    RESULT(T) = t->n > 0 ? BLAS(dot)(t->n, A, t->lda, B, t->ldb) : 0;
}

API cublasStatus_t CUBLAS(dot)(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result)
{
    BEGIN(dot, .n = n, .a = x, .lda = incx, .b = y, .ldb = incy, .result = result);
    CUBLAS_REQUIRE(result);
    if (n > 0) {
        add(&call, vector(x, n, incx, sizeof(T), true, false));
        add(&call, vector(y, n, incy, sizeof(T), true, false));
    }
    return SUBMIT(sizeof(T));
}

// ---- A matrix and vectors

static void WORK(gemv)(const void *data)
{
    BEGIN_WORK;
    BLAS(gemv)(CblasColMajor, as_trans(t->transa), t->m, t->n, ALPHA, A, t->lda, B, t->ldb, BETA, C, t->ldc);
}

API cublasStatus_t CUBLAS(gemv)(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,
                                const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy)
{
    BEGIN(gemv, .transa = trans, .m = m, .n = n, .alpha = alpha, .a = a, .lda = lda, .b = x, .ldb = incx, .beta = beta,
          .c = y, .ldc = incy);
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(m) && incx && incy && alpha && beta);
    add(&call, matrix(a, m, n, lda, sizeof(T), true, false));
    add(&call, vector(x, trans == CUBLAS_OP_N ? n : m, incx, sizeof(T), true, false));
    add(&call, vector(y, trans == CUBLAS_OP_N ? m : n, incy, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(ger)(const void *data)
{
    BEGIN_WORK;
    BLAS(ger)(CblasColMajor, t->m, t->n, ALPHA, A, t->lda, B, t->ldb, C, t->ldc);
}

API cublasStatus_t CUBLAS(ger)(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y,
                               int incy, T *a, int lda)
{
    BEGIN(ger, .m = m, .n = n, .alpha = alpha, .a = x, .lda = incx, .b = y, .ldb = incy, .c = a, .ldc = lda);
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(m) && incx && incy && alpha);
    add(&call, vector(x, m, incx, sizeof(T), true, false));
    add(&call, vector(y, n, incy, sizeof(T), true, false));
    add(&call, matrix(a, m, n, lda, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

// ---- Matrices

static void WORK(gemm)(const void *data)
{
    BEGIN_WORK;
    BLAS(gemm)(CblasColMajor, as_trans(t->transa), as_trans(t->transb), t->m, t->n, t->k, ALPHA, A, t->lda, B, t->ldb,
               BETA, C, t->ldc);
}

static cublasStatus_t WORK(begin_gemm)(cublasHandle_t handle, const char *name, const void *from, Task t)
{
    REQUIRE_HANDLE(handle);
    const bool a_plain = t.transa == CUBLAS_OP_N, b_plain = t.transb == CUBLAS_OP_N;
    LibraryCall call = {.name = name, .work = WORK(gemm)};
    CUBLAS_REQUIRE(t.m >= 0 && t.n >= 0 && t.k >= 0 && t.alpha && t.beta);
    CUBLAS_REQUIRE(t.lda >= at_least_1(a_plain ? t.m : t.k) && t.ldb >= at_least_1(b_plain ? t.k : t.n) &&
         t.ldc >= at_least_1(t.m));
    add(&call, matrix(t.a, a_plain ? t.m : t.k, a_plain ? t.k : t.m, t.lda, sizeof(T), true, false));
    add(&call, matrix(t.b, b_plain ? t.k : t.n, b_plain ? t.n : t.k, t.ldb, sizeof(T), true, false));
    add(&call, matrix(t.c, t.m, t.n, t.ldc, sizeof(T), true, true));
    return submit(&call, &t, handle, from, sizeof(T));
}
#define GEMM(ofa, ofb, ofc)                                                                                            \
    WORK(begin_gemm)(handle, __func__, __builtin_return_address(0),                                                    \
                     (Task){.transa = transa, .transb = transb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta,  \
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
                                              T *c, int ldc, long long stridec, int batch)
{
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    CUBLAS_REQUIRE(batch >= 0);
    for (int index = 0; index < batch && !status; index++)
        status = GEMM(a + index * stridea, b + index * strideb, c + index * stridec);
    return status;
}

API cublasStatus_t CUBLAS(gemmBatched)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                       int n, int k, const T *alpha, const T *const la[], int lda, const T *const lb[],
                                       int ldb, const T *beta, T *const lc[], int ldc, int batch)
{
    cublasStatus_t status = check_pointer_lists(handle);
    CUBLAS_REQUIRE(batch >= 0);
    for (int index = 0; index < batch && !status; index++) {
        const T *a, *b;
        T *c;
        READ_LIST_ELEMENT(la + index, &a);
        READ_LIST_ELEMENT(lb + index, &b);
        READ_LIST_ELEMENT(lc + index, &c);
        status = GEMM(a, b, c);
    }
    return status;
}

// C = alpha op(A) + beta op(B); C may be A or B, if that one is not transposed.
static void WORK(geam)(const void *data)
{
    BEGIN_WORK;
    const T alpha = ALPHA, beta = BETA, *const a = A, *const b = B;
    T *const c = C;
    for (size_t j = 0; j < (size_t)t->n; j++)
        for (size_t i = 0; i < (size_t)t->m; i++) {
            const size_t in_a = t->transa == CUBLAS_OP_N ? j * (size_t)t->lda + i : i * (size_t)t->lda + j;
            const size_t in_b = t->transb == CUBLAS_OP_N ? j * (size_t)t->ldb + i : i * (size_t)t->ldb + j;
            c[j * (size_t)t->ldc + i] = (alpha != 0 ? alpha * a[in_a] : 0) + (beta != 0 ? beta * b[in_b] : 0);
        }
}

API cublasStatus_t CUBLAS(geam)(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc)
{
    BEGIN(geam, .transa = transa, .transb = transb, .m = m, .n = n, .alpha = alpha, .beta = beta, .a = a, .lda = lda,
          .b = b, .ldb = ldb, .c = c, .ldc = ldc);
    const bool a_plain = transa == CUBLAS_OP_N, b_plain = transb == CUBLAS_OP_N;
    const bool host_scalars = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && alpha && beta && ldc >= at_least_1(m));
    if (!host_scalars || *alpha != 0)
        add(&call, matrix(a, a_plain ? m : n, a_plain ? n : m, lda, sizeof(T), true, false));
    if (!host_scalars || *beta != 0)
        add(&call, matrix(b, b_plain ? m : n, b_plain ? n : m, ldb, sizeof(T), true, false));
    add(&call, matrix(c, m, n, ldc, sizeof(T), false, true));
    return SUBMIT(sizeof(T));
}

static void WORK(symm)(const void *data)
{
    BEGIN_WORK;
    BLAS(symm)(CblasColMajor, as_side(t->side), as_fill(t->fill), t->m, t->n, ALPHA, A, t->lda, B, t->ldb, BETA, C,
               t->ldc);
}

API cublasStatus_t CUBLAS(symm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill, int m, int n,
                                const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc)
{
    BEGIN(symm, .side = side, .fill = fill, .m = m, .n = n, .alpha = alpha, .a = a, .lda = lda, .b = b, .ldb = ldb,
          .beta = beta, .c = c, .ldc = ldc);
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(order) && ldb >= at_least_1(m) && ldc >= at_least_1(m) && alpha && beta);
    add(&call, matrix(a, order, order, lda, sizeof(T), true, false));
    add(&call, matrix(b, m, n, ldb, sizeof(T), true, false));
    add(&call, matrix(c, m, n, ldc, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(syrk)(const void *data)
{
    BEGIN_WORK;
    BLAS(syrk)(CblasColMajor, as_fill(t->fill), as_trans(t->transa), t->n, t->k, ALPHA, A, t->lda, BETA, C, t->ldc);
}

API cublasStatus_t CUBLAS(syrk)(cublasHandle_t handle, cublasFillMode_t fill, cublasOperation_t trans, int n, int k,
                                const T *alpha, const T *a, int lda, const T *beta, T *c, int ldc)
{
    BEGIN(syrk, .fill = fill, .transa = trans, .n = n, .k = k, .alpha = alpha, .a = a, .lda = lda, .beta = beta, .c = c,
          .ldc = ldc);
    const int rows = trans == CUBLAS_OP_N ? n : k;
    CUBLAS_REQUIRE(n >= 0 && k >= 0 && lda >= at_least_1(rows) && ldc >= at_least_1(n) && alpha && beta);
    add(&call, matrix(a, rows, trans == CUBLAS_OP_N ? k : n, lda, sizeof(T), true, false));
    add(&call, matrix(c, n, n, ldc, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

static void WORK(trsm)(const void *data)
{
    BEGIN_WORK;
    BLAS(trsm)(CblasColMajor, as_side(t->side), as_fill(t->fill), as_trans(t->transa),
               t->diagonal == CUBLAS_DIAG_UNIT ? CblasUnit : CblasNonUnit, t->m, t->n, ALPHA, A, t->lda, C, t->ldc);
}

API cublasStatus_t CUBLAS(trsm)(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t fill,
                                cublasOperation_t trans, cublasDiagType_t diagonal, int m, int n, const T *alpha,
                                const T *a, int lda, T *b, int ldb)
{
    BEGIN(trsm, .side = side, .fill = fill, .transa = trans, .diagonal = diagonal, .m = m, .n = n, .alpha = alpha,
          .a = a, .lda = lda, .c = b, .ldc = ldb);
    const int order = side == CUBLAS_SIDE_LEFT ? m : n;
    CUBLAS_REQUIRE(m >= 0 && n >= 0 && lda >= at_least_1(order) && ldb >= at_least_1(m) && alpha);
    add(&call, matrix(a, order, order, lda, sizeof(T), true, false));
    add(&call, matrix(b, m, n, ldb, sizeof(T), true, true));
    return SUBMIT(sizeof(T));
}

// In-place LU decomposition. b, unless it is NULL, receives the row exchanged in each step; `a` receives the first step whose
// pivot is 0, counted from 1, or 0.
static void WORK(getrf)(const void *data)
{
    BEGIN_WORK;
    const int n = t->n, ld = t->ldc;
    int *const rows = t->b ? sim_memory_at(t->b) : NULL, *const info = sim_memory_at(t->a);
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

API cublasStatus_t CUBLAS(getrfBatched)(cublasHandle_t handle, int n, T *const matrices[], int lda, int *rows, int *info, int batch)
{
    cublasStatus_t status = check_pointer_lists(handle);
    CUBLAS_REQUIRE(n >= 0 && batch >= 0 && lda >= at_least_1(n) && info);
    for (int k = 0; k < batch && !status; k++) {
        T *a;
        int *const its_rows = rows ? rows + (size_t)k * (size_t)n : NULL;
        READ_LIST_ELEMENT(matrices + k, &a);
        BEGIN(getrf, .n = n, .a = info + k, .b = its_rows, .c = a, .ldc = lda);
        add(&call, matrix(a, n, n, lda, sizeof(T), true, true));
        add(&call, vector(info + k, 1, 1, sizeof *info, false, true));
        if (rows)
            add(&call, vector(its_rows, n, 1, sizeof *rows, false, true));
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
#undef BEGIN
#undef BEGIN_WORK
#undef RESULT
#undef REDUCTION
#undef REDUCE
#undef INDEX
#undef GEMM
