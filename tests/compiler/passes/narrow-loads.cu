// narrow-loads: a load of which only some whole bytes are used loads only these.
// with: promote spaces simplify gvn dce simplify-cfg
__global__ void digits(const unsigned *in, unsigned *out)
{
    out[0] = in[0] & 255;
    out[1] = in[1] >> 24;
    out[2] = in[2] >> 8 & 255;
    out[3] = in[3] >> 16;
    out[4] = in[4] >> 4 & 255; // not whole bytes
}
