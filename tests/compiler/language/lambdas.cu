// Lambdas: captures by value and by reference, copies of arrays and of *this, captures with values, auto parameters, lambdas in lambdas.
KERNEL(k1)
{
    INDEX;
    int a[4] = {1, 2, 3, n};
    auto copy = [=](int q) { return a[q & 3] + tid; };
    auto change = [&](int q) { a[q & 3] += tid; return a[0]; };
    a[1] = 100;
    out[i] = copy(tid);
    out[i + 128] = change(tid) + a[1];
}

struct Point {
    int x, c[3];
    __device__ int sum(int q)
    {
        auto copied = [*this](int r) { return r + x + c[r & 1]; };
        auto own = [this](int r) { return x * r + c[2]; };
        auto both = [=, *this]() mutable { x++; return x + q; };
        x += 2;
        c[1] = 7;
        return copied(q) + own(q) + both() + both() + x;
    }
};

KERNEL(k2)
{
    INDEX;
    Point p{n, {1, tid, 4}};
    out[i] = p.sum(in[i]);
}

struct Pair { int v; float w; };

KERNEL(k3)
{
    INDEX;
    int m[2][3] = {{1, 2, 3}, {4, 5, tid}};
    Pair pairs[2] = {{1, 2.0f}, {3, 4.0f}};
    auto f = [m, pairs, z = n * 2](int a) { return m[a & 1][a % 3] + pairs[a & 1].v + (int)pairs[1].w + z; };
    auto g = f;
    m[1][2] = 0;
    out[i] = f(tid) + g(tid + 1);
    auto outer = [=] {
        auto inner = [=](int r) { return m[1][r % 3] + n; };
        return inner(tid) + inner(1);
    };
    m[1][0] = 50;
    out[i + 128] = outer();
    auto counter = [k = tid * 2, &o = out[i + 256]](int d) mutable { k += d; o = k; return k; };
    int z = counter(1);
    out[i + 384] = z + counter(2);
}

template <class F> __device__ int many(F f, int count)
{
    int sum = 0;
    for (int j = 0; j < count; j++)
        sum += f(j, 2 * j) + f(j, 1.5f);
    return sum;
}

KERNEL(k4)
{
    INDEX;
    auto add = [=](auto q) { return q + tid; };
    out[i] = add(tid) + (int)add(1.5f) + add((short)3);
    auto add_to = [&](auto &r, const auto *p) { r += *p; };
    int x = 1;
    float y = 2;
    add_to(x, in + tid);
    add_to(y, inf + tid);
    out[i + 128] = x + (int)y;
    int m = in[i];
    auto up = [&](auto a, auto b) { m += (int)a; return (int)(a - b); };
    auto down = [&](auto a, auto b) { m -= (int)b; return (int)(a + b); };
    const int first = many(up, 5), second = many(down, 4);
    out[i + 256] = first + 3 * second + m;
    auto larger = [](auto a, auto b) -> decltype(a + b) { return a > b ? a : b; };
    out[i + 384] = (int)larger(in[i], 2.5f) + larger(in[i], n);
}

KERNEL(k5)
{
    INDEX;
    int sum = 0;
    auto each = [&](int count, auto &&f) {
        for (int k = 0; k < count; k++)
            f(k);
    };
    each(5, [&](auto k) { sum += in[(i + k) & 255]; });
    each(3, [&](int k) { each(2, [&](auto j) { sum = (sum * 3 + k + j) % 1000; }); });
    out[i] = sum;
}
