// A kernel prints as the host does.
// error 8:5: 'std::cout' is an object of the host, which a kernel cannot use
// help: write printf(...)
#include <iostream>

__global__ void show(const int *data)
{
    std::cout << data[threadIdx.x] << std::endl;
}
