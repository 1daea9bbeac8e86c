// A kernel is defined within main.
// error 6:5: a function cannot be defined within another one
// help: move it to before 'main'
int main()
{
    __global__ void one(int *data)
    {
        data[threadIdx.x] = 1;
    }
    int *data = nullptr;
    one<<<1, 32>>>(data);
}
