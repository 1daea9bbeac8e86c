// A semicolon is missing after a member of a structure.
// error 6:14: expected ';' after the member
// help: add ';'
struct Pair {
    int first;
    int second // of the two
    int third;
};

__global__ void copy(const Pair *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x].first;
}
