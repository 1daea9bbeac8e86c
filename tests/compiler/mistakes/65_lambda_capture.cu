// A lambda uses a variable that it does not capture.
// error 6:44: the lambda does not capture 'factor'
// help: capture it: [factor] or [&]
__global__ void scale(float *data, float factor)
{
    auto scaled = [](float x) { return x * factor; };
    data[threadIdx.x] = scaled(data[threadIdx.x]);
}
