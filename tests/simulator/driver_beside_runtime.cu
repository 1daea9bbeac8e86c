// The runtime and the driver API in one program: they share memory, streams and kernels. With the path of libnvrtc as the
// argument, a kernel is also compiled from a string.
#include "../programs/check.h"
#include <cuda.h>
#include <dlfcn.h>
#include <string>

#define DRIVER(call) CHECK((call) == CUDA_SUCCESS)

__device__ int weight = 10;

__global__ void add(int *x, int what)
{
    x[threadIdx.x] += what + weight;
}

static int first_of(CUdeviceptr data)
{
    int value;
    DRIVER(cuMemcpyDtoH(&value, data, sizeof value));
    return value;
}

static void shared_core()
{
    int *x, what = 5, count;
    CUcontext context;
    CHECK(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED); // no API has been called yet
    CUDA(cudaMalloc(&x, 32 * sizeof *x));
    DRIVER(cuCtxGetCurrent(&context)); // the runtime is now initialised, with the primary context
    CHECK(context);
    CUstream stream;
    CUevent event;
    DRIVER(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    DRIVER(cuMemsetD32Async((CUdeviceptr)x, 7, 32, stream));
    add<<<1, 32, 0, stream>>>(x, what);
    CUDA(cudaEventCreate(&event));
    CUDA(cudaEventRecord(event, stream));
    DRIVER(cuEventSynchronize(event));
    CHECK(first_of((CUdeviceptr)x) == 22);

    cudaFunction_t function; // a kernel of the program, launched by the driver API
    void *arguments[] = {&x, &what};
    CUDA(cudaGetFuncBySymbol(&function, (const void *)add));
    DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL));
    CHECK(first_of((CUdeviceptr)x) == 37);
    CUDA(cudaStreamDestroy(stream));
    CHECK(cuStreamSynchronize(stream) == CUDA_ERROR_INVALID_HANDLE);

    CUresult (*allocate)(CUdeviceptr *, size_t); // a driver function, found through the runtime
    CUdeviceptr y;
    cudaDriverEntryPointQueryResult found;
    CUDA(cudaGetDriverEntryPointByVersion("cuMemAlloc", (void **)&allocate, CUDART_VERSION, cudaEnableDefault, &found));
    CHECK(found == cudaDriverEntryPointSuccess);
    DRIVER(allocate(&y, 64));
    CUDA(cudaMemset((void *)y, 0, 64));
    CHECK(first_of(y) == 0);
    CHECK(cuMemFree(y + 4) == CUDA_ERROR_INVALID_VALUE && cudaGetLastError() == cudaSuccess);
    CUDA(cudaFree((void *)y));
}

template <class F> static F symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    CHECK(found);
    return (F)found;
}

static void compiled_from_a_string(const char *path)
{
    static const char SOURCE[] = "extern \"C\" __global__ void fill(float *x, float y) { x[blockIdx.x * blockDim.x + threadIdx.x] = y; }";
    static const char *const OPTIONS[] = {"--gpu-architecture=compute_90"};
    void *nvrtc = dlopen(path, RTLD_NOW), *program;
    CHECK(nvrtc);
    size_t bytes;
    CHECK(symbol<int (*)(void **, const char *, const char *, int, const char *const *, const char *const *)>(nvrtc, "nvrtcCreateProgram")(
              &program, SOURCE, "fill.cu", 0, NULL, NULL) == 0);
    CHECK(symbol<int (*)(void *, int, const char *const *)>(nvrtc, "nvrtcCompileProgram")(program, 1, OPTIONS) == 0);
    CHECK(symbol<int (*)(void *, size_t *)>(nvrtc, "nvrtcGetPTXSize")(program, &bytes) == 0);
    std::string ptx(bytes, 0);
    CHECK(symbol<int (*)(void *, char *)>(nvrtc, "nvrtcGetPTX")(program, &ptx[0]) == 0);
    CUmodule module;
    CUfunction fill;
    float *x, y = 2.5f;
    CUDA(cudaMallocManaged(&x, 128 * sizeof *x));
    DRIVER(cuModuleLoadData(&module, ptx.c_str()));
    DRIVER(cuModuleGetFunction(&fill, module, "fill"));
    void *arguments[] = {&x, &y};
    DRIVER(cuLaunchKernel(fill, 4, 1, 1, 32, 1, 1, 0, 0, arguments, NULL));
    DRIVER(cuCtxSynchronize());
    CHECK(x[0] == 2.5f && x[127] == 2.5f);
    DRIVER(cuModuleUnload(module));
    printf("NVRTC\n");
}

int main(int argc, char **argv)
{
    shared_core();
    if (argc > 1)
        compiled_from_a_string(argv[1]);
    printf("PASS\n");
}
