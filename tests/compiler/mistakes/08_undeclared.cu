// A misspelt variable.
// error 8:9: 'totl' is not declared
// help: did you mean 'total'?
__global__ void sum(const float *in, float *out)
{
    float total = 0;
    for (int i = 0; i < 4; i++)
        totl += in[i];
    *out = total;
}
