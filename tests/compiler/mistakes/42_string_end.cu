// A string has no end.
// error 8:12: this string has no end
// help: add a "
#include <cstdio>

__global__ void hello()
{
    printf("hello from thread %d\n, threadIdx.x);
}
