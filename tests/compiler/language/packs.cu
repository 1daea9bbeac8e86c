// Parameter packs: fold expressions, patterns, packs of values, partial specialisations.
template <class... T> __device__ int sum(T... t) { return (0 + ... + t); }
template <class... T> __device__ int differences(T... t) { return (t - ...) * 100 + (... - t) + (t - ... - 7) * 1000 + (7 - ... - t) * 3; }
template <class... T> __device__ bool all(T... t) { return (... && t); }
template <class... T> __device__ bool any(T... t) { return (t || ...); }
template <class T> __device__ T largest(T a) { return a; }
template <class T, class... R> __device__ T largest(T a, R... r)
{
    const T b = largest(r...);
    return a > b ? a : b;
}
template <class... T> __device__ void store(int *to, T... t)
{
    int k = 0;
    ((to[k++] = t), ...);
}

// Without an instance: what depends on its parameter says nothing.
template <class Operation> __device__ float merged(float s, float n) { return Operation::merge(s, n); }
template <class Operation> __device__ float unused(float s, float n) { return merged<Operation>(s, n); }
template <int count> __device__ int plus_count(int a) { return a + count; }
template <int bits> __device__ int plus_bytes(int a)
{
    const int bytes = bits / 8;
    return plus_count<bytes>(a);
}

KERNEL(k1)
{
    INDEX;
    const int a = in[i];
    out[i] = sum(a, 2, 3) + sum() + differences(a, 3, 8, tid);
    out[i + 128] = largest(a, 5, 7, 9);
    out[i + 256] = all(a > 1, a < 5, true) + 2 * any(a < 3, a == 100, false) + 4 * all() + 8 * any();
    store(out + 384 + i * 3, a, 1, 2.7f);
}

template <int... I> struct Indices { static constexpr int count = sizeof...(I); };
template <int N, int... I> struct Make : Make<N - 1, N - 1, I...> {};
template <int... I> struct Make<0, I...> { using type = Indices<I...>; };
template <int... I> __device__ int dot(const int *p, Indices<I...>) { return ((p[I] * (I + 1)) + ...); }
template <class F, int... I> __device__ void unrolled(F f, Indices<I...>) { (f(I), ...); }

KERNEL(k2)
{
    INDEX;
    int a[4] = {in[i], tid, 3, n};
    out[i] = dot(a, typename Make<4>::type{}) + Indices<4, 5>::count;
    int s = 0;
    unrolled([&](int k) { s = s * 2 + a[k]; }, Make<4>::type());
    out[i + 128] = s;
}

template <class... T> struct Tuple;
template <> struct Tuple<> {};
template <class T, class... R> struct Tuple<T, R...> : Tuple<R...> { T v; };
template <class T, int W> struct Vector {
    T d[W];
    template <class... A> __device__ Vector(A... a) : d{static_cast<T>(a)...} {}
};
template <class Operation, class... A> __device__ int apply(Operation f, A &&...a) { return f(static_cast<A &&>(a)...); }
template <class T> __device__ int size_of(const T &x, int k) { return (int)sizeof(T) * 10 + (int)x + k; }
template <class... T> __device__ int sizes(const T &...t)
{
    int a[] = {size_of(t, 1)..., 5}, s = 0;
    for (int v : a)
        s = s * 7 + v;
    return s + (int)(sizeof(T) + ...) + (int)sizeof...(T) * 1000;
}
template <class... T> __device__ int captured(T... t)
{
    auto product = [=](int m) { return ((t * m) + ...); };
    auto increase = [&](int m) { ((t += m), ...); return sum(t...); };
    const int before = product(3), increased = increase(2);
    return before * 10 + increased + product(1) + sum(t...) * 7;
}

KERNEL(k3)
{
    INDEX;
    Tuple<int, float> t;
    t.v = in[i];
    static_cast<Tuple<float> &>(t).v = 1.5f;
    out[i] = t.v + (int)(2 * static_cast<Tuple<float> &>(t).v);
    int z = 4;
    const int applied = apply([](int &a, int b, float c) { a += b; return a + (int)c; }, z, tid, 2.5f);
    out[i + 128] = applied * 3 + z;
    out[i + 256] = sizes((char)tid, tid, 2.0, (short)3);
    out[i + 384] = captured(tid, 2, in[i]);
    Vector<float, 3> v(tid, 2, 3.5);
    out[i + 512] = (int)(v.d[0] + v.d[1] + v.d[2] * 2);
}
