// parts.h: what parts.cu defines for main.cu. Both know a name that means something else in each: static, and in a header.
#ifndef PARTS_H
#define PARTS_H

enum { TABLE = 3, THREADS = 64 };
typedef int Operation(int);

extern __device__ int counter;             // a variable
extern __device__ int values[];            // of a size that only its definition tells
extern __constant__ int factor;            // in constant memory, set by main.cu
extern __managed__ int total;              // that the host reads, too
extern __device__ Operation *chosen;       // a function's address
extern __device__ Operation *table[TABLE]; // several of them
extern __shared__ int dynamic[];           // the launch's shared memory

__device__ int scaled(int x);
__device__ int from_dynamic(int place);
__device__ int block_sum(int x); // keeps the sum in shared memory of its own
__global__ void fill(int *to);   // a kernel of another file

struct Shape { // virtual functions, whose table the other file holds
    __device__ virtual int area() const;
    int side;
};

template <int BY> __device__ int add(int x) // in both files, and once in the program
{
    static __device__ int calls;
    atomicAdd(&calls, 1);
    return x + BY + 0 * calls;
}

#endif
