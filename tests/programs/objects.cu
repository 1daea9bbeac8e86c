// C++ in kernels: virtual functions, new and delete, function pointers passed by the host, lambdas with captures,
// a struct as an argument, recursion.
#include "check.h"

enum { THREADS = 64 };

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual int area() const = 0;
};

struct Square : Shape {
    int side;
    __device__ explicit Square(int side) : side(side) {}
    __device__ int area() const override { return side * side; }
};

struct Ring : Shape {
    int *widths; // owned
    __device__ explicit Ring(int r) : widths(new int[2]) { widths[0] = r, widths[1] = 2 * r; }
    __device__ ~Ring() override { delete[] widths; }
    __device__ int area() const override { return 3 * (widths[1] * widths[1] - widths[0] * widths[0]); }
};

__global__ void areas(int *out)
{
    const int t = threadIdx.x;
    const Shape *shape = t % 3 ? static_cast<Shape *>(new Square(t)) : new Ring(t);
    out[t] = shape->area();
    delete shape;
}

typedef int Operation(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ Operation *device_add = add, *device_multiply = multiply; // the host cannot take a device function's address

__global__ void apply(Operation *operation, int *values)
{
    values[threadIdx.x] = operation(values[threadIdx.x], 2);
}

template <class Function> __global__ void for_each(Function function, int *values)
{
    values[threadIdx.x] = function(values[threadIdx.x]);
}

struct Scale { // callable on host and device
    int factor;
    __host__ __device__ int operator()(int x) const { return factor * x; }
};

struct __align__(16) Particle {
    float x, y, z;
    int id;
};

__global__ void move(Particle *particles, Particle by)
{
    Particle &p = particles[threadIdx.x];
    p = {p.x + by.x, p.y + by.y, p.z + by.z, p.id};
}

__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void numbers(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

int main()
{
    int *values = managed<int>(THREADS);
    areas<<<1, THREADS>>>(values);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++)
        CHECK(values[t] == (t % 3 ? t * t : 9 * t * t));

    Operation *operations[2];
    CUDA(cudaMemcpyFromSymbol(&operations[0], device_add, sizeof operations[0]));
    CUDA(cudaMemcpyFromSymbol(&operations[1], device_multiply, sizeof operations[1]));
    for (Operation *operation : operations)
        apply<<<1, THREADS>>>(operation, values);
    for_each<<<1, THREADS>>>(Scale{10}, values);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++)
        CHECK(values[t] == Scale{10}(2 * ((t % 3 ? t * t : 9 * t * t) + 2)));

    Particle *particles = managed<Particle>(THREADS);
    for (int t = 0; t < THREADS; t++)
        particles[t] = {1.0f * t, 2, 3, t};
    move<<<1, THREADS>>>(particles, {1, 0, -1, 0});
    numbers<<<1, 15>>>(values);
    CUDA(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++)
        CHECK(particles[t].x == t + 1 && particles[t].y == 2 && particles[t].z == 2 && particles[t].id == t);
    CHECK(values[14] == 377);
    printf("PASS\n");
}
