// -> instead of a dot.
// error 11:31: '->' needs a pointer, and this is 'Point'
// help: write . instead of ->
struct Point {
    float x, y;
};

__global__ void lengths(const Point *points, float *out)
{
    Point p = points[threadIdx.x];
    out[threadIdx.x] = p.x + p->y;
}
