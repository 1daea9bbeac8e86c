// A launch with two angle brackets.
// error 12:8: a launch has three angle brackets
// help: write one<<<blocks, threads>>>(...)
__global__ void one(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = nullptr;
    one<<1, 32>>(data);
}
