// A comment has no end.
// error 6:5: this comment has no end
// help: end the comment with */
__global__ void one(int *out)
{
    /* each thread writes its own element
    out[threadIdx.x] = 1;
}
