// A kernel calls a function of the C library that the device does not have.
// error 7:24: 'rand' is a host function, which a kernel cannot call
#include <cstdlib>

__global__ void draw(int *out)
{
    out[threadIdx.x] = rand();
}
