// = for == in a condition.
// warning 6:9: the condition of 'if' is an assignment
// help: compare with ==; if an assignment is meant, put it in parentheses
__global__ void first(int *out, int n)
{
    if (n = 1)
        out[threadIdx.x] = n;
}
