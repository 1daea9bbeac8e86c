// check.h: CHECK exits with file and line if its condition is false; otherwise main prints PASS.
#ifndef CHECK_H
#define CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                     \
    do {                                                                     \
        if (!(condition)) {                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);  \
            exit(EXIT_FAILURE);                                              \
        }                                                                    \
    } while (0)
#define CUDA(call) CHECK((call) == cudaSuccess)

template <class T> static T *managed(size_t count)
{
    T *memory;
    CUDA(cudaMallocManaged(&memory, count * sizeof(T)));
    return memory;
}

#endif
