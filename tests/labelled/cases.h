// cases.h: what the labelled programs share. Each is a family of small cases: its name as the argument runs
// one, no argument lists them. What a case does wrong, if anything, is said in labels.csv and at its kernel.
#ifndef CASES_H
#define CASES_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CUDA(call)                                                                                \
    do {                                                                                          \
        const cudaError_t status = (call);                                                        \
        if (status != cudaSuccess) {                                                              \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));       \
            exit(EXIT_FAILURE);                                                                   \
        }                                                                                         \
    } while (0)

struct Case {
    const char *name;
    void (*run)();
};

// count elements of device memory, all of them 0.
template <class T> static T *zeros(size_t count)
{
    T *memory;
    CUDA(cudaMalloc(&memory, count * sizeof(T)));
    CUDA(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

// count uninitialised elements of device memory.
template <class T> static T *unwritten(size_t count)
{
    T *memory;
    CUDA(cudaMalloc(&memory, count * sizeof(T)));
    return memory;
}

// Device memory with 0, 1, 2 ... in it.
static inline int *numbers(int count)
{
    int *memory = zeros<int>(count);
    for (int i = 0; i < count; i++)
        CUDA(cudaMemcpy(memory + i, &i, sizeof i, cudaMemcpyHostToDevice));
    return memory;
}

// The same memory as the host's array has.
template <class T, size_t count> static T *copied(const T (&values)[count])
{
    T *memory;
    CUDA(cudaMalloc(&memory, sizeof values));
    CUDA(cudaMemcpy(memory, values, sizeof values, cudaMemcpyHostToDevice));
    return memory;
}

// The host gets count elements of device memory.
template <class T> static void fetch(const T *memory, size_t count)
{
    T *host = (T *)malloc(count * sizeof(T));
    CUDA(cudaMemcpy(host, memory, count * sizeof(T), cudaMemcpyDeviceToHost));
    free(host);
}

static inline void finish()
{
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
}

// Frees what a case allocated, so that nothing but its own mistake is left to find.
template <class... Pointers> static void finish_and_free(Pointers... pointers)
{
    finish();
    const cudaError_t errors[] = {cudaSuccess, cudaFree(pointers)...};
    for (const cudaError_t error : errors)
        CUDA(error);
}

// Whether the program was called by this name, whatever folder it lies in.
static inline bool is_called(char **argv, const char *name)
{
    const char *slash = strrchr(argv[0], '/');
    return !strcmp(slash ? slash + 1 : argv[0], name);
}

template <size_t count> static int run_case(int argc, char **argv, const Case (&cases)[count])
{
    if (argc < 2)
        for (const Case &one : cases)
            puts(one.name);
    for (const Case &one : cases)
        if (argc > 1 && !strcmp(one.name, argv[1])) {
            one.run();
            return EXIT_SUCCESS;
        }
    return argc < 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
