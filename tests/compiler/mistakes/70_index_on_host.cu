// The host uses threadIdx.
// warning 12:10: 'threadIdx' is only available in a kernel
// help: the host chooses how many threads run a kernel; each thread has its own index there
__global__ void one(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int data[32];
    data[threadIdx.x] = 0;
}
