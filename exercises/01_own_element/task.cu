// Each thread writes its own element of out: the element of in, plus 1.
__global__ void add_one(const float *in, float *out)
{
    int i = 0; // which element is this thread's own?
    out[i] = in[i] + 1;
}
