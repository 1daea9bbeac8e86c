// textures.cu: results of textures and surfaces, in hexadecimal, for comparison with a GPU: all formats, filters, shapes and
// address modes. textures.h200.txt is the output of an H200.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../programs/check.h"

static uint32_t state;
static uint32_t hash() // deterministic everywhere
{
    state += 0x9e3779b9u;
    uint32_t h = state;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    return h ^ (h >> 16);
}

// Prints a case as one line: a hash of all its words, and eight of them as a sample.
static void print(const std::string &name, const std::vector<uint32_t> &words)
{
    uint32_t all = 2166136261u; // FNV-1a over words
    for (const uint32_t word : words)
        all = (all ^ word) * 16777619u;
    std::printf("%s: %zu words, %08x:", name.c_str(), words.size(), all);
    const size_t shown = std::min(words.size(), (size_t)8);
    for (size_t k = 0; k < shown; k++)
        std::printf(" %08x", words[k * words.size() / shown]);
    std::printf("\n");
}

// ---- Formats

enum Format { U8, S8, U16, S16, U32, S32, HALF, FLOAT };
static const char *const FORMAT[] = {"uchar", "schar", "ushort", "short", "uint", "int", "half", "float"};
static const int BITS[] = {8, 8, 16, 16, 32, 32, 16, 32};

static cudaChannelFormatDesc desc_of(Format f, int channels)
{
    const int b = BITS[f];
    const cudaChannelFormatKind kind = f == HALF || f == FLOAT ? cudaChannelFormatKindFloat
        : f == S8 || f == S16 || f == S32 ? cudaChannelFormatKindSigned : cudaChannelFormatKindUnsigned;
    return cudaCreateChannelDesc(b, channels > 1 ? b : 0, channels > 2 ? b : 0, channels > 3 ? b : 0, kind);
}

static std::vector<uint8_t> random_texels(Format f, int channels, size_t texels, uint32_t seed)
{
    state = seed * 977 + 13;
    std::vector<uint8_t> data(texels * channels * BITS[f] / 8);
    for (size_t k = 0; k < texels * channels; k++) {
        uint32_t h = hash();
        if (f == FLOAT)
            h = (h & 0x807fffffu) | ((120 + (h >> 23) % 14) << 23);
        if (f == HALF)
            h = (h & 0x83ffu) | ((10 + (h >> 10) % 10) << 10);
        std::memcpy(&data[k * BITS[f] / 8], &h, BITS[f] / 8);
    }
    return data;
}

template <typename T> static std::vector<uint8_t> bytes_of(const std::vector<T> &v)
{
    std::vector<uint8_t> b(v.size() * sizeof(T));
    std::memcpy(b.data(), v.data(), b.size());
    return b;
}

// ---- Textures

struct Texture {
    cudaArray_t array = nullptr;
    void *memory = nullptr;
    cudaTextureObject_t object = 0;
    ~Texture()
    {
        if (object) cudaDestroyTextureObject(object);
        if (array) cudaFreeArray(array);
        if (memory) cudaFree(memory);
    }
};

struct Sampler {
    cudaTextureFilterMode filter = cudaFilterModePoint;
    cudaTextureAddressMode address = cudaAddressModeClamp;
    cudaTextureReadMode read = cudaReadModeElementType;
    bool normalized = false, srgb = false;
    float border[4] = {1.0f, 0.5f, -0.25f, 3.0f};
};

static cudaTextureDesc texture_desc(const Sampler &s)
{
    cudaTextureDesc t{};
    for (int k = 0; k < 3; k++)
        t.addressMode[k] = s.address;
    t.filterMode = s.filter;
    t.readMode = s.read;
    t.normalizedCoords = s.normalized;
    t.sRGB = s.srgb;
    for (int k = 0; k < 4; k++)
        t.borderColor[k] = s.border[k];
    return t;
}

static void fill_array(Texture &x, Format f, int channels, size_t w, size_t h, size_t d, unsigned flags,
                       const std::vector<uint8_t> &data)
{
    const cudaChannelFormatDesc c = desc_of(f, channels);
    CUDA(cudaMalloc3DArray(&x.array, &c, make_cudaExtent(w, h, d), flags));
    const size_t texel = channels * BITS[f] / 8;
    cudaMemcpy3DParms p{};
    p.srcPtr = make_cudaPitchedPtr((void *)data.data(), w * texel, w, h ? h : 1);
    p.dstArray = x.array;
    p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
    p.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&p));
}

static void make(Texture &x, Format f, int channels, size_t w, size_t h, size_t d, unsigned flags,
                 const std::vector<uint8_t> &data, const Sampler &s)
{
    fill_array(x, f, channels, w, h, d, flags, data);
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = x.array;
    const cudaTextureDesc t = texture_desc(s);
    CUDA(cudaCreateTextureObject(&x.object, &r, &t, nullptr));
}

// Both filters, both read modes if requested, all address modes, coordinates in texels and normalised.
static std::vector<Sampler> all_samplers(int reads = 1)
{
    std::vector<Sampler> all;
    for (int k = 0; k < 16 * reads; k++) {
        Sampler s;
        s.filter = (cudaTextureFilterMode)(k / (8 * reads));
        s.read = (cudaTextureReadMode)(k / 8 % reads);
        s.address = (cudaTextureAddressMode)(k / 2 % 4);
        s.normalized = k % 2;
        all.push_back(s);
    }
    return all;
}

static std::string name_of(const Sampler &s)
{
    return " filter " + std::to_string(s.filter) + " address " + std::to_string(s.address) + " normalized " +
           std::to_string(s.normalized);
}

// ---- Sampling

enum How { D1, D2, D3, L1, L2, CUBE, CUBES, LEVEL_CUBE, GRAD_CUBE, G0, G1, G2, G3, LEVEL1, LEVEL2, LEVEL3, GRAD1, GRAD2, GRAD3, FETCH };

template <typename R> __device__ R sample(How how, cudaTextureObject_t t, float4 c)
{
    const int layer = __float_as_int(c.w);
    switch (how) {
    case D1: return tex1D<R>(t, c.x);
    case D2: return tex2D<R>(t, c.x, c.y);
    case D3: return tex3D<R>(t, c.x, c.y, c.z);
    case L1: return tex1DLayered<R>(t, c.x, layer);
    case L2: return tex2DLayered<R>(t, c.x, c.y, layer);
    case CUBE: return texCubemap<R>(t, c.x, c.y, c.z);
    case CUBES: return texCubemapLayered<R>(t, c.x, c.y, c.z, layer);
    case LEVEL_CUBE: return texCubemapLod<R>(t, c.x, c.y, c.z, 0.5f);
    case GRAD_CUBE: return texCubemapGrad<R>(t, c.x, c.y, c.z, make_float4(1, 0, 0, 0), make_float4(0, 1, 0, 0));
    case G0: return tex2Dgather<R>(t, c.x, c.y, 0);
    case G1: return tex2Dgather<R>(t, c.x, c.y, 1);
    case G2: return tex2Dgather<R>(t, c.x, c.y, 2);
    case G3: return tex2Dgather<R>(t, c.x, c.y, 3);
    case LEVEL1: return tex1DLod<R>(t, c.x, 0.0f);
    case LEVEL2: return tex2DLod<R>(t, c.x, c.y, 2.5f);
    case LEVEL3: return tex3DLod<R>(t, c.x, c.y, c.z, -1.0f);
    case GRAD1: return tex1DGrad<R>(t, c.x, 0.5f, 0.25f);
    case GRAD2: return tex2DGrad<R>(t, c.x, c.y, make_float2(1, 0), make_float2(0, 1));
    case GRAD3: return tex3DGrad<R>(t, c.x, c.y, c.z, make_float4(1, 0, 0, 0), make_float4(0, 1, 0, 0));
    default: return tex1Dfetch<R>(t, layer);
    }
}

template <How how, typename R> __global__ void sample_all(cudaTextureObject_t t, const float4 *c, R *out, int n)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        out[k] = sample<R>(how, t, c[k]);
}

template <How how, typename R>
static void run(const std::string &name, cudaTextureObject_t t, const std::vector<float4> &at, int channels)
{
    float4 *c;
    R *out;
    const int n = (int)at.size();
    std::vector<uint32_t> raw(n * 4), words;
    CUDA(cudaMalloc(&c, n * sizeof *c));
    CUDA(cudaMalloc(&out, n * sizeof *out));
    CUDA(cudaMemcpy(c, at.data(), n * sizeof *c, cudaMemcpyHostToDevice));
    sample_all<how, R><<<(n + 127) / 128, 128>>>(t, c, out, n);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(raw.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost));
    for (int k = 0; k < n; k++)
        for (int j = 0; j < channels; j++)
            words.push_back(raw[4 * k + j]);
    print(name, words);
    cudaFree(c);
    cudaFree(out);
}

// As floats, or as integers if the texture returns integers.
template <How how>
static void show(const std::string &name, cudaTextureObject_t t, const std::vector<float4> &at, int channels,
                 bool floats = true)
{
    if (floats)
        run<how, float4>(name, t, at, channels);
    else
        run<how, uint4>(name, t, at, channels);
}

// ---- Coordinates

static float unit() { return (hash() >> 8) * 0x1p-24f; } // [0, 1)

static float anywhere(float size, bool normalized) // inside, at edges, outside, far outside
{
    const uint32_t kind = hash() % 8;
    const float u = unit();
    float x;
    if (kind < 3)
        x = u * size;
    else if (kind == 3)
        x = floorf(u * (size + 1));
    else if (kind == 4)
        x = floorf(u * (2 * size + 2)) * 0.5f - 0.5f;
    else if (kind == 5)
        x = (u * 3 - 1) * size;
    else if (kind == 6)
        x = (u - 0.5f) * 12 * size;
    else
        x = (u - 0.5f) * 4000 * size;
    return normalized ? x / size : x;
}

static std::vector<float4> everywhere(int n, float w, float h, float d, bool normalized, uint32_t seed)
{
    state = seed * 7919 + 5;
    std::vector<float4> at(n);
    for (float4 &c : at) {
        c.x = anywhere(w, normalized);
        c.y = anywhere(h, normalized);
        c.z = anywhere(d, normalized);
        c.w = 0;
    }
    return at;
}

static std::vector<float4> inside(int n, float w, float h, float d, uint32_t seed)
{
    state = seed * 7919 + 7;
    std::vector<float4> at(n);
    for (float4 &c : at)
        c = make_float4(unit() * w, unit() * h, unit() * d, 0);
    return at;
}

static float4 x_only(float x) { return make_float4(x, 0.5f, 0.5f, 0); }

static float layer_bits(int layer)
{
    float f;
    std::memcpy(&f, &layer, 4);
    return f;
}

// ---- The parts

static void weights() // the precision of the weights
{
    Sampler s;
    s.filter = cudaFilterModeLinear;
    {
        Texture x;
        make(x, FLOAT, 1, 2, 0, 0, 0, bytes_of<float>({0, 256}), s);
        std::vector<float4> at;
        for (int k = 0; k < 2048; k++)
            at.push_back(x_only(0.5f + k / 2048.0f));
        show<D1>("weight 1d", x.object, at, 1);
        at.clear();
        for (int k = 0; k < 256; k++) // around the points where the rounding changes
            at.push_back(x_only(nextafterf(0.5f + (k + 0.5f) / 256, k % 2 ? 2.0f : 0.0f)));
        show<D1>("weight 1d ties", x.object, at, 1);
    }
    std::vector<float> stripes(20000), index(20000);
    for (int k = 0; k < 20000; k++) {
        stripes[k] = k % 2 ? 256.0f : 0.0f;
        index[k] = (float)k;
    }
    {
        Texture x;
        make(x, FLOAT, 1, 20000, 0, 0, 0, bytes_of(stripes), s);
        std::vector<float4> at;
        for (int k = 0; k < 512; k++)
            at.push_back(x_only(512.5f + k / 512.0f));
        for (int k = 0; k < 256; k++)
            at.push_back(x_only(16384.5f + k / 512.0f));
        show<D1>("weight 1d far", x.object, at, 1);
    }
    for (int w : {2, 7, 100, 1000, 4096, 20000})
        for (int linear = 0; linear < 2; linear++)
            for (int address = 0; address < 3; address++) {
                Sampler n = s;
                n.normalized = true;
                n.filter = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                n.address = (cudaTextureAddressMode)address;
                Texture x;
                std::vector<float> data(linear ? stripes : index);
                data.resize(w);
                make(x, FLOAT, 1, w, 0, 0, 0, bytes_of(data), n);
                state = w * 3 + linear;
                std::vector<float4> at;
                for (int k = 0; k < 64; k++)
                    at.push_back(x_only(unit()));
                for (int k = 0; k < 64; k++) { // next to the borders of texels and of weights
                    const float edge = floorf(unit() * w * (linear ? 512 : 1)) / (w * (linear ? 512.0f : 1.0f));
                    at.push_back(x_only(k % 3 == 0 ? edge : nextafterf(edge, k % 3 == 1 ? -9.0f : 9.0f)));
                }
                for (int k = 0; k < 64; k++)
                    at.push_back(x_only(unit() * 5 - 2.5f));
                const std::string name = "normalized width " + std::to_string(w) + " linear " + std::to_string(linear);
                show<D1>(name + " address " + std::to_string(address), x.object, at, 1);
            }
    {
        Sampler p;
        Texture x;
        make(x, FLOAT, 1, 20000, 0, 0, 0, bytes_of(index), p);
        std::vector<float4> at;
        for (int base : {1, 2, 5, 64, 1000, 16384})
            for (int j = 1; j <= 24; j++) {
                at.push_back(x_only((float)(base - ldexp(1, -j))));
                at.push_back(x_only((float)(base + ldexp(1, -j))));
            }
        for (int j = 1; j <= 32; j++)
            at.push_back(x_only((float)-ldexp(1, -j)));
        show<D1>("point near edges", x.object, at, 1);
    }
    for (int corner = 0; corner < 4; corner++) {
        std::vector<float> t(4, 0.0f);
        t[corner] = 65536;
        Texture x;
        make(x, FLOAT, 1, 2, 2, 0, 0, bytes_of(t), s);
        std::vector<float4> at;
        for (int k = 0; k < 256; k++)
            at.push_back(make_float4(0.5f + (k % 16 * 17 % 256 + 1) / 256.0f, 0.5f + (k / 16 * 15 + 3) / 256.0f, 0, 0));
        show<D2>("weight 2d corner " + std::to_string(corner), x.object, at, 1);
    }
    for (int corner = 0; corner < 8; corner++) {
        std::vector<float> t(8, 0.0f);
        t[corner] = 16777216;
        Texture x;
        make(x, FLOAT, 1, 2, 2, 2, 0, bytes_of(t), s);
        std::vector<float4> at;
        for (int k = 0; k < 216; k++)
            at.push_back(make_float4(0.5f + (k % 6 * 43 + 1) / 256.0f, 0.5f + (k / 6 % 6 * 41 + 3) / 256.0f,
                                     0.5f + (k / 36 * 47 + 5) / 256.0f, 0));
        show<D3>("weight 3d corner " + std::to_string(corner), x.object, at, 1);
    }
}

static void sums() // addition and rounding of the products
{
    Sampler s;
    s.filter = cudaFilterModeLinear;
    { // pairs of texels of different sizes
        Texture x;
        std::vector<float> t;
        const float pairs[][2] = {
            {1, 1}, {1, -1}, {1, 0x1p-10f}, {1, 0x1p-20f}, {1, 0x1p-30f}, {0x1p-30f, 1}, {1.5f, -1.25f}, {1e30f, 1e-30f},
            {0x1p-126f, 0x1p-126f}, {0x1p-140f, 0x1p-140f}, {0x1p-149f, 0}, {3e38f, 3e38f}, {-3e38f, 3e38f},
            {0x1.fffffep0f, 0x1.fffffep0f}, {0x1.fffffep0f, 0x1.000002p0f}, {0x1.234568p3f, 0x1.89abccp3f}, {-0.0f, -0.0f},
            {-0.0f, 0.0f}, {INFINITY, 1}, {NAN, 1}, {INFINITY, -INFINITY}, {1, INFINITY}, {1, NAN}};
        for (const auto &p : pairs)
            t.insert(t.end(), {p[0], p[1]});
        make(x, FLOAT, 1, t.size(), 0, 0, 0, bytes_of(t), s);
        for (size_t p = 0; p < t.size() / 2; p++) {
            std::vector<float4> at;
            for (int k = 0; k < 32; k++)
                at.push_back(x_only(2 * p + 0.5f + (k < 31 ? (k * 8 + k / 4) / 256.0f : 1.0f)));
            show<D1>("pair " + std::to_string(p), x.object, at, 1);
        }
    }
    for (Format f : {U8, S8, U16, S16, HALF, FLOAT}) {
        Sampler n = s;
        n.read = f < HALF ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        Texture x, y, z;
        make(x, f, 1, 64, 0, 0, 0, random_texels(f, 1, 64, 1), n);
        show<D1>(std::string("sum 1d ") + FORMAT[f], x.object, inside(256, 64, 0, 0, 11), 1);
        make(y, f, 1, 16, 16, 0, 0, random_texels(f, 1, 256, 2), n);
        show<D2>(std::string("sum 2d ") + FORMAT[f], y.object, inside(512, 16, 16, 0, 12), 1);
        make(z, f, 1, 8, 8, 8, 0, random_texels(f, 1, 512, 3), n);
        show<D3>(std::string("sum 3d ") + FORMAT[f], z.object, inside(512, 8, 8, 8, 13), 1);
    }
    { // bytes: all weights between some pairs
        Sampler n = s;
        n.read = cudaReadModeNormalizedFloat;
        const std::vector<uint8_t> bytes = {0, 255, 10, 200, 1, 2, 255, 255, 77, 77, 0, 1};
        Texture x;
        make(x, U8, 1, bytes.size(), 0, 0, 0, bytes, n);
        for (size_t p = 0; p < bytes.size() / 2; p++) {
            std::vector<float4> at;
            for (int k = 0; k < 256; k += p < 2 ? 1 : 4)
                at.push_back(x_only(2 * p + 0.5f + k / 256.0f));
            show<D1>("bytes " + std::to_string(p), x.object, at, 1);
        }
    }
}

static void conversions() // all values of small formats as normalised floats
{
    for (int srgb = 0; srgb < 2; srgb++)
        for (Format f : {U8, S8, U16, S16}) {
            if (srgb && f != U8)
                continue;
            Sampler s;
            s.read = cudaReadModeNormalizedFloat;
            s.srgb = srgb;
            std::vector<uint8_t> data;
            for (int k = 0; k < 256; k++) {
                uint32_t v = k;
                if (BITS[f] == 16 && k >= 8) // only some: all near 0, near the largest signed one and near the largest
                    v = k > 247 ? 65280 + k : k > 126 && k < 130 ? 32640 + k : k * 257 + (k & 3);
                for (int j = 0; j < 4; j++)
                    for (int b = 0; b < BITS[f] / 8; b++)
                        data.push_back((uint8_t)(v >> (8 * b)));
            }
            Texture x;
            make(x, f, 4, 256, 0, 0, 0, data, s);
            std::vector<float4> at;
            for (int k = 0; k < 256; k++)
                at.push_back(x_only(k + 0.5f));
            const std::string name = std::string(srgb ? "sRGB " : "normalised ") + FORMAT[f];
            show<D1>(name, x.object, at, 1);
            Sampler l = s;
            l.filter = cudaFilterModeLinear;
            Texture y;
            make(y, f, 4, 256, 0, 0, 0, data, l);
            show<D1>(name + " linear", y.object, at, 1);
            if (srgb)
                show<D1>(name + " linear between", y.object, inside(32, 256, 0, 0, 3), 4);
        }
}

// Whether the format supports this sampling; for rarer formats only some of the modes are tested.
static bool is_sampled(Format f, int channels, const Sampler &s)
{
    const bool floats = f == HALF || f == FLOAT, wide = f == U32 || f == S32, read = s.read == cudaReadModeNormalizedFloat;
    if (read ? floats || wide : !floats && s.filter == cudaFilterModeLinear)
        return false;
    const bool rare = f == S8 || f == S16 || wide;
    return !rare || (channels != 2 && (s.address == cudaAddressModeClamp || s.address == cudaAddressModeBorder));
}

template <How how> static void matrix(int dimensions) // all formats in all modes
{
    const size_t w = 13, h = dimensions > 1 ? 6 : 0, d = dimensions > 2 ? 5 : 0, texels = w * (h ? h : 1) * (d ? d : 1);
    uint32_t seed = 100 * dimensions;
    for (Format f : {U8, U16, HALF, FLOAT, S8, S16, U32, S32})
        for (int channels : {1, 2, 4})
            for (const Sampler &s : all_samplers(2)) {
                if (!is_sampled(f, channels, s))
                    continue;
                seed++;
                Texture x;
                make(x, f, channels, w, h, d, 0, random_texels(f, channels, texels, seed), s);
                const bool floats = f == HALF || f == FLOAT || s.read == cudaReadModeNormalizedFloat;
                const int points = channels == 1 ? 32 : 64 / channels;
                const std::string name = std::to_string(dimensions) + "d " + FORMAT[f] + std::to_string(channels) +
                                         (s.filter ? " linear" : " point") + (s.read ? " normfloat" : " element") +
                                         " address " + std::to_string(s.address) + (s.normalized ? " normalized" : "");
                const std::vector<float4> at = everywhere(points, (float)w, (float)h, (float)d, s.normalized, seed);
                show<how>(name, x.object, at, channels, floats);
            }
}

static void strange_coordinates()
{
    std::vector<float4> at;
    for (float x : {NAN, -NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 3e9f, -3e9f, 2147483648.0f, 2147483520.0f, 1e7f, -1e7f,
                    16777216.0f, 8388609.0f, 65536.5f, -65536.5f, 4194304.25f, 131072.75f, 1e-30f, -1e-30f, -0.0f, 1e-45f,
                    32767.75f, 32768.25f, -32768.25f, 100000.3f})
        at.push_back(x_only(x));
    std::vector<float> ramp;
    for (int k = 0; k < 11; k++)
        ramp.push_back(k * 256.0f + 256);
    for (const Sampler &s : all_samplers()) {
        Texture x;
        make(x, FLOAT, 1, 11, 0, 0, 0, bytes_of(ramp), s);
        show<D1>("strange" + name_of(s), x.object, at, 1);
    }
}

static void gathers()
{
    uint32_t seed = 5000;
    for (Format f : {U8, FLOAT, S16})
        for (int channels : {1, 2, 4})
            for (int address = 0; address < 4; address++)
                for (int normalized = 0; normalized < 2; normalized++) {
                    if (f == S16 && address != 1)
                        continue;
                    Sampler s;
                    s.address = (cudaTextureAddressMode)address;
                    s.normalized = normalized;
                    s.read = f == S16 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
                    Texture x;
                    seed++;
                    make(x, f, channels, 9, 7, 0, cudaArrayTextureGather, random_texels(f, channels, 63, seed), s);
                    const std::vector<float4> at = everywhere(8, 9, 7, 0, normalized, seed);
                    const std::string name = std::string("gather ") + FORMAT[f] + std::to_string(channels) + " address " +
                                             std::to_string(address) + (normalized ? " normalized" : "") + " component ";
                    show<G0>(name + "0", x.object, at, 4, f != U8);
                    show<G1>(name + "1", x.object, at, 4, f != U8);
                    if (channels == 4)
                        show<G2>(name + "2", x.object, at, 4, f != U8);
                    if (channels == 4 || (channels == 1 && address == 1))
                        show<G3>(name + "3", x.object, at, 4, f != U8);
                }
    // around the points where the selected texel changes
    Sampler s;
    Texture x;
    make(x, FLOAT, 1, 9, 7, 0, cudaArrayTextureGather, random_texels(FLOAT, 1, 63, 77), s);
    std::vector<float4> at;
    for (int j = 1; j < 24; j++)
        for (int sign : {-1, 1})
            at.push_back(make_float4((float)(3.5 + sign * ldexp(1, -j)), 2.75f, 0, 0));
    show<G0>("gather edges", x.object, at, 4);
    s.filter = cudaFilterModeLinear;
    Texture y;
    make(y, FLOAT, 1, 9, 7, 0, cudaArrayTextureGather, random_texels(FLOAT, 1, 63, 77), s);
    show<G0>("gather edges linear", y.object, at, 4);
}

static void layers()
{
    for (const Sampler &s : all_samplers()) {
        std::vector<float4> at = everywhere(48, 10, 6, 1, s.normalized, 31);
        int k = 0;
        for (float4 &c : at)
            c.w = layer_bits(k++ % 12 - 4);
        at[0].w = layer_bits(INT32_MIN);
        at[1].w = layer_bits(INT32_MAX);
        at[2].w = layer_bits(65536);
        Texture x, y;
        make(x, FLOAT, 1, 10, 0, 4, cudaArrayLayered, random_texels(FLOAT, 1, 40, 8), s);
        show<L1>("layered 1d" + name_of(s), x.object, at, 1);
        make(y, FLOAT, 1, 10, 6, 4, cudaArrayLayered, random_texels(FLOAT, 1, 240, 9), s);
        show<L2>("layered 2d" + name_of(s), y.object, at, 1);
    }
}

// Directions: random, along the axes, through texels, edges and corners of a cube with the given size.
static std::vector<float4> directions(int size)
{
    std::vector<float4> all;
    state = 77;
    for (int k = 0; k < 64; k++) {
        float c[3];
        for (float &x : c)
            x = ((int)(hash() >> 8) - (1 << 23)) * (1.0f / (1 << 20));
        all.push_back({c[0], c[1], c[2], 0});
    }
    for (int k = 0; k < 27; k++)
        all.push_back({k / 9 - 1.0f, k / 3 % 3 - 1.0f, k % 3 - 1.0f, 0});
    for (int face = 0; face < 6; face++)
        for (int k = 0; k < size * size; k++) {
            const float u = (k % size + 0.5f) / size * 2 - 1, v = (k / size + 0.5f) / size * 2 - 1, to = face % 2 ? -1 : 1;
            all.push_back(face < 2 ? float4{to, u, v, 0} : face < 4 ? float4{u, to, v, 0} : float4{u, v, to, 0});
        }
    return all;
}

static void cubes()
{
    enum { SIDE = 5, LAYERS = 3 };
    for (Sampler s : all_samplers()) {
        if (!s.normalized)
            continue;
        std::vector<float4> at = directions(SIDE);
        Texture x, y;
        make(x, FLOAT, 1, SIDE, SIDE, 6, cudaArrayCubemap, random_texels(FLOAT, 1, SIDE * SIDE * 6, 21), s);
        show<CUBE>("cube" + name_of(s), x.object, at, 1);
        show<LEVEL_CUBE>("level cube" + name_of(s), x.object, at, 1);
        show<GRAD_CUBE>("grad cube" + name_of(s), x.object, at, 1);
        int k = 0;
        for (float4 &c : at)
            c.w = layer_bits(k++ % 7 - 2);
        make(y, FLOAT, 1, SIDE, SIDE, 6 * LAYERS, cudaArrayCubemap | cudaArrayLayered,
             random_texels(FLOAT, 1, SIDE * SIDE * 6 * LAYERS, 22), s);
        show<CUBES>("layered cube" + name_of(s), y.object, at, 1);
    }
}

static void levels()
{
    Sampler s;
    s.filter = cudaFilterModeLinear;
    s.normalized = true;
    Texture x, y, z;
    make(x, FLOAT, 1, 13, 0, 0, 0, random_texels(FLOAT, 1, 13, 1), s);
    make(y, FLOAT, 1, 13, 6, 0, 0, random_texels(FLOAT, 1, 78, 2), s);
    make(z, FLOAT, 1, 13, 6, 5, 0, random_texels(FLOAT, 1, 390, 3), s);
    const std::vector<float4> at = everywhere(32, 1, 1, 1, false, 17);
    show<LEVEL1>("level 1d", x.object, at, 1);
    show<LEVEL2>("level 2d", y.object, at, 1);
    show<LEVEL3>("level 3d", z.object, at, 1);
    show<GRAD1>("grad 1d", x.object, at, 1);
    show<GRAD2>("grad 2d", y.object, at, 1);
    show<GRAD3>("grad 3d", z.object, at, 1);
}

static void linear_memory()
{
    for (Format f : {U8, S8, U16, S16, U32, S32, HALF, FLOAT})
        for (int channels : {1, 2, 4})
            for (int read = 0; read < 2; read++) {
                if (read && (f == U32 || f == S32 || f == HALF || f == FLOAT))
                    continue;
                Texture x;
                const std::vector<uint8_t> data = random_texels(f, channels, 20, 60 + channels);
                CUDA(cudaMalloc(&x.memory, 4096));
                CUDA(cudaMemset(x.memory, 0x5a, 4096));
                CUDA(cudaMemcpy(x.memory, data.data(), data.size(), cudaMemcpyHostToDevice));
                cudaResourceDesc r{};
                r.resType = cudaResourceTypeLinear;
                r.res.linear.devPtr = x.memory;
                r.res.linear.desc = desc_of(f, channels);
                r.res.linear.sizeInBytes = data.size();
                Sampler s;
                s.read = (cudaTextureReadMode)read;
                if (channels == 4)
                    s.address = cudaAddressModeBorder;
                const cudaTextureDesc t = texture_desc(s);
                CUDA(cudaCreateTextureObject(&x.object, &r, &t, nullptr));
                std::vector<float4> at;
                for (int i : {0, 1, 7, 18, 19, 20, 21, 40, -1, -2, 1000, 1 << 27, (1 << 27) + 3, INT32_MAX, INT32_MIN,
                              INT32_MIN + 5})
                    at.push_back(make_float4(0, 0, 0, layer_bits(i)));
                const std::string name = std::string("fetch ") + FORMAT[f] + std::to_string(channels);
                show<FETCH>(name + (read ? " normfloat" : ""), x.object, at, 4, read || f == HALF || f == FLOAT);
            }
}

static void pitched()
{
    for (Format f : {U8, FLOAT})
        for (Sampler s : all_samplers()) {
            Texture x;
            size_t pitch;
            const std::vector<uint8_t> data = random_texels(f, 1, 11 * 7, 70);
            const size_t row = 11 * BITS[f] / 8;
            CUDA(cudaMallocPitch(&x.memory, &pitch, row, 7));
            CUDA(cudaMemcpy2D(x.memory, pitch, data.data(), row, row, 7, cudaMemcpyHostToDevice));
            cudaResourceDesc r{};
            r.resType = cudaResourceTypePitch2D;
            r.res.pitch2D.devPtr = x.memory;
            r.res.pitch2D.desc = desc_of(f, 1);
            r.res.pitch2D.width = 11;
            r.res.pitch2D.height = 7;
            r.res.pitch2D.pitchInBytes = pitch;
            s.read = f == U8 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
            const cudaTextureDesc t = texture_desc(s);
            CUDA(cudaCreateTextureObject(&x.object, &r, &t, nullptr));
            show<D2>(std::string("pitch2d ") + FORMAT[f] + name_of(s), x.object,
                     everywhere(32, 11, 7, 0, s.normalized, 71), 1);
        }
}

static void missing_channels() // reads four channels, and types other than the texture's
{
    for (Format f : {U8, S8, U16, S16, U32, S32, HALF, FLOAT})
        for (int channels : {1, 2, 4})
            for (int read = 0; read < 2; read++) {
                if (read && (f == U32 || f == S32 || f == HALF || f == FLOAT))
                    continue;
                Sampler s;
                s.address = cudaAddressModeBorder;
                s.read = (cudaTextureReadMode)read;
                Texture x;
                make(x, f, channels, 5, 0, 0, 0, random_texels(f, channels, 5, 80), s);
                const std::vector<float4> at = {x_only(1.5f), x_only(3.5f), x_only(-1), x_only(9)};
                const std::string name = std::string("four of ") + FORMAT[f] + std::to_string(channels) +
                                         (read ? " normfloat" : " element");
                run<D1, float4>(name + " as float", x.object, at, 4);
                run<D1, uint4>(name + " as uint", x.object, at, 4);
                run<D1, int4>(name + " as int", x.object, at, 4);
            }
    for (int c = 0; c < 6; c++) { // border colours that a format cannot represent
        const float colours[] = {2.0f, -2.0f, 0.3f, 1e6f, -1e-3f, NAN};
        for (Format f : {U8, S8, U16, S16, U32, S32, HALF, FLOAT})
            for (int read = 0; read < 2; read++) {
                const bool whole = f != HALF && f != FLOAT;
                if (read && (f == U32 || f == S32 || !whole))
                    continue;
                Sampler s;
                s.address = cudaAddressModeBorder;
                s.read = (cudaTextureReadMode)read;
                s.border[0] = s.border[1] = s.border[2] = s.border[3] = colours[c];
                s.filter = !whole || read ? cudaFilterModeLinear : cudaFilterModePoint;
                Texture x;
                make(x, f, 1, 5, 0, 0, 0, random_texels(f, 1, 5, 81), s);
                const std::string name = "border " + std::to_string(c) + " " + FORMAT[f];
                show<D1>(name + (read ? " normfloat" : " element"), x.object,
                         {x_only(-7), x_only(-0.25f), x_only(0.25f), x_only(5)}, 1, read || !whole);
            }
    }
}

// ---- Surfaces

struct Result {
    uint32_t word[4];
};

template <typename T> __device__ Result as_words(T value)
{
    Result r = {};
    memcpy(&r, &value, sizeof value);
    return r;
}

template <typename T> __device__ T value_of(int k)
{
    T value;
    uint32_t words[4];
    for (int j = 0; j < 4; j++)
        words[j] = 0x01010101u * (k + 1) + 0x10203040u * j;
    memcpy(&value, words, sizeof value);
    return value;
}

template <typename T, int DIMENSIONS, cudaSurfaceBoundaryMode MODE> // 4, 5: layered with 1 and 2
__global__ void surface_read(cudaSurfaceObject_t s, const int4 *at, Result *out)
{
    const int k = threadIdx.x;
    const int x = at[k].x * (int)sizeof(T), y = at[k].y, z = at[k].z;
    T v;
    if (DIMENSIONS == 1) v = surf1Dread<T>(s, x, MODE);
    if (DIMENSIONS == 2) v = surf2Dread<T>(s, x, y, MODE);
    if (DIMENSIONS == 3) v = surf3Dread<T>(s, x, y, z, MODE);
    if (DIMENSIONS == 4) v = surf1DLayeredread<T>(s, x, z, MODE);
    if (DIMENSIONS == 5) v = surf2DLayeredread<T>(s, x, y, z, MODE);
    out[k] = as_words(v);
}

template <typename T, int DIMENSIONS, cudaSurfaceBoundaryMode MODE>
__global__ void surface_write(cudaSurfaceObject_t s, const int4 *at, int n)
{
    for (int k = 0; k < n; k++) { // one thread: of two writes to one texel the last remains
        const int x = at[k].x * (int)sizeof(T), y = at[k].y, z = at[k].z;
        const T v = value_of<T>(k);
        if (DIMENSIONS == 1) surf1Dwrite(v, s, x, MODE);
        if (DIMENSIONS == 2) surf2Dwrite(v, s, x, y, MODE);
        if (DIMENSIONS == 3) surf3Dwrite(v, s, x, y, z, MODE);
        if (DIMENSIONS == 4) surf1DLayeredwrite(v, s, x, z, MODE);
        if (DIMENSIONS == 5) surf2DLayeredwrite(v, s, x, y, z, MODE);
        __threadfence();
    }
}

static int near(int size, int out) // the index of a texel, or one up to `out` outside
{
    return (int)(hash() % ((size ? size : 1) + 2 * out)) - out;
}

template <typename T, int DIMENSIONS, cudaSurfaceBoundaryMode MODE>
static void surface(const std::string &name, Format f, int channels)
{
    const bool layered = DIMENSIONS > 3;
    const int w = 6, h = DIMENSIONS == 2 || DIMENSIONS == 3 || DIMENSIONS == 5 ? 4 : 0, d = DIMENSIONS >= 3 ? 3 : 0;
    const size_t texels = (size_t)w * (h ? h : 1) * (d ? d : 1), bytes = texels * channels * BITS[f] / 8;
    Texture x;
    fill_array(x, f, channels, w, h, d, cudaArraySurfaceLoadStore | (layered ? cudaArrayLayered : 0),
               random_texels(f, channels, texels, 90 + DIMENSIONS));
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = x.array;
    cudaSurfaceObject_t s;
    CUDA(cudaCreateSurfaceObject(&s, &r));
    state = DIMENSIONS * 31 + MODE;
    std::vector<int4> at;
    for (int k = 0; k < 24; k++) {
        const int out = MODE == cudaBoundaryModeTrap ? 0 : 3;
        const int width = w * channels * BITS[f] / 8 / (int)sizeof(T);
        const int z = near(d, out), y = near(h, out), x = near(width, out);
        at.push_back(make_int4(x, y, z, 0));
        if (k % 4)
            at.back().z = d ? (at.back().z % d + d) % d : 0;
        if (k % 3 == 1)
            at.back().y = h ? (at.back().y % h + h) % h : 0;
        if (k % 3 == 2)
            at.back().x = (at.back().x % width + width) % width;
    }
    int4 *places;
    Result *out;
    CUDA(cudaMalloc(&places, at.size() * sizeof *places));
    CUDA(cudaMalloc(&out, at.size() * sizeof *out));
    CUDA(cudaMemcpy(places, at.data(), at.size() * sizeof *places, cudaMemcpyHostToDevice));
    surface_read<T, DIMENSIONS, MODE><<<1, (int)at.size()>>>(s, places, out);
    std::vector<uint32_t> words(at.size() * 4), used;
    CUDA(cudaMemcpy(words.data(), out, words.size() * 4, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < at.size(); k++)
        used.insert(used.end(), words.begin() + 4 * k, words.begin() + 4 * k + (sizeof(T) + 3) / 4);
    print(name + " read", used);
    surface_write<T, DIMENSIONS, MODE><<<1, 1>>>(s, places, (int)at.size());
    CUDA(cudaDeviceSynchronize());
    std::vector<uint8_t> back((bytes + 3) / 4 * 4);
    cudaMemcpy3DParms p{};
    p.dstPtr = make_cudaPitchedPtr(back.data(), w * channels * BITS[f] / 8, w, h ? h : 1);
    p.srcArray = x.array;
    p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
    p.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&p));
    std::vector<uint32_t> all(back.size() / 4);
    std::memcpy(all.data(), back.data(), back.size());
    print(name + " written", all);
    cudaDestroySurfaceObject(s);
    cudaFree(places);
    cudaFree(out);
}

template <typename T, int DIMENSIONS> static void surfaces_of(const std::string &type, Format f, int channels)
{
    const bool layered = DIMENSIONS > 3;
    const std::string shape = (layered ? " layered " : " ") + std::to_string(layered ? DIMENSIONS - 3 : DIMENSIONS);
    const std::string name = "surface " + type + shape + "d";
    surface<T, DIMENSIONS, cudaBoundaryModeZero>(name + " zero", f, channels);
    surface<T, DIMENSIONS, cudaBoundaryModeClamp>(name + " clamp", f, channels);
    surface<T, DIMENSIONS, cudaBoundaryModeTrap>(name + " trap", f, channels);
}

static void surfaces()
{
    surfaces_of<uchar1, 1>("uchar1", U8, 1);
    surfaces_of<uchar1, 2>("uchar1", U8, 1);
    surfaces_of<uchar1, 3>("uchar1", U8, 1);
    surfaces_of<uchar1, 4>("uchar1", U8, 1);
    surfaces_of<uchar1, 5>("uchar1", U8, 1);
    surfaces_of<uchar4, 2>("uchar4", U8, 4);
    surfaces_of<short2, 2>("short2", S16, 2);
    surfaces_of<short2, 5>("short2", S16, 2);
    surfaces_of<float, 1>("float", FLOAT, 1);
    surfaces_of<float, 2>("float", FLOAT, 1);
    surfaces_of<float, 3>("float", FLOAT, 1);
    surfaces_of<float, 4>("float", FLOAT, 1);
    surfaces_of<float, 5>("float", FLOAT, 1);
    surfaces_of<float4, 2>("float4", FLOAT, 4);
    surfaces_of<float4, 3>("float4", FLOAT, 4);
    surfaces_of<uint2, 2>("uint2", U32, 2);
    surfaces_of<uchar1, 2>("uchar1 of uchar4", U8, 4);
    surfaces_of<unsigned, 2>("uint of uchar4", U8, 4);
    surfaces_of<uint2, 2>("uint2 of float4", FLOAT, 4);
    surfaces_of<longlong2, 2>("longlong2 of float4", FLOAT, 4);
}

int main()
{
    weights();
    sums();
    conversions();
    strange_coordinates();
    matrix<D1>(1);
    matrix<D2>(2);
    matrix<D3>(3);
    gathers();
    layers();
    levels();
    linear_memory();
    pitched();
    missing_channels();
    surfaces();
    cubes();
}
