// Labelled programs that need the same headers, which nvcc reads once for all of them. The name by which this is called says which one runs.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../cases.h"

namespace barriers {
#include "../barriers.cu"
}

namespace grid {
#include "../grid.cu"
}

namespace memory {
#include "../memory.cu"
}

int main(int argc, char **argv)
{
    if (is_called(argv, "barriers"))
        return barriers::main(argc, argv);
    if (is_called(argv, "memory"))
        return memory::main(argc, argv);
    return grid::main(argc, argv);
}
