// parts.h: declarations of parts.cu for main.cu. Some names have a different meaning in each file: static ones, and one in a header.
#ifndef PARTS_H
#define PARTS_H

enum { TABLE = 3, THREADS = 64 };
typedef int Operation(int);

extern __device__ int counter;             // a variable
extern __device__ int values[];            // its size is in the definition
extern __constant__ int factor;            // in constant memory, set by main.cu
extern __managed__ int total;              // also read by the host
extern __device__ Operation *chosen;       // a function pointer
extern __device__ Operation *table[TABLE]; // several function pointers
extern __shared__ int dynamic[];           // the launch's shared memory

__device__ int scaled(int x);
__device__ int from_dynamic(int place);
__device__ int block_sum(int x); // uses its own shared memory
__global__ void fill(int *to);   // a kernel of another file

struct Shape { // virtual functions, whose table is in the other file
    __device__ virtual int area() const;
    int side;
};

template <int BY> __device__ int add(int x) // instantiated in both files, linked once
{
    static __device__ int calls;
    atomicAdd(&calls, 1);
    return x + BY + 0 * calls;
}

#endif
