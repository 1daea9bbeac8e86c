// A launch without the number of threads.
// error 13:11: a launch needs the number of blocks and of threads
// help: write one<<<blocks, threads>>>(...)
__global__ void one(int *out)
{
    *out = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    one<<<1>>>(out);
}
