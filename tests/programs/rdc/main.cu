// Separate compilation: functions, variables, constants, shared memory, kernels and function pointers of another file.
// Build: nvcc -rdc=true main.cu parts.cu
#include "../check.h"
#include "parts.h"

static __device__ int own = 1; // parts.cu has another one
static __device__ __noinline__ int helper(int x) { return x - own; }

struct Square : Shape {
    __device__ int area() const override { return 10 * Shape::area(); }
};

__global__ void use(int *out)
{
    const int t = threadIdx.x;
    __shared__ int place; // in addition to block_sum's own
    dynamic[t] = 3 * t;
    if (t == 0)
        place = 2;
    __syncthreads();
    Square square;
    square.side = t;
    const Shape *shape = t % 2 ? &square : static_cast<Shape *>(&square);
    out[0 * THREADS + t] = scaled(t);
    out[1 * THREADS + t] = from_dynamic(THREADS - 1 - t);
    out[2 * THREADS + t] = chosen(t);
    out[3 * THREADS + t] = table[t % TABLE](t);
    out[4 * THREADS + t] = values[t % 3] + factor;
    out[5 * THREADS + t] = block_sum(t) + place;
    out[6 * THREADS + t] = helper(add<3>(t));
    out[7 * THREADS + t] = shape->area();
}

int main()
{
    int *out = managed<int>(8 * THREADS), two = 2, counted;
    CUDA(cudaMemcpyToSymbol(factor, &two, sizeof two));
    use<<<1, THREADS, THREADS * sizeof(int)>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++) {
        const int expected[] = {2 * t + 100, 3 * (THREADS - 1 - t), t * t, t % TABLE == 0 ? -t : t % TABLE == 1 ? t * t : t + 3,
                                5 + t % 3 + 2, THREADS * (THREADS - 1) / 2 + 2, t + 3 - 1, 10 * t * t};
        for (int row = 0; row < 8; row++)
            CHECK(out[row * THREADS + t] == expected[row]);
    }
    CUDA(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
    CHECK(counted == THREADS);

    fill<<<1, THREADS>>>(out);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++)
        CHECK(out[t] == THREADS - 1 - t);
    CHECK(total == 1000 + THREADS - 1);
    printf("PASS\n");
}
