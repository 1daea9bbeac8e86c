// The first run of the harness of scan/step00_baseline/scan.cu, as the player evaluates it after a lesson's text.
// HARNESS_N: elements; HARNESS_DATA: 0 as in docs/check.md, 1 ones, 2 ascending, 3 alternating.
static long long scratch_count(long long n);
static int launch(const float *in, float *out, long long n, bool exclusive, float *scratch);

// The chosen sum of elements 0 to i, which some experiments on scans use.
__device__ float sum_up_to(long long i, unsigned long long run)
{
    unsigned long long bits = (i + 1) * 0x9e3779b97f4a7c15u + (run << 56);
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return i < 0 ? 0.0f : (float)(2 * (int)(bits >> 50) + (int)(i & 1) - (1 << 14));
}

static void check(cudaError_t error, const char *call, const char *file, int line)
{
    host_check(error, call);
}

static void harness()
{
    const long long count = scratch_count(HARNESS_N);
    host_require(count >= 0, "scratch_count(n) is negative");
    float *in, *out, *scratch;
    check(cudaMalloc(&in, HARNESS_N * sizeof(float)), "cudaMalloc", "", 0);
    check(cudaMalloc(&out, HARNESS_N * sizeof(float)), "cudaMalloc", "", 0);
    check(cudaMalloc(&scratch, (count + 1) * sizeof(float)), "cudaMalloc", "", 0);
    host_scan_data(in, HARNESS_N, HARNESS_DATA);
    check(cudaMemset(out, 0xff, HARNESS_N * sizeof(float)), "cudaMemset", "", 0);
    check(cudaMemset(scratch, 0xff, count * sizeof(float)), "cudaMemset", "", 0);
    launch(in, out, HARNESS_N, false, scratch);
    host_scan_expected(out, HARNESS_N, false, HARNESS_DATA);
}
