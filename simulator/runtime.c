// runtime.c: the functions of the CUDA runtime, and those that nvcc's code calls.
//
// All work is done when it is asked for, so streams and events have nothing to wait for. What a
// function does and returns is NVIDIA's "CUDA Runtime API"; only differences are commented.
#include "sim.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define UNUSED(x) ((void)(x))

// ---- Errors

static _Thread_local cudaError_t last_error; // of this host thread
static _Atomic cudaError_t sticky_error;     // of the process

// Remembers a failed call's error, for cudaGetLastError.
static cudaError_t done(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

// What a call gives that comes after a kernel has failed: the same error, until a reset.
#define STOP_IF_BROKEN()              \
    do {                              \
        if (sticky_error)             \
            return done(sticky_error); \
    } while (0)

// Host threads that look at memory, change it or run kernels do so one after the other.
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t *lock_memory(void)
{
    pthread_mutex_lock(&memory_lock);
    return &memory_lock;
}

static void unlock_memory(pthread_mutex_t **lock)
{
    pthread_mutex_unlock(*lock);
}

// The lock is held until the function ends.
#define HOLD_MEMORY() __attribute__((cleanup(unlock_memory), unused)) pthread_mutex_t *held = lock_memory()

// A kernel's failure is told once here, as any other, and by all calls that do something.
API cudaError_t cudaGetLastError(void)
{
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

API cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} ERRORS[] = {
#define ERROR(name, text) {name, #name, text}
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument"),
    ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument"),
    ERROR(cudaErrorInvalidSymbol, "invalid device symbol"),
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInvalidDeviceFunction, "invalid device function"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorAssert, "device-side assert triggered"),
    ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered"),
    ERROR(cudaErrorMisalignedAddress, "misaligned address"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain."),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ERROR(cudaErrorUnknown, "unknown error"),
};

API const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t k = 0; k < sizeof ERRORS / sizeof *ERRORS; k++)
        if (ERRORS[k].error == error)
            return ERRORS[k].name;
    return "unrecognized error code";
}

API const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t k = 0; k < sizeof ERRORS / sizeof *ERRORS; k++)
        if (ERRORS[k].error == error)
            return ERRORS[k].text;
    return "unrecognized error code";
}

// ---- What the program registers before main: fat binaries, kernels, variables

enum { MOST_TEXTS = 32 };

typedef struct Binary {
    Module *module;
    Arena arena;
    struct Binary *next;
} Binary;

typedef struct Kernel {
    const void *host; // the address by which the program knows it
    const char *name;
    Binary *binary;
    int max_dynamic_bytes; // cudaFuncAttributeMaxDynamicSharedMemorySize, -1 if not set
    struct Kernel *next;
} Kernel;

typedef struct Symbol {
    const void *host;
    const char *name;
    size_t bytes;
    Binary *binary;
    void **managed; // where the program keeps its pointer to a managed variable
    struct Symbol *next;
} Symbol;

static Binary *binaries;
static Kernel *kernels;
static Symbol *symbols;

// The PTX for the highest architecture that the device's, 9.0, can run.
static Module *choose_module(const char *const *texts, int count)
{
    Module *best = NULL;
    for (int k = 0; k < count; k++) {
        Module *m = sim_load_module(texts[k]);
        if (m->target <= 90 && (!best || best->error[0] || (m->target > best->target && !m->error[0])))
            best = m;
    }
    return best;
}

API void **__cudaRegisterFatBinary(void *fat_cubin)
{
    const struct {
        int magic, version;
        const uint8_t *data;
        void *other;
    } *wrapper = fat_cubin;
    Binary *binary = calloc(1, sizeof *binary);
    const char *texts[MOST_TEXTS], *why = "it holds no PTX: build the program with nvcc's -arch=sm_NN, not with code=sm_NN alone";
    uint64_t payload = 0;
    if (!binary)
        abort();
    memcpy(&payload, wrapper->data + 8, sizeof payload); // its own header says how large it is
    const int count = sim_fatbin_texts(wrapper->data, (size_t)payload + 16, &binary->arena, texts, MOST_TEXTS, &why);
    binary->module = count > 0 ? choose_module(texts, count) : NULL;
    if (count <= 0)
        fprintf(stderr, "simulator: the program's fat binary: %s\n", why);
    if (binary->module && binary->module->error[0])
        fprintf(stderr, "simulator: %s\n", binary->module->error);
    binary->next = binaries;
    binaries = binary;
    return (void **)binary;
}

API void __cudaRegisterFatBinaryEnd(void **handle)
{
    UNUSED(handle);
}

API void __cudaUnregisterFatBinary(void **handle)
{
    UNUSED(handle); // at the program's end, when all is given back anyway
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                                uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp_size)
{
    UNUSED(device), UNUSED(thread_limit), UNUSED(tid), UNUSED(bid), UNUSED(block), UNUSED(grid), UNUSED(warp_size);
    Kernel *k = calloc(1, sizeof *k);
    if (!k)
        abort();
    *k = (Kernel){.host = host, .name = name, .binary = (Binary *)handle, .max_dynamic_bytes = -1, .next = kernels};
    kernels = k;
}

static Variable *variable_of(const Symbol *s)
{
    const Module *m = s->binary->module;
    return m ? sim_find_variable(m->variables, (Slice){s->name, strlen(s->name)}) : NULL;
}

static void register_symbol(void **handle, const void *host, const char *name, size_t bytes, void **managed)
{
    Symbol *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    *s = (Symbol){host, name, bytes, (Binary *)handle, managed, symbols};
    symbols = s;
    const Variable *v = variable_of(s);
    if (managed && v)
        *managed = (void *)(uintptr_t)v->address;
}

API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant, int global)
{
    UNUSED(device), UNUSED(ext), UNUSED(constant), UNUSED(global);
    register_symbol(handle, host, name, size, NULL);
}

API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext, size_t size, int constant, int global)
{
    UNUSED(device), UNUSED(ext), UNUSED(constant), UNUSED(global);
    register_symbol(handle, host, name, size, host);
}

API char __cudaInitModule(void **handle)
{
    UNUSED(handle);
    return 1;
}

static Kernel *kernel_of(const void *host)
{
    for (Kernel *k = kernels; k; k = k->next)
        if (k->host == host)
            return k;
    return NULL;
}

static cudaError_t find_function(const void *host, Kernel **kernel, const Function **function)
{
    *kernel = kernel_of(host);
    if (!*kernel)
        return cudaErrorInvalidDeviceFunction;
    const Module *m = (*kernel)->binary->module;
    if (!m)
        return cudaErrorNoKernelImageForDevice;
    if (m->error[0])
        return cudaErrorInvalidPtx;
    *function = sim_find_function(m, (Slice){(*kernel)->name, strlen((*kernel)->name)});
    return *function && (*function)->defined ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

// ---- Launches

enum { MAX_THREADS = 1024 };
static const size_t LEAST_STACK = 65536, LARGEST_STACK = 1 << 20;
// Those that cudaDeviceSetLimit knows; only the stack's changes anything.
static const size_t USUAL_LIMITS[] = {[cudaLimitStackSize] = 1024, [cudaLimitPrintfFifoSize] = 1 << 20,
                                      [cudaLimitMallocHeapSize] = 8 << 20, [cudaLimitMaxL2FetchGranularity] = 64};
enum { LIMITS = sizeof USUAL_LIMITS / sizeof *USUAL_LIMITS };
static size_t limits_set[LIMITS]; // by the program, or 0
static _Thread_local struct {
    dim3 grid, block;
    size_t dynamic_bytes;
    cudaStream_t stream;
} configuration; // of kernel<<<...>>>, between its two calls

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_bytes, cudaStream_t stream)
{
    configuration.grid = grid;
    configuration.block = block;
    configuration.dynamic_bytes = dynamic_bytes;
    configuration.stream = stream;
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_bytes, void *stream)
{
    *grid = configuration.grid;
    *block = configuration.block;
    *dynamic_bytes = configuration.dynamic_bytes;
    memcpy(stream, &configuration.stream, sizeof configuration.stream);
    return cudaSuccess;
}

// What the program has set for the kernel, or what all have.
static size_t most_dynamic_bytes(const Kernel *kernel, const Function *f)
{
    const size_t usual = (size_t)sim_device()->shared_per_block;
    if (kernel->max_dynamic_bytes >= 0)
        return (size_t)kernel->max_dynamic_bytes;
    return usual > f->shared_bytes ? usual - f->shared_bytes : 0;
}

static cudaError_t check_launch(const Kernel *kernel, const Function *f, dim3 grid, dim3 block, size_t dynamic_bytes)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (threads == 0 || threads > MAX_THREADS || block.x > 1024 || block.y > 1024 || block.z > 64 || grid.x == 0 ||
        grid.y == 0 || grid.z == 0 || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    const uint64_t most = f->max_threads ? (uint64_t)f->max_threads : MAX_THREADS;
    if (threads > most || (f->exact_threads && threads < most) ||
        f->shared_bytes > (size_t)sim_device()->shared_per_block)
        return cudaErrorInvalidValue;
    if (f->cluster_blocks > 1) {
        fprintf(stderr, "simulator: kernel %s: clusters, here of %d blocks, are not supported\n", kernel->name,
                f->cluster_blocks);
        return cudaErrorNotSupported;
    }
    return dynamic_bytes > most_dynamic_bytes(kernel, f) ? cudaErrorInvalidValue : cudaSuccess;
}

// Whether the device holds all blocks of a grid at once.
static bool fits_at_once(const Function *f, dim3 grid, dim3 block, size_t dynamic_bytes)
{
    const int per_sm = sim_blocks_per_sm(f, (int)(block.x * block.y * block.z), dynamic_bytes);
    return (uint64_t)grid.x * grid.y * grid.z <= (uint64_t)per_sm * (uint64_t)sim_device()->sm_count;
}

static cudaError_t launch_kernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, bool cooperative)
{
    Kernel *kernel;
    const Function *f;
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    cudaError_t error = find_function(host, &kernel, &f);
    if (!error)
        error = check_launch(kernel, f, grid, block, dynamic_bytes);
    if (!error && cooperative && !fits_at_once(f, grid, block, dynamic_bytes))
        error = cudaErrorCooperativeLaunchTooLarge;
    if (error)
        return done(error);
    const size_t asked = limits_set[cudaLimitStackSize], stack = asked > LEAST_STACK ? asked : LEAST_STACK;
    sticky_error = (cooperative ? sim_launch_cooperative : sim_launch)(kernel->binary->module, f, grid, block, dynamic_bytes,
                                                                       stack, arguments);
    if (sticky_error)
        last_error = sticky_error;
    return cudaSuccess; // as on a GPU, the next call tells that the kernel failed
}

API cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return launch_kernel(host, grid, block, arguments, dynamic_bytes, false);
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t)(uintptr_t)host;
    return cudaSuccess;
}

API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_bytes, stream);
}

API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_bytes, stream);
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host, void **arguments)
{
    bool cooperative = false;
    for (unsigned k = 0; k < config->numAttrs; k++) { // others are hints
        if (config->attrs[k].id == cudaLaunchAttributeClusterDimension)
            return done(cudaErrorNotSupported);
        if (config->attrs[k].id == cudaLaunchAttributeCooperative)
            cooperative = config->attrs[k].val.cooperative != 0;
    }
    return launch_kernel(host, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, cooperative);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return launch_kernel(host, grid, block, arguments, bytes, true);
}

API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    UNUSED(stream);
    STOP_IF_BROKEN();
    function(data);
    return cudaSuccess;
}

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host)
{
    Kernel *kernel;
    const Function *f;
    STOP_IF_BROKEN();
    const cudaError_t error = find_function(host, &kernel, &f);
    if (error)
        return done(error);
    memset(attributes, 0, sizeof *attributes);
    const int target = kernel->binary->module->target;
    attributes->sharedSizeBytes = f->shared_bytes;
    attributes->localSizeBytes = f->local_bytes;
    attributes->maxThreadsPerBlock = f->max_threads ? f->max_threads : MAX_THREADS;
    attributes->numRegs = 32; // decided by the last stage of nvcc, which PTX does not go through
    attributes->ptxVersion = attributes->binaryVersion = target;
    attributes->maxDynamicSharedSizeBytes = (int)most_dynamic_bytes(kernel, f);
    attributes->preferredShmemCarveout = -1;
    return cudaSuccess;
}

API cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    Kernel *kernel;
    const Function *f;
    STOP_IF_BROKEN();
    const cudaError_t error = find_function(host, &kernel, &f);
    if (error)
        return done(error);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
        const int most = sim_device()->shared_per_block_optin - (int)f->shared_bytes;
        if (value < 0 || value > most)
            return done(cudaErrorInvalidValue);
        kernel->max_dynamic_bytes = value;
        return cudaSuccess;
    }
    switch (attribute) {
    case cudaFuncAttributePreferredSharedMemoryCarveout:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess; // hints
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        return done(cudaErrorNotSupported);
    default:
        return done(cudaErrorInvalidValue);
    }
}

API cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
    UNUSED(config);
    STOP_IF_BROKEN();
    return kernel_of(host) ? cudaSuccess : done(cudaErrorInvalidDeviceFunction);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads, size_t dynamic_bytes, unsigned flags)
{
    Kernel *kernel;
    const Function *f;
    UNUSED(flags);
    STOP_IF_BROKEN();
    const cudaError_t error = find_function(host, &kernel, &f);
    if (error)
        return done(error);
    if (threads < 1)
        return done(cudaErrorInvalidValue);
    *blocks = threads > MAX_THREADS ? 0 : sim_blocks_per_sm(f, threads, dynamic_bytes);
    return cudaSuccess;
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t dynamic_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic_bytes, 0);
}

// ---- Memory

// Whether [pointer, pointer + bytes) is within one allocation; of no bytes always.
static bool on_device(const void *pointer, size_t bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const Allocation *a = sim_allocation_at(address);
    return bytes == 0 || (a && address - a->address < a->bytes && bytes <= a->bytes - (address - a->address));
}

// A pointer that begins inside an allocation but ends outside is wrong even as a host pointer.
static bool begins_on_device(const void *pointer)
{
    return on_device(pointer, 1);
}

static cudaError_t allocate(void **pointer, size_t bytes, MemoryKind kind)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    return pointer ? done(sim_new_allocation(bytes, kind, pointer)) : done(cudaErrorInvalidValue);
}

API cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, DEVICE_MEMORY);
}

API cudaError_t cudaFree(void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    return done(sim_end_allocation(pointer, a && a->kind == MANAGED_MEMORY ? MANAGED_MEMORY : DEVICE_MEMORY));
}

API cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMalloc(pointer, bytes);
}

API cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaFree(pointer);
}

API cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return allocate(pointer, bytes, PINNED_MEMORY);
}

API cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    UNUSED(flags);
    return allocate(pointer, bytes, PINNED_MEMORY);
}

API cudaError_t cudaFreeHost(void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    return done(sim_end_allocation(pointer, PINNED_MEMORY));
}

API cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    UNUSED(flags);
    return allocate(pointer, bytes, MANAGED_MEMORY);
}

API cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    enum { PITCH = 512 };
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return cudaMalloc(pointer, *pitch * height);
}

API cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    UNUSED(flags);
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    if (!pointer || bytes == 0)
        return done(cudaErrorInvalidValue);
    const Allocation *last = sim_allocation_at((uint64_t)(uintptr_t)pointer + bytes - 1);
    if (last && last->address + last->bytes > (uint64_t)(uintptr_t)pointer)
        return done(cudaErrorHostMemoryAlreadyRegistered);
    sim_register_memory(pointer, bytes, HOST_MEMORY);
    return cudaSuccess;
}

API cudaError_t cudaHostUnregister(void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const Allocation *a = sim_allocation_at((uint64_t)(uintptr_t)pointer);
    if (!begins_on_device(pointer))
        return done(cudaErrorHostMemoryNotRegistered);
    if (a->kind != HOST_MEMORY || a->address != (uint64_t)(uintptr_t)pointer)
        return done(cudaErrorInvalidValue);
    sim_unregister_memory(pointer);
    return cudaSuccess;
}

API cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    UNUSED(flags);
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    *device = host;
    return begins_on_device(host) ? cudaSuccess : done(cudaErrorInvalidValue);
}

API cudaError_t cudaMemGetInfo(size_t *unused, size_t *total)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    *total = sim_device()->memory_bytes;
    *unused = *total - sim_allocated_bytes();
    return cudaSuccess;
}

static cudaError_t check_copy(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice || begins_on_device(to);
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice || begins_on_device(from);
    if (bytes > 0 && (!to || !from))
        return cudaErrorInvalidValue;
    return (to_device && !on_device(to, bytes)) || (from_device && !on_device(from, bytes)) ? cudaErrorInvalidValue : cudaSuccess;
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    const cudaError_t error = check_copy(to, from, bytes, kind);
    if (!error && bytes)
        memmove(to, from, bytes);
    return done(error);
}

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpy(to, from, bytes, kind);
}

API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
    STOP_IF_BROKEN();
    if (width > to_pitch || width > from_pitch)
        return done(cudaErrorInvalidPitchValue);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error = cudaMemcpy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
        if (error)
            return error;
    }
    return cudaSuccess;
}

API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

API cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    if (!on_device(pointer, bytes))
        return done(cudaErrorInvalidValue);
    if (bytes)
        memset(pointer, value, bytes);
    return cudaSuccess;
}

API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemset(pointer, value, bytes);
}

API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    STOP_IF_BROKEN();
    if (width > pitch)
        return done(cudaErrorInvalidValue);
    for (size_t row = 0; row < height; row++) {
        const cudaError_t error = cudaMemset((char *)pointer + row * pitch, value, width);
        if (error)
            return error;
    }
    return cudaSuccess;
}

API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemset2D(pointer, pitch, value, width, height);
}

API cudaError_t cudaGetSymbolAddress(void **pointer, const void *host)
{
    STOP_IF_BROKEN();
    for (const Symbol *s = symbols; s; s = s->next)
        if (s->host == host && variable_of(s)) {
            *pointer = (void *)(uintptr_t)variable_of(s)->address;
            return cudaSuccess;
        }
    return done(cudaErrorInvalidSymbol);
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *host)
{
    STOP_IF_BROKEN();
    for (const Symbol *s = symbols; s; s = s->next)
        if (s->host == host) {
            *bytes = s->bytes;
            return cudaSuccess;
        }
    return done(cudaErrorInvalidSymbol);
}

API cudaError_t cudaMemcpyToSymbol(const void *host, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *to;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost)
        return done(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = cudaGetSymbolAddress(&to, host);
    return error ? error : cudaMemcpy((char *)to + offset, from, bytes, kind);
}

API cudaError_t cudaMemcpyFromSymbol(void *to, const void *host, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    void *from;
    if (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice)
        return done(cudaErrorInvalidMemcpyDirection);
    const cudaError_t error = cudaGetSymbolAddress(&from, host);
    return error ? error : cudaMemcpy(to, (char *)from + offset, bytes, kind);
}

API cudaError_t cudaMemcpyToSymbolAsync(const void *host, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpyToSymbol(host, from, bytes, offset, kind);
}

API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *host, size_t bytes, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    UNUSED(stream);
    return cudaMemcpyFromSymbol(to, host, bytes, offset, kind);
}

static bool in_managed_variable(const void *pointer)
{
    for (const Symbol *s = symbols; s; s = s->next)
        if (s->managed && (uintptr_t)pointer - (uintptr_t)*s->managed < s->bytes)
            return true;
    return false;
}

static enum cudaMemoryType memory_type(const void *pointer)
{
    if (!begins_on_device(pointer))
        return cudaMemoryTypeUnregistered;
    const MemoryKind kind = sim_allocation_at((uint64_t)(uintptr_t)pointer)->kind;
    if (kind == PINNED_MEMORY || kind == HOST_MEMORY)
        return cudaMemoryTypeHost;
    return kind == MANAGED_MEMORY || in_managed_variable(pointer) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
}

API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer)
{
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    memset(attributes, 0, sizeof *attributes);
    attributes->type = memory_type(pointer);
    if (attributes->type != cudaMemoryTypeUnregistered)
        attributes->devicePointer = (void *)(uintptr_t)pointer;
    if (attributes->type != cudaMemoryTypeDevice)
        attributes->hostPointer = (void *)(uintptr_t)pointer;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location, unsigned flags, cudaStream_t stream)
{
    UNUSED(location), UNUSED(flags), UNUSED(stream);
#else
API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    UNUSED(device), UNUSED(stream);
#endif
    HOLD_MEMORY();
    STOP_IF_BROKEN();
    return on_device(pointer, bytes) ? cudaSuccess : done(cudaErrorInvalidValue);
}

// ---- The device

API cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}

API cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

API cudaError_t cudaSetDevice(int device)
{
    return device == 0 ? cudaSuccess : done(cudaErrorInvalidDevice);
}

API cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    UNUSED(flags);
    return cudaSuccess;
}

API cudaError_t cudaDeviceSynchronize(void)
{
    STOP_IF_BROKEN();
    return cudaSuccess;
}

API cudaError_t cudaDeviceReset(void)
{
    HOLD_MEMORY();
    sim_end_all_allocations();
    for (const Binary *b = binaries; b; b = b->next)
        if (b->module)
            sim_set_variables(b->module);
    for (Kernel *k = kernels; k; k = k->next)
        k->max_dynamic_bytes = -1;
    memset(limits_set, 0, sizeof limits_set);
    last_error = sticky_error = cudaSuccess;
    return cudaSuccess;
}

static bool is_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS && USUAL_LIMITS[limit] > 0;
}

API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    STOP_IF_BROKEN();
    if (!is_limit(limit))
        return done(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitStackSize && value > LARGEST_STACK)
        return done(cudaErrorInvalidValue);
    limits_set[limit] = value;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    STOP_IF_BROKEN();
    if (!is_limit(limit))
        return done(cudaErrorUnsupportedLimit);
    *value = limits_set[limit] ? limits_set[limit] : USUAL_LIMITS[limit];
    return cudaSuccess;
}

API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    UNUSED(config);
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

API cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    UNUSED(device), UNUSED(peer);
    *can = 0;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}

API cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

API cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    const Device *d = sim_device();
    STOP_IF_BROKEN();
    if (device != 0)
        return done(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "SIMT simulator");
    p->totalGlobalMem = d->memory_bytes;
    p->sharedMemPerBlock = (size_t)d->shared_per_block;
    p->sharedMemPerBlockOptin = (size_t)d->shared_per_block_optin;
    p->sharedMemPerMultiprocessor = (size_t)d->shared_per_sm;
    p->reservedSharedMemPerBlock = 1024;
    p->regsPerBlock = p->regsPerMultiprocessor = d->registers_per_sm;
    p->warpSize = LANES;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = MAX_THREADS;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 2147483647;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = 9;
    p->multiProcessorCount = d->sm_count;
    p->maxThreadsPerMultiProcessor = d->threads_per_sm;
    p->maxBlocksPerMultiProcessor = d->blocks_per_sm;
    p->l2CacheSize = d->l2_bytes;
    p->memPitch = 2147483647;
    p->textureAlignment = 512;
    p->unifiedAddressing = p->managedMemory = p->canMapHostMemory = p->cooperativeLaunch = 1;
    return cudaSuccess;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    const Device *d = sim_device();
    STOP_IF_BROKEN();
    if (device != 0)
        return done(cudaErrorInvalidDevice);
    if (attribute < cudaDevAttrMaxThreadsPerBlock || attribute >= cudaDevAttrMax)
        return done(cudaErrorInvalidValue);
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } values[] = {
        {cudaDevAttrMaxThreadsPerBlock, MAX_THREADS}, {cudaDevAttrMaxBlockDimX, 1024}, {cudaDevAttrMaxBlockDimY, 1024},
        {cudaDevAttrMaxBlockDimZ, 64}, {cudaDevAttrMaxGridDimX, 2147483647}, {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrMaxGridDimZ, 65535}, {cudaDevAttrMaxSharedMemoryPerBlock, d->shared_per_block},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, d->shared_per_block_optin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->shared_per_sm}, {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
        {cudaDevAttrTotalConstantMemory, 65536}, {cudaDevAttrWarpSize, LANES},
        {cudaDevAttrMaxRegistersPerBlock, d->registers_per_sm}, {cudaDevAttrMaxRegistersPerMultiprocessor, d->registers_per_sm},
        {cudaDevAttrMultiProcessorCount, d->sm_count}, {cudaDevAttrMaxThreadsPerMultiProcessor, d->threads_per_sm},
        {cudaDevAttrMaxBlocksPerMultiprocessor, d->blocks_per_sm}, {cudaDevAttrL2CacheSize, d->l2_bytes},
        {cudaDevAttrComputeCapabilityMajor, 9}, {cudaDevAttrUnifiedAddressing, 1}, {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrCanMapHostMemory, 1}, {cudaDevAttrCooperativeLaunch, 1}, {cudaDevAttrMaxPitch, 2147483647}, {cudaDevAttrTextureAlignment, 512},
    };
    *value = 0; // clocks, bus width and all that this device does not have
    for (size_t k = 0; k < sizeof values / sizeof *values; k++)
        if (values[k].attribute == attribute)
            *value = values[k].value;
    return cudaSuccess;
}

// ---- Streams and events. Work is over when the call returns, so there is nothing to wait for.

struct CUstream_st {
    int unused;
};

struct CUevent_st {
    bool recorded, without_time;
};

static cudaError_t new_stream(cudaStream_t *stream)
{
    STOP_IF_BROKEN();
    *stream = malloc(sizeof **stream);
    return *stream ? cudaSuccess : done(cudaErrorMemoryAllocation);
}

API cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return new_stream(stream);
}

API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    UNUSED(flags);
    return new_stream(stream);
}

API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    UNUSED(flags), UNUSED(priority);
    return new_stream(stream);
}

API cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    STOP_IF_BROKEN();
    free(stream);
    return cudaSuccess;
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    UNUSED(stream);
    STOP_IF_BROKEN();
    return cudaSuccess;
}

API cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    UNUSED(event), UNUSED(flags);
    return cudaStreamSynchronize(stream);
}

API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
    UNUSED(flags);
    STOP_IF_BROKEN();
    callback(stream, cudaSuccess, data);
    return cudaSuccess;
}

API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    UNUSED(stream);
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    STOP_IF_BROKEN();
    *event = calloc(1, sizeof **event);
    if (!*event)
        return done(cudaErrorMemoryAllocation);
    (*event)->without_time = flags & cudaEventDisableTiming;
    return cudaSuccess;
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    STOP_IF_BROKEN();
    if (!event)
        return done(cudaErrorInvalidResourceHandle);
    free(event);
    return cudaSuccess;
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    UNUSED(stream);
    STOP_IF_BROKEN();
    if (!event)
        return done(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    return cudaSuccess;
}

API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    UNUSED(flags);
    return cudaEventRecord(event, stream);
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    STOP_IF_BROKEN();
    return event ? cudaSuccess : done(cudaErrorInvalidResourceHandle);
}

API cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

// Always NaN: what the host took says nothing about a GPU.
API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    STOP_IF_BROKEN();
    if (!start || !end || !start->recorded || !end->recorded || start->without_time || end->without_time)
        return done(cudaErrorInvalidResourceHandle);
    *ms = NAN;
    return cudaSuccess;
}
