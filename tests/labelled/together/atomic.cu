// Labelled programs that need the same headers, which nvcc reads once for all of them. The name by which this is called says which one runs.
#include <cuda/atomic>

#include "../cases.h"

namespace atomics {
#include "../atomics.cu"
}

namespace fences {
#include "../fences.cu"
}

int main(int argc, char **argv)
{
    if (is_called(argv, "atomics"))
        return atomics::main(argc, argv);
    return fences::main(argc, argv);
}
