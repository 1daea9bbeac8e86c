// The kernels of a first course: `everyday NAME` runs one. `make bench-sim` measures them.
#include <cstdio>
#include <cstring>

enum { N = 256, WIDTH = 1024, TILE = 16, BODIES = 4096, ROWS = 1024, BYTES = 4 * WIDTH * WIDTH };

// Matrix product, one thread an element of c. Neighbouring lanes have neighbours in a row of c, or in a column.
__global__ void product(const float *a, const float *b, float *c, bool by_columns)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int row = by_columns ? x : y, column = by_columns ? y : x;
    float sum = 0;
    for (int k = 0; k < N; k++)
        sum += a[row * N + k] * b[k * N + column];
    c[row * N + column] = sum;
}

__global__ void product_in_tiles(const float *a, const float *b, float *c)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int t = 0; t < N; t += TILE) {
        left[y][x] = a[row * N + t + x];
        right[y][x] = b[(t + y) * N + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

__global__ void histogram(const unsigned char *values, int *bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < BYTES; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[values[i]], 1);
}

__global__ void blur(const float *in, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += in[min(max(y + dy, 0), WIDTH - 1) * WIDTH + min(max(x + dx, 0), WIDTH - 1)];
    out[y * WIDTH + x] = sum / 25;
}

__global__ void forces(const float4 *bodies, float4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float4 own = bodies[i];
    float4 force = {0, 0, 0, 0};
    for (int k = 0; k < BODIES; k++) {
        const float4 other = bodies[k];
        const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
        const float near = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f), pull = other.w * near * near * near;
        force.x += dx * pull;
        force.y += dy * pull;
        force.z += dz * pull;
    }
    out[i] = force;
}

__global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[32][33];
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * WIDTH + x];
    __syncthreads();
    const int to_x = blockIdx.y * 32 + threadIdx.x, to_y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(to_y + k) * WIDTH + to_x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void conway(const int *in, int *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            alive += dx || dy ? in[(y + dy + WIDTH) % WIDTH * WIDTH + (x + dx + WIDTH) % WIDTH] : 0;
    out[y * WIDTH + x] = alive == 3 || (alive == 2 && in[y * WIDTH + x]);
}

__global__ void softmax(const float *in, float *out)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) * ROWS;
    float most = -1e30f, sum = 0;
    for (int k = 0; k < ROWS; k++)
        most = fmaxf(most, in[row + k]);
    for (int k = 0; k < ROWS; k++)
        sum += __expf(in[row + k] - most);
    for (int k = 0; k < ROWS; k++)
        out[row + k] = __expf(in[row + k] - most) / sum;
}

__global__ void mandelbrot(int *out)
{
    const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    const float cx = 3.0f * px / WIDTH - 2, cy = 3.0f * py / WIDTH - 1.5f;
    float x = 0, y = 0;
    int turns = 0;
    while (turns < 200 && x * x + y * y < 4) {
        const float next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        turns++;
    }
    out[py * WIDTH + px] = turns;
}

int main(int argc, char **argv)
{
    void *a, *b, *c;
    for (void **memory : {&a, &b, &c}) {
        cudaMalloc(memory, BYTES);
        cudaMemset(*memory, 0, BYTES);
    }
    const float *in = static_cast<float *>(a), *second = static_cast<float *>(b);
    float *out = static_cast<float *>(c);
    int *numbers = static_cast<int *>(c);
    const dim3 small(TILE, TILE), tiles(N / TILE, N / TILE), image(WIDTH / TILE, WIDTH / TILE);
    const char *name = argc > 1 ? argv[1] : "";
    if (!strcmp(name, "product"))
        product<<<tiles, small>>>(in, second, out, false);
    else if (!strcmp(name, "product_32x32"))
        product<<<dim3(N / 32, N / 32), dim3(32, 32)>>>(in, second, out, false);
    else if (!strcmp(name, "product_by_columns"))
        product<<<tiles, small>>>(in, second, out, true);
    else if (!strcmp(name, "product_in_tiles"))
        product_in_tiles<<<tiles, small>>>(in, second, out);
    else if (!strcmp(name, "histogram"))
        histogram<<<64, 256>>>(static_cast<unsigned char *>(a), numbers);
    else if (!strcmp(name, "blur"))
        blur<<<image, small>>>(in, out);
    else if (!strcmp(name, "forces"))
        forces<<<BODIES / 256, 256>>>(static_cast<float4 *>(a), static_cast<float4 *>(c));
    else if (!strcmp(name, "transpose"))
        transpose<<<dim3(WIDTH / 32, WIDTH / 32), dim3(32, 8)>>>(in, out);
    else if (!strcmp(name, "conway"))
        conway<<<image, small>>>(static_cast<int *>(a), numbers);
    else if (!strcmp(name, "softmax"))
        softmax<<<ROWS / 256, 256>>>(in, out);
    else if (!strcmp(name, "mandelbrot"))
        mandelbrot<<<image, small>>>(numbers);
    else
        return 2;
    int first;
    const cudaError_t status = cudaMemcpy(&first, c, sizeof first, cudaMemcpyDeviceToHost);
    if (status != cudaSuccess)
        printf("%s\n", cudaGetErrorString(status));
    for (void *memory : {a, b, c})
        cudaFree(memory);
    return status;
}
