// A kernel without __global__.
// error 12:5: 'one' is no kernel
// help: write __global__ before 'void one'
void one(int *data)
{
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = nullptr;
    one<<<1, 32>>>(data);
}
