// layout: blocks stand in the order in which they are reached.
// with: promote spaces simplify dce simplify-cfg rotate
__global__ void search(const int *in, int *out, int n)
{
    for (int i = 0; i < n; i++)
        if (in[i] == 7) {
            *out = i;
            return;
        }
    *out = -1;
}
