// A kernel of much arithmetic on memory that nobody wrote, or, with an argument, on memory that somebody did.
__global__ void average(const float *x, float *y)
{
    const int i = threadIdx.x + blockDim.x * blockIdx.x;
    float in = x[i], out = 0;
    for (int k = 0; k < 22; k++) {
        out += expf(-0.5f * in * in);
        in += 0.01f;
    }
    y[i] = out;
}

int main(int count, char **)
{
    const int n = 1 << 18;
    float *x, *y;
    cudaMalloc(&x, n * sizeof *x);
    cudaMalloc(&y, n * sizeof *y);
    if (count > 1)
        cudaMemset(x, 0, n * sizeof *x);
    average<<<n / 256, 256>>>(x, y);
    cudaDeviceSynchronize();
}
