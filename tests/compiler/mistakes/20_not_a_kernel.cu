// A function that is launched is no kernel.
// error 13:5: 'one' is no kernel
// help: write __global__ before 'void one'
void one(int *out)
{
    *out = 1;
}

int main()
{
    int *out;
    cudaMalloc(&out, sizeof(int));
    one<<<1, 1>>>(out);
}
