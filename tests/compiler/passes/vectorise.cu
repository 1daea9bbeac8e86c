// vectorise: loads and stores of neighbouring addresses become one of four elements, if the alignment is known.
// with: promote spaces simplify dce simplify-cfg gvn separate-offsets fold-offsets
struct alignas(16) Four {
    float x, y, z, w;
};

__global__ void copy(const Four *in, Four *out)
{
    const float x = in->x, y = in->y, z = in->z, w = in->w;
    out->x = y;
    out->y = x;
    out->z = w;
    out->w = z;
}
