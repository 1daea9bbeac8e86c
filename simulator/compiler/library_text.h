// library_text.h: macros with which library_*.c write CUDA C++ as strings.
#ifndef COMPILER_LIBRARY_TEXT_H
#define COMPILER_LIBRARY_TEXT_H

#include "compiler/library.h"

#undef bool // macros in C, which would be expanded in the texts
#undef true
#undef false

#define LIBRARY_TEXT(...) #__VA_ARGS__
#define EXPANDED_TEXT(...) LIBRARY_TEXT(__VA_ARGS__) // expands macros in the text first
#define D __device__ inline
#define HD __host__ __device__ inline

#endif
