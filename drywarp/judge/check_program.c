// check_program.c: the CUDA runtime of a program under make judge.
//
// The program has no device. Each call is a question to another process, check_device.py, which runs the kernels
// on the simulator; it also sends the tasks. So the judge trusts nothing in this process: array, sums and counters
// are in the other one, and no call returns device data.
#include <cuda_runtime_api.h>

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

// Defined by the judge's part, which follows the lesson.
extern long long check_call(int what, const unsigned long long *numbers);

// ---- Questions and answers. check_device.py has the same numbers.

enum { NEXT, LOAD, KERNEL, VARIABLE, LAUNCH, ALLOCATE, RELEASE, FILL, WRITE, COPY, READ, ATTRIBUTE, OCCUPANCY,
       KERNEL_ATTRIBUTES, SET_KERNEL_ATTRIBUTE, PROPERTIES, LAST_ERROR, PEEK_ERROR, ERROR_NAME, ERROR_TEXT, CLUSTERS };
enum { STOP }; // an answer to NEXT: all others are arguments of check_call
enum { NUMBERS = 12, ANSWERS = 8 };

typedef struct Question {
    uint32_t kind, bytes; // bytes: of the data that follow
    uint64_t numbers[NUMBERS];
} Question;

typedef struct Answer {
    int32_t error;
    uint32_t bytes;
    unsigned long long numbers[ANSWERS];
} Answer;

static int questions, answers;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

// The judge uses the standard streams. They are moved before other code runs, so that the program's output does not interfere.
__attribute__((constructor(101))) static void move_streams(void)
{
    answers = dup(STDIN_FILENO);
    questions = dup(STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDWR);
    if (answers < 0 || questions < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0)
        _exit(EXIT_FAILURE);
}

static void send_all(const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t now = write(questions, (const char *)data + done, bytes - done);
        if (now <= 0)
            _exit(EXIT_FAILURE);
        done += (size_t)now;
    }
}

static void receive_all(void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t now = read(answers, (char *)data + done, bytes - done);
        if (now <= 0)
            _exit(EXIT_FAILURE);
        done += (size_t)now;
    }
}

// Sends a question with `data` after its numbers; the data after the answer go to `back`, unless it is NULL.
static Answer ask_with(Question q, const void *data, void *back, size_t space)
{
    Answer a;
    char rest[256];
    pthread_mutex_lock(&one_at_a_time);
    send_all(&q, sizeof q);
    send_all(data, q.bytes);
    receive_all(&a, sizeof a);
    const size_t kept = a.bytes < space ? a.bytes : space;
    receive_all(back, kept);
    for (size_t left = a.bytes - kept; left > 0; left -= left < sizeof rest ? left : sizeof rest)
        receive_all(rest, left < sizeof rest ? left : sizeof rest);
    pthread_mutex_unlock(&one_at_a_time);
    return a;
}

static Answer ask(int kind, uint64_t a, uint64_t b, uint64_t c)
{
    return ask_with((Question){kind, 0, {a, b, c}}, NULL, NULL, 0);
}

static cudaError_t error_of(Answer a)
{
    return (cudaError_t)a.error;
}

static uint64_t number_of(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

// ---- What nvcc's code registers before main

typedef struct Named { // a kernel or a variable
    const void *host;
    const char *name;
    uint64_t module, number; // number: the device's
    uint32_t count, slots[2 * 256]; // offset and size of each kernel argument
    struct Named *next;
} Named;

static Named *kernels, *variables;

static Named *add_named(Named *next, void **module, const void *host, const char *name)
{
    Named *one = calloc(1, sizeof *one);
    if (!one)
        abort();
    one->host = host;
    one->name = name;
    one->module = number_of(module);
    one->next = next;
    return one;
}

static Named *find_named(Named *one, const void *host)
{
    while (one && one->host != host)
        one = one->next;
    return one;
}

API void **__cudaRegisterFatBinary(void *wrapper)
{
    const char *data;
    uint64_t payload;
    memcpy(&data, (char *)wrapper + 8, sizeof data);
    memcpy(&payload, data + 8, sizeof payload); // the length in its header
    const Answer a = ask_with((Question){LOAD, (uint32_t)payload + 16, {0}}, data, NULL, 0);
    return (void **)(uintptr_t)a.numbers[0];
}

API void __cudaRegisterFatBinaryEnd(void **module)
{
    (void)module;
}

API void __cudaUnregisterFatBinary(void **module)
{
    (void)module;
}

API void __cudaRegisterFunction(void **module, const char *host, char *device, const char *name, int limit, uint3 *thread,
                                uint3 *block, dim3 *block_size, dim3 *grid_size, int *warp_size)
{
    (void)device, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp_size;
    kernels = add_named(kernels, module, host, name);
}

API void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int ext, size_t size,
                           int constant, int global)
{
    (void)device, (void)ext, (void)size, (void)constant, (void)global;
    variables = add_named(variables, module, host, name);
}

API char __cudaInitModule(void **module)
{
    (void)module;
    return 1;
}

// The kernel with its arguments' slots, which are requested once; NULL if there is none.
static Named *kernel_of(const void *host)
{
    Named *k = find_named(kernels, host);
    if (!k || k->number)
        return k;
    const Question q = {KERNEL, (uint32_t)strlen(k->name), {k->module}};
    const Answer a = ask_with(q, k->name, k->slots, sizeof k->slots);
    k->number = a.numbers[0];
    k->count = a.bytes / (2 * sizeof *k->slots);
    return a.error || a.bytes > sizeof k->slots ? NULL : k;
}

// ---- Launches

typedef struct Configuration {
    dim3 grid, block;
    size_t dynamic_bytes;
} Configuration;

static _Thread_local Configuration configurations[64];
static _Thread_local unsigned depth;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_bytes, cudaStream_t stream)
{
    (void)stream; // calls are synchronous
    if (depth == sizeof configurations / sizeof *configurations)
        return 1;
    configurations[depth++] = (Configuration){grid, block, dynamic_bytes};
    return 0;
}

API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_bytes, void *stream)
{
    if (depth == 0)
        return cudaErrorMissingConfiguration;
    const Configuration c = configurations[--depth];
    *grid = c.grid;
    *block = c.block;
    *dynamic_bytes = c.dynamic_bytes;
    memset(stream, 0, sizeof(cudaStream_t));
    return cudaSuccess;
}

enum { COOPERATIVE = 1, OTHER_ATTRIBUTE = 2, DEPENDENT = 4 }; // bits of a launch's flags

static cudaError_t launch(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes,
                          uint64_t flags, dim3 cluster)
{
    static _Thread_local char packed[65536];
    const Named *k = kernel_of(host);
    uint32_t bytes = 0;
    for (uint32_t i = 0; k && i < k->count; i++) {
        const uint32_t offset = k->slots[2 * i], size = k->slots[2 * i + 1];
        if (offset > sizeof packed || size > sizeof packed - offset)
            return cudaErrorInvalidValue;
        memcpy(packed + offset, arguments[i], size);
        bytes = offset + size > bytes ? offset + size : bytes;
    }
    const Question q = {LAUNCH, bytes, {k ? k->number : 0, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                        dynamic_bytes, flags, cluster.x, cluster.y, cluster.z}};
    return error_of(ask_with(q, packed, NULL, 0));
}

static const dim3 no_cluster = {0, 0, 0};

API cudaError_t cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes,
                                 cudaStream_t stream)
{
    (void)stream;
    return launch(host, grid, block, arguments, dynamic_bytes, 0, no_cluster);
}

API cudaError_t cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes,
                                            cudaStream_t stream)
{
    (void)stream;
    return launch(host, grid, block, arguments, dynamic_bytes, COOPERATIVE, no_cluster);
}

// The others are left out of the launch. The device gets a flag for them, and the program is not judged.
static void read_attributes(const cudaLaunchConfig_t *config, uint64_t *flags, dim3 *cluster)
{
    *flags = 0;
    *cluster = no_cluster;
    for (unsigned k = 0; k < config->numAttrs; k++) {
        const cudaLaunchAttribute *attribute = &config->attrs[k];
        if (attribute->id == cudaLaunchAttributeCooperative)
            *flags |= attribute->val.cooperative ? COOPERATIVE : 0;
        else if (attribute->id == cudaLaunchAttributeClusterDimension)
            *cluster = (dim3){attribute->val.clusterDim.x, attribute->val.clusterDim.y, attribute->val.clusterDim.z};
        else if (attribute->id == cudaLaunchAttributeProgrammaticStreamSerialization)
            *flags |= attribute->val.programmaticStreamSerializationAllowed ? DEPENDENT : 0;
        else if (attribute->id != cudaLaunchAttributeIgnore)
            *flags |= OTHER_ATTRIBUTE;
    }
}

API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host, void **arguments)
{
    uint64_t flags;
    dim3 cluster;
    read_attributes(config, &flags, &cluster);
    return launch(host, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, flags, cluster);
}

API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    *kernel = (cudaKernel_t)(uintptr_t)host;
    return cudaSuccess;
}

API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t dynamic_bytes,
                                   cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_bytes, stream);
}

// ---- Memory

API cudaError_t cudaMalloc(void **address, size_t bytes)
{
    const Answer a = ask(ALLOCATE, bytes, 0, 0);
    *address = (void *)(uintptr_t)a.numbers[0];
    return error_of(a);
}

API cudaError_t cudaMallocAsync(void **address, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMalloc(address, bytes);
}

API cudaError_t cudaFree(void *address)
{
    return error_of(ask(RELEASE, number_of(address), 0, 0));
}

API cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
    (void)stream;
    return cudaFree(address);
}

API cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
    return error_of(ask(FILL, number_of(to), (uint64_t)value, bytes));
}

API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return cudaMemset(to, value, bytes);
}

// With cudaMemcpyDefault the device determines whether `from` is its memory.
API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return error_of(ask(READ, bytes, 0, 0));
    if (kind != cudaMemcpyHostToDevice) {
        const Answer a = ask(COPY, number_of(to), number_of(from), bytes);
        if (kind == cudaMemcpyDeviceToDevice || a.error != cudaErrorInvalidValue)
            return error_of(a);
    }
    return error_of(ask_with((Question){WRITE, (uint32_t)bytes, {number_of(to)}}, from, NULL, 0));
}

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

static cudaError_t find_variable(const void *host, Answer *a)
{
    const Named *v = find_named(variables, host);
    if (!v)
        return cudaErrorInvalidSymbol;
    *a = ask_with((Question){VARIABLE, (uint32_t)strlen(v->name), {v->module}}, v->name, NULL, 0);
    return error_of(*a);
}

API cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
    Answer a = {0};
    const cudaError_t error = find_variable(symbol, &a);
    *address = (void *)(uintptr_t)a.numbers[0];
    return error;
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    Answer a = {0};
    const cudaError_t error = find_variable(symbol, &a);
    *bytes = a.numbers[1];
    return error;
}

API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    void *address;
    const cudaError_t error = cudaGetSymbolAddress(&address, symbol);
    return error ? error : cudaMemcpy((char *)address + offset, from, bytes, kind);
}

API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                     enum cudaMemcpyKind kind)
{
    void *address;
    const cudaError_t error = cudaGetSymbolAddress(&address, symbol);
    return error ? error : cudaMemcpy(to, (const char *)address + offset, bytes, kind);
}

// ---- The device and its kernels

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
    return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    const Answer a = ask(ATTRIBUTE, (uint64_t)attribute, 0, 0);
    *value = (int)a.numbers[0];
    return error_of(a);
}

API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    (void)device;
    return error_of(ask_with((Question){PROPERTIES, 0, {0}}, NULL, properties, sizeof *properties));
}

API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host)
{
    const Named *k = kernel_of(host);
    return error_of(ask_with((Question){KERNEL_ATTRIBUTES, 0, {k ? k->number : 0}}, NULL, attributes, sizeof *attributes));
}

API cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute, int value)
{
    const Named *k = kernel_of(host);
    return error_of(ask(SET_KERNEL_ATTRIBUTE, k ? k->number : 0, (uint64_t)attribute, (uint64_t)value));
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host, int threads,
                                                                       size_t dynamic_bytes, unsigned flags)
{
    (void)flags;
    const Named *k = kernel_of(host);
    const Answer a = ask(OCCUPANCY, k ? k->number : 0, (uint64_t)threads, dynamic_bytes);
    *blocks = (int)a.numbers[0];
    return error_of(a);
}

API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads,
                                                              size_t dynamic_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, dynamic_bytes, 0);
}

API cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *host, const cudaLaunchConfig_t *config)
{
    uint64_t flags;
    dim3 cluster;
    const Named *k = kernel_of(host);
    const dim3 grid = config->gridDim, block = config->blockDim;
    read_attributes(config, &flags, &cluster);
    const Question q = {CLUSTERS, 0, {k ? k->number : 0, grid.x, grid.y, grid.z, block.x, block.y, block.z, config->dynamicSmemBytes, flags,
                                      cluster.x, cluster.y, cluster.z}};
    const Answer a = ask_with(q, NULL, NULL, 0);
    *clusters = (int)a.numbers[0];
    return error_of(a);
}

// ---- Errors; the default stream, which is synchronous. A program cannot create others, because their order would not be checked.

API cudaError_t cudaGetLastError(void)
{
    return error_of(ask(LAST_ERROR, 0, 0, 0));
}

API cudaError_t cudaPeekAtLastError(void)
{
    return error_of(ask(PEEK_ERROR, 0, 0, 0));
}

static const char *text_about(int kind, cudaError_t error)
{
    static _Thread_local char text[256];
    memset(text, 0, sizeof text);
    ask_with((Question){kind, 0, {(uint64_t)error}}, NULL, text, sizeof text - 1);
    return text;
}

API const char *cudaGetErrorName(cudaError_t error)
{
    return text_about(ERROR_NAME, error);
}

API const char *cudaGetErrorString(cudaError_t error)
{
    return text_about(ERROR_TEXT, error);
}

API cudaError_t cudaDeviceSynchronize(void)
{
    return cudaPeekAtLastError();
}

API cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaPeekAtLastError();
}

// Events, with which many programs time their kernels: kernels have ended when a launch returns, and the simulator has no clock.

API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    static char any;
    (void)flags;
    *event = (cudaEvent_t)(void *)&any;
    return cudaSuccess;
}

API cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, 0);
}

API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event;
    (void)stream;
    return cudaPeekAtLastError();
}

API cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaPeekAtLastError();
}

API cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    (void)start;
    (void)end;
    *milliseconds = NAN;
    return cudaSuccess;
}

API cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

// ---- The judge's tasks

int main(void)
{
    for (uint64_t result = 0;;) {
        const Answer a = ask(NEXT, result, 0, 0);
        if (a.numbers[0] == STOP)
            return EXIT_SUCCESS;
        result = (uint64_t)check_call((int)a.numbers[0], a.numbers + 1);
    }
}
