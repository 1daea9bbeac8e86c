// . instead of ->.
// error 10:23: 'y' is a member of what the pointer points to
// help: write -> instead of .
struct Point {
    float x, y;
};

__global__ void lengths(const Point *p, float *out)
{
    out[0] = p->x + p.y;
}
