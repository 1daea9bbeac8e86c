// The semicolon after a struct is missing.
// error 6:1: expected ';' after the struct
// help: add ';'
struct Point {
    float x, y;
}

__global__ void lengths(const Point *p, float *out)
{
    out[0] = p->x + p->y;
}
