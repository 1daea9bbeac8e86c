// The first run of the harness of step00_baseline/reduce.cu, as the player evaluates it after a lesson's text. The program allocates
// more than n elements, for its other runs; here `in` ends after n, so that a read past n is an error.
// HARNESS_N: elements; HARNESS_DATA: 0 as in docs/check.md, 1 ones, 2 ascending, 3 alternating.
static long long partial_count(long long n);
static void launch(const float *in, float *out, long long n);

static void check(cudaError_t error, const char *call, const char *file, int line)
{
    host_check(error, call);
}

static void harness()
{
    const long long partials = partial_count(HARNESS_N);
    host_require(partials > 0, "partial_count(n) is less than 1, and each pass leaves at least one sum");
    float *in, *scratch;
    check(cudaMalloc(&in, HARNESS_N * sizeof(float)), "cudaMalloc", "", 0);
    check(cudaMalloc(&scratch, 2 * partials * sizeof(float)), "cudaMalloc", "", 0);
    host_sum_data(in, HARNESS_N, HARNESS_DATA);
    check(cudaMemset(scratch, 0xff, 2 * partials * sizeof(float)), "cudaMemset", "", 0);
    const float *from = in;
    long long left;
    int launches = 0;
    for (long long n = HARNESS_N; n > 1 || launches == 0; n = left) {
        float *out = scratch + launches % 2 * partials;
        launch(from, out, n);
        from = out;
        launches++;
        left = partial_count(n);
        host_require(n == 1 || left < n, "partial_count(n) is not less than n, so the passes do not end");
    }
    host_sum_expected(from, HARNESS_N, HARNESS_DATA);
}
