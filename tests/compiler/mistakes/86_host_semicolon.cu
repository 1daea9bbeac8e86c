// A semicolon is missing after a host function's declaration. The message must not be about the next line.
// error 4:46: expected ';' after the declaration
// help: add ';'
static void check(int error, const char *call)

const int BLOCK_SIZE = 256;

__global__ void clear(int *out)
{
    out[blockIdx.x * BLOCK_SIZE + threadIdx.x] = 0;
}
