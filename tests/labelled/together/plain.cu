// Labelled programs that need the same headers, which nvcc reads once for all of them. The name by which this is called says which one runs.
#include "../cases.h"

namespace block {
#include "../block.cu"
}

namespace graphs {
#include "../graphs.cu"
}

namespace host {
#include "../host.cu"
}

namespace locks {
#include "../locks.cu"
}

namespace readers {
#include "../readers.cu"
}

namespace warp {
#include "../warp.cu"
}

int main(int argc, char **argv)
{
    if (is_called(argv, "block"))
        return block::main(argc, argv);
    if (is_called(argv, "graphs"))
        return graphs::main(argc, argv);
    if (is_called(argv, "host"))
        return host::main(argc, argv);
    if (is_called(argv, "locks"))
        return locks::main(argc, argv);
    if (is_called(argv, "readers"))
        return readers::main(argc, argv);
    return warp::main(argc, argv);
}
