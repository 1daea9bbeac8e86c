// library_host.c: CUDA runtime functions, declared if host code is evaluated. host_calls.c implements those without a body.
#include "compiler/library_text.h"

// The kernel parameter accepts a function or its address.
#define OF_KERNEL(name, ...) template <class Kernel> cudaError_t name(__VA_ARGS__);

const LibraryEntry LIBRARY_HOST[] = {
    {"cudaGetLastError cudaPeekAtLastError", LIBRARY_HOST_ONLY, "cudaError_t cudaGetLastError(); cudaError_t cudaPeekAtLastError();"},
    {"cudaGetErrorString cudaGetErrorName", LIBRARY_HOST_ONLY,
     "inline const char *cudaGetErrorString(cudaError_t error) { return \"a CUDA error\"; } "
     "inline const char *cudaGetErrorName(cudaError_t error) { return \"a CUDA error\"; }"},
    {"cudaDeviceSynchronize", LIBRARY_HOST_ONLY, "inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }"},
    {"cudaStreamCreate", LIBRARY_HOST_ONLY, "inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { *stream = nullptr; return cudaSuccess; }"},
    {"cudaStreamDestroy", LIBRARY_HOST_ONLY, "inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }"},
    {"cudaStreamSynchronize", LIBRARY_HOST_ONLY, "inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }"},
    {"cudaMemcpyKind cudaMemcpyHostToHost cudaMemcpyHostToDevice cudaMemcpyDeviceToHost cudaMemcpyDeviceToDevice cudaMemcpyDefault", LIBRARY_HOST_ONLY,
     "enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };"},
    {"cudaMalloc", LIBRARY_HOST_ONLY,
     "cudaError_t cudaMalloc(void **pointer, size_t bytes); "
     "template <class T> cudaError_t cudaMalloc(T **pointer, size_t bytes) { return cudaMalloc((void **)pointer, bytes); }"},
    {"cudaMallocAsync", LIBRARY_HOST_ONLY,
     "template <class T> cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t) { return cudaMalloc((void **)pointer, bytes); }"},
    {"cudaFree", LIBRARY_HOST_ONLY, "cudaError_t cudaFree(void *pointer);"},
    {"cudaFreeAsync", LIBRARY_HOST_ONLY, "inline cudaError_t cudaFreeAsync(void *pointer, cudaStream_t) { return cudaFree(pointer); }"},
    {"cudaMemset", LIBRARY_HOST_ONLY, "cudaError_t cudaMemset(void *pointer, int value, size_t bytes);"},
    {"cudaMemsetAsync", LIBRARY_HOST_ONLY,
     "inline cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream = nullptr) { return cudaMemset(pointer, value, bytes); }"},
    {"cudaMemcpy", LIBRARY_HOST_ONLY, "cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);"},
    {"cudaMemcpyAsync", LIBRARY_HOST_ONLY,
     "inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr) "
     "{ return cudaMemcpy(to, from, bytes, kind); }"},
    {"cudaGetSymbolAddress", LIBRARY_HOST_ONLY,
     "template <class T> cudaError_t cudaGetSymbolAddress(void **pointer, T &symbol) { *pointer = (void *)&symbol; return cudaSuccess; }"},
    {"cudaMemcpyToSymbol cudaMemcpyToSymbolAsync", LIBRARY_HOST_ONLY,
     "template <class T> cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0, "
     "cudaMemcpyKind kind = cudaMemcpyHostToDevice) { return cudaMemcpy((char *)&symbol + offset, from, bytes, kind); } "
     "template <class T> cudaError_t cudaMemcpyToSymbolAsync(T &symbol, const void *from, size_t bytes, size_t offset = 0, "
     "cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) { return cudaMemcpy((char *)&symbol + offset, from, bytes, kind); }"},
    {"cudaDeviceAttr cudaDevAttrMaxThreadsPerBlock cudaDevAttrMaxSharedMemoryPerBlock cudaDevAttrWarpSize cudaDevAttrMaxRegistersPerBlock "
     "cudaDevAttrClockRate cudaDevAttrMultiProcessorCount cudaDevAttrMemoryClockRate cudaDevAttrGlobalMemoryBusWidth cudaDevAttrL2CacheSize "
     "cudaDevAttrMaxThreadsPerMultiProcessor cudaDevAttrComputeCapabilityMajor cudaDevAttrComputeCapabilityMinor "
     "cudaDevAttrMaxSharedMemoryPerMultiprocessor cudaDevAttrMaxRegistersPerMultiprocessor cudaDevAttrCooperativeLaunch "
     "cudaDevAttrMaxSharedMemoryPerBlockOptin cudaDevAttrMaxBlocksPerMultiprocessor cudaDevAttrClusterLaunch", LIBRARY_HOST_ONLY,
     "enum cudaDeviceAttr { cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrWarpSize = 10, "
     "cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate = 13, cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMemoryClockRate = 36, "
     "cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39, "
     "cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, "
     "cudaDevAttrMaxRegistersPerMultiprocessor = 82, cudaDevAttrCooperativeLaunch = 95, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, "
     "cudaDevAttrMaxBlocksPerMultiprocessor = 106, cudaDevAttrClusterLaunch = 120 };"},
    {"cudaDeviceGetAttribute", LIBRARY_HOST_ONLY, "cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);"},
    {"cudaGetDevice", LIBRARY_HOST_ONLY, "inline cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }"},
    {"cudaSetDevice", LIBRARY_HOST_ONLY, "inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }"},
    {"cudaGetDeviceCount", LIBRARY_HOST_ONLY, "inline cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }"},
    {"cudaFuncAttributes", LIBRARY_HOST_ONLY,
     "struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion; };"},
    {"cudaFuncGetAttributes", LIBRARY_HOST_ONLY, EXPANDED_TEXT(OF_KERNEL(cudaFuncGetAttributes, cudaFuncAttributes *attributes, Kernel *kernel))},
    {"cudaFuncAttribute cudaFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributePreferredSharedMemoryCarveout "
     "cudaFuncAttributeNonPortableClusterSizeAllowed", LIBRARY_HOST_ONLY,
     "enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9, "
     "cudaFuncAttributeNonPortableClusterSizeAllowed = 14 };"},
    {"cudaFuncSetAttribute", LIBRARY_HOST_ONLY, EXPANDED_TEXT(OF_KERNEL(cudaFuncSetAttribute, Kernel *kernel, cudaFuncAttribute attribute, int value))},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", LIBRARY_HOST_ONLY,
     EXPANDED_TEXT(OF_KERNEL(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, Kernel *kernel, int threads, size_t bytes))},
    {"cudaLaunchAttributeID cudaLaunchAttributeIgnore cudaLaunchAttributeCooperative cudaLaunchAttributeClusterDimension "
     "cudaLaunchAttributeProgrammaticStreamSerialization", LIBRARY_HOST_ONLY,
     "enum cudaLaunchAttributeID { cudaLaunchAttributeIgnore, cudaLaunchAttributeAccessPolicyWindow, cudaLaunchAttributeCooperative, "
     "cudaLaunchAttributeSynchronizationPolicy, cudaLaunchAttributeClusterDimension, cudaLaunchAttributeClusterSchedulingPolicyPreference, "
     "cudaLaunchAttributeProgrammaticStreamSerialization };"},
    {"cudaLaunchAttributeValue", LIBRARY_HOST_ONLY,
     "struct cudaClusterDimension { unsigned x, y, z; }; "
     "union cudaLaunchAttributeValue { char pad[64]; int cooperative; cudaClusterDimension clusterDim; int programmaticStreamSerializationAllowed; };"},
    {"cudaLaunchAttribute", LIBRARY_HOST_ONLY, "struct cudaLaunchAttribute { cudaLaunchAttributeID id; char pad[4]; cudaLaunchAttributeValue val; };"},
    {"cudaLaunchConfig_t", LIBRARY_HOST_ONLY,
     "struct cudaLaunchConfig_t { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs; unsigned numAttrs; };"},
    {"cudaOccupancyMaxActiveClusters", LIBRARY_HOST_ONLY,
     EXPANDED_TEXT(OF_KERNEL(cudaOccupancyMaxActiveClusters, int *clusters, Kernel *kernel, const cudaLaunchConfig_t *config))},
    {"cudaLaunchKernelEx", LIBRARY_HOST_ONLY,
     "template <class Kernel, class... Arguments> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, Kernel *kernel, Arguments... arguments);"},
    {"FILE stderr stdout", LIBRARY_HOST_ONLY, "typedef struct _IO_FILE FILE; static FILE *const stderr = nullptr; static FILE *const stdout = nullptr;"},
    {"fprintf", LIBRARY_HOST_ONLY, "int fprintf(FILE *file, const char *format, ...);"},
    {"exit", LIBRARY_HOST_ONLY, "void exit(int status);"},
    {"EXIT_SUCCESS EXIT_FAILURE", LIBRARY_HOST_ONLY, "enum { EXIT_SUCCESS, EXIT_FAILURE };"},
    // Functions of the harness
    {"host_check host_require host_sum_data host_sum_expected host_scan_data host_scan_expected host_expected", LIBRARY_HOST_ONLY,
     "void host_check(cudaError_t error, const char *call); "
     "void host_require(bool condition, const char *message); "
     "void host_sum_data(float *to, long long count, int data); "
     "void host_sum_expected(const float *from, long long n, int data); "
     "void host_scan_data(float *to, long long count, int data); "
     "void host_scan_expected(const float *from, long long n, bool exclusive, int data); "
     "void host_expected(const void *from, const void *values, size_t bytes);"},
    {NULL, NULL, NULL},
};
