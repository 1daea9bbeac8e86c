// Launches of templates whose arguments have the type of a host library's function.
// error 22:20: the type of this argument, which decides the instance of 'one', is not known to this compiler
// help: give the template's arguments: one<...><<<blocks, threads>>>(...)
// error 24:11: the type of this argument, which decides the instance of 'start', is not known to this compiler
// help: give the template's arguments: start<...>(...)
#include <vector>
template <typename T>
__global__ void one(T *out)
{
    *out = 1;
}

template <typename T>
void start(T *out)
{
    one<<<1, 32>>>(out);
}

int main()
{
    std::vector<int *> pointers(1);
    one<<<1, 32>>>(pointers.back());
    one<int><<<1, 32>>>(pointers.back());
    start(pointers.back());
}
