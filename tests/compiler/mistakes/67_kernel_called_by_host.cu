// The host calls a kernel as a function.
// error 12:5: 'one' is a kernel, which is launched, not called
// help: launch it: one<<<blocks, threads>>>(...)
__global__ void one(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = nullptr;
    one(data);
}
