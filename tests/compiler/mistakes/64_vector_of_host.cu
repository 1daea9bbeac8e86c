// std::vector in a kernel.
// error 8:5: 'std::vector' is a host type, which a kernel cannot use
// help: use an array of the kernel's own, shared memory, or memory that the host allocates
#include <vector>

__global__ void count(int *out)
{
    std::vector<int> values(4);
    *out = values[0];
}
