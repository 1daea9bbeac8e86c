// A string has no end.
// error 8:12: a string without its end
// help: end the string with "
#include <cstdio>

__global__ void hello()
{
    printf("hello from thread %d\n, threadIdx.x);
}
