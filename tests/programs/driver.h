// driver.h: checks of calls of the driver API.
#ifndef DRIVER_H
#define DRIVER_H

#include "check.h"
#include <cuda.h>

#define DRIVER(call)                                                                                 \
    do {                                                                                             \
        const CUresult result = (call);                                                              \
        const char *name = "?";                                                                      \
        if (result != CUDA_SUCCESS)                                                                  \
            cuGetErrorName(result, &name), fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name), exit(1); \
    } while (0)
#define FAILS(call, wanted)                                                                          \
    do {                                                                                             \
        const CUresult result = (call);                                                              \
        const char *name = "?";                                                                      \
        if (result != (wanted))                                                                      \
            cuGetErrorName(result, &name), fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name), exit(1); \
    } while (0)

#endif
