// The run of a program of ten-minutes/, as the player evaluates it after the lesson and the program's `expected`.
// HARNESS_N: elements.
static void launch(const float *in, float *out, int n);

static void harness()
{
    const int n = HARNESS_N;
    float values[HARNESS_N], *in, *out;
    for (int i = 0; i < n; i++)
        values[i] = i;
    host_check(cudaMalloc(&in, n * sizeof(float)), "cudaMalloc");
    host_check(cudaMalloc(&out, n * sizeof(float)), "cudaMalloc");
    host_check(cudaMemcpy(in, values, n * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    host_check(cudaMemset(out, 0, n * sizeof(float)), "cudaMemset");
    launch(in, out, n);
    host_check(cudaGetLastError(), "the launch");
    for (int i = 0; i < n; i++)
        values[i] = expected(i, n);
    host_expected(out, values, n * sizeof(float));
}
