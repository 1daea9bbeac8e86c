// A launch without an argument.
// error 12:5: 'fill' needs 2 arguments, and this launch has 1
// note 4:17: 'fill(int * data, int value)' is declared here
__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

int main()
{
    int *data = nullptr;
    fill<<<1, 32>>>(data);
}
