// A launch of a template whose argument has the type of a host library's function.
// error 14:20: the type of this argument, which decides the instance of 'one', is not known to this compiler
// help: give the template's arguments: one<...><<<blocks, threads>>>(...)
#include <vector>
template <typename T>
__global__ void one(T *out)
{
    *out = 1;
}

int main()
{
    std::vector<int *> pointers(1);
    one<<<1, 32>>>(pointers.back());
    one<int><<<1, 32>>>(pointers.back());
}
