// Structures that are copied through pointers in shared memory, and parts of arrays that are no whole vectors.
struct Five { int v[5]; };

KERNEL(k1)
{
    INDEX;
    __shared__ Five all[64];
    __shared__ Five *pointers[64];
    for (int k = 0; k < 5; k++)
        all[tid].v[k] = in[i + k];
    pointers[tid] = &all[tid ^ 1];
    __syncthreads();
    Five own = *pointers[tid];
    own.v[tid % 5] = 0;
    int sum = 0;
    for (int k = 0; k < 5; k++)
        sum = sum * 3 + own.v[k];
    out[i] = sum;
    __syncthreads();
    *pointers[tid] = own;
    __syncthreads();
    out[i + 128] = all[tid].v[tid % 5];
    int three[3] = {1, 2, tid};
    three[tid & 1] += in[i];
    out[i + 256] = three[0] + 10 * three[1] + three[2];
}
