// Semicolons are missing after returns of host functions, also where the type is of a library.
// error 9:36: expected ';' after the value
// help: add ';'
// error 15:14: expected ';' after 'return'
// help: add ';'
// error 22:16: expected ';' after the value
// help: add ';'
static int blocks(int n)
    { return n / 256 + (n % 256 > 0)
}

static void check(int error)
{
    if (error == 0)
        return
    fprintf(stderr, "error %d\n", error);
}

static std::vector<float> times(int runs)
{
    std::vector<float> found(runs);
    return found
}

__global__ void clear(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = 0;
}
