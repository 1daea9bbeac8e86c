// Textures, surfaces and arrays, compared with results computed by the host. Sizes are powers of two and coordinates
// multiples of 1/16 (of 1/4 in three dimensions), so that filtering is exact, too: weights are rounded to 1/256.
#include "check.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

enum { W = 8, H = 4, D = 4, POINTS = 40 };

// ---- Computed by the host

static float texel(int x, int y, int z) // the content of all textures, limited by their type
{
    return (float)((x * 7 + y * 37 + z * 59) % 100);
}

// Inside, at edges, outside; a multiple of 1 / grain.
static float coordinate(int k, int size, int dimension, int grain)
{
    return (float)(k * (5 + 2 * dimension) % (3 * grain * size) + dimension) / grain - size;
}

// The index of the texel used for coordinate n of a row; -1 for the border.
static int within(int n, int size, cudaTextureAddressMode mode)
{
    const int turn = (n % (2 * size) + 2 * size) % (2 * size);
    switch (mode) {
    case cudaAddressModeWrap: return turn % size;
    case cudaAddressModeMirror: return turn < size ? turn : 2 * size - 1 - turn;
    case cudaAddressModeBorder: return n < 0 || n >= size ? -1 : n;
    default: return n < 0 ? 0 : n >= size ? size - 1 : n;
    }
}

struct Case {
    int dimensions; // size 8 x 4 x 4
    cudaTextureFilterMode filter;
    cudaTextureAddressMode mode;
    bool normalized;
};

static const float BORDER = 17;

static float at_corner(const Case &c, const int n[3]) // indices before the address mode is applied
{
    const int size[3] = {W, H, D};
    int inside[3] = {0, 0, 0};
    for (int k = 0; k < c.dimensions; k++)
        if ((inside[k] = within(n[k], size[k], c.mode)) < 0)
            return BORDER;
    return texel(inside[0], inside[1], inside[2]);
}

static float expected(const Case &c, const float x[3])
{
    float sum = 0;
    for (int corner = 0; corner < 1 << c.dimensions; corner++) {
        float weight = 1;
        int n[3] = {0, 0, 0};
        for (int k = 0; k < c.dimensions; k++) {
            const bool linear = c.filter == cudaFilterModeLinear;
            const float from = linear ? x[k] - 0.5f : x[k], fraction = linear ? from - floorf(from) : 0;
            n[k] = (int)floorf(from) + (corner >> k & 1);
            weight *= corner >> k & 1 ? fraction : 1 - fraction;
        }
        if (weight > 0)
            sum += weight * at_corner(c, n);
    }
    return sum;
}

// ---- Computed by the device

struct Texture {
    cudaArray_t array = nullptr;
    cudaTextureObject_t object;

    template <class T> Texture(const Case &c, cudaTextureReadMode read, T (*texel_of)(float), unsigned flags = 0,
                               cudaChannelFormatDesc format = cudaCreateChannelDesc<T>())
    {
        const int h = c.dimensions > 1 ? H : 1, d = c.dimensions > 2 || flags & cudaArrayLayered ? D : 1;
        std::vector<T> texels;
        for (int k = 0; k < W * h * d; k++)
            texels.push_back(texel_of(texel(k % W, k / W % h, k / W / h)));
        CUDA(cudaMalloc3DArray(&array, &format, make_cudaExtent(W, c.dimensions > 1 ? H : 0, d > 1 ? D : 0), flags));
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(texels.data(), W * sizeof(T), W, h);
        copy.dstArray = array;
        copy.extent = make_cudaExtent(W, h, d);
        copy.kind = cudaMemcpyHostToDevice;
        CUDA(cudaMemcpy3D(&copy));
        cudaResourceDesc resource = {};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        object = create(resource, c, read);
    }

    static cudaTextureObject_t create(const cudaResourceDesc &resource, const Case &c, cudaTextureReadMode read)
    {
        cudaTextureDesc sampling = {};
        for (int k = 0; k < c.dimensions; k++)
            sampling.addressMode[k] = c.mode;
        for (float &channel : sampling.borderColor)
            channel = BORDER;
        sampling.filterMode = c.filter;
        sampling.readMode = read;
        sampling.normalizedCoords = c.normalized;
        cudaTextureObject_t object;
        CUDA(cudaCreateTextureObject(&object, &resource, &sampling, nullptr));
        return object;
    }

    ~Texture()
    {
        CUDA(cudaDestroyTextureObject(object));
        CUDA(cudaFreeArray(array));
    }
};

template <int DIMENSIONS> __global__ void sample(cudaTextureObject_t t, const float *x, float *out)
{
    const float *c = x + 3 * threadIdx.x;
    if (DIMENSIONS == 1)
        out[threadIdx.x] = tex1D<float>(t, c[0]);
    else if (DIMENSIONS == 2)
        out[threadIdx.x] = tex2D<float>(t, c[0], c[1]);
    else
        out[threadIdx.x] = tex3D<float>(t, c[0], c[1], c[2]);
}

static float same(float value) { return value; }
static __half half_of(float value) { return __float2half(value); }
static short2 short2_of(float value) { return make_short2((short)-value, (short)(100 * value)); }
static uchar4 uchar4_of(float value) { return make_uchar4((unsigned char)value, 255, 1, (unsigned char)(2 * value)); }

static float *x, *out; // coordinates, three for each point; results

template <int DIMENSIONS> static void compare_with_host()
{
    const int size[3] = {W, H, D}, grain = DIMENSIONS == 3 ? 4 : 16;
    for (int number = 0; number < 16; number++) {
        const Case c = {DIMENSIONS, (cudaTextureFilterMode)(number & 1), (cudaTextureAddressMode)(number >> 1 & 3), number >= 8};
        if (!c.normalized && (c.mode == cudaAddressModeWrap || c.mode == cudaAddressModeMirror))
            continue;
        for (int k = 0; k < 3 * POINTS; k++)
            x[k] = coordinate(k, size[k % 3], k % 3, grain) / (c.normalized ? size[k % 3] : 1);
        const Texture floats(c, cudaReadModeElementType, same);
        const Texture halves(c, cudaReadModeElementType, half_of, 0, cudaCreateChannelDescHalf());
        for (cudaTextureObject_t object : {floats.object, halves.object}) {
            sample<DIMENSIONS><<<1, POINTS>>>(object, x, out);
            CUDA(cudaDeviceSynchronize());
            for (int k = 0; k < POINTS; k++) {
                const float in_texels[3] = {coordinate(3 * k, W, 0, grain), coordinate(3 * k + 1, H, 1, grain),
                                            coordinate(3 * k + 2, D, 2, grain)};
                const float wanted = expected(c, in_texels), beside = object == halves.object ? wanted / 2048 : 0;
                CHECK(fabsf(out[k] - wanted) <= beside); // a filtered half is rounded to 11 bits
            }
        }
    }
}

// ---- Types, layers, levels, gathering

__global__ void types(cudaTextureObject_t shorts, cudaTextureObject_t bytes, cudaTextureObject_t fractions, float *out)
{
    const float x = threadIdx.x + 0.5f;
    const short2 s = tex2D<short2>(shorts, x, 1.5f);
    const uchar4 u = tex2D<uchar4>(bytes, x, 1.5f);
    const float4 f = tex2D<float4>(fractions, x, 1.5f);
    const float results[] = {(float)s.x, (float)s.y, (float)u.x, (float)u.y, (float)u.z, (float)u.w, f.x, f.y, f.z, f.w};
    for (int k = 0; k < 10; k++)
        out[10 * threadIdx.x + k] = results[k];
}

static void check_types()
{
    const Case point = {2, cudaFilterModePoint, cudaAddressModeClamp, false};
    const Texture shorts(point, cudaReadModeElementType, short2_of), bytes(point, cudaReadModeElementType, uchar4_of),
        fractions(point, cudaReadModeNormalizedFloat, uchar4_of);
    types<<<1, W>>>(shorts.object, bytes.object, fractions.object, out);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < W; k++) {
        const float v = texel(k, 1, 0), *r = out + 10 * k;
        CHECK(r[0] == -v && r[1] == 100 * v);
        CHECK(r[2] == v && r[3] == 255 && r[4] == 1 && r[5] == 2 * v);
        CHECK(fabsf(r[6] - v / 255) < 1e-6f && r[7] == 1 && fabsf(r[8] - 1 / 255.0f) < 1e-7f && fabsf(r[9] - 2 * v / 255) < 1e-6f);
    }
}

__global__ void more(cudaTextureObject_t rows, cudaTextureObject_t layers, cudaTextureObject_t square, float *out)
{
    const float x = threadIdx.x + 0.5f;
    float *r = out + 10 * threadIdx.x;
    r[0] = tex1DLayered<float>(rows, x, 2);
    r[1] = tex2DLayered<float>(layers, x, 1.5f, 3);
    r[2] = tex2DLayered<float>(layers, x, 1.5f, 100); // clamped to the last layer
    r[3] = tex2DLod<float>(square, x, 2.5f, 0);
    r[4] = tex2DGrad<float>(square, x, 2.5f, make_float2(1, 0), make_float2(0, 1));
    const float4 four = tex2Dgather<float4>(square, threadIdx.x + 1.0f, 2.0f);
    r[5] = four.x, r[6] = four.y, r[7] = four.z, r[8] = four.w;
}

static void check_layers_and_gathering()
{
    const Case row = {1, cudaFilterModePoint, cudaAddressModeClamp, false}, square = {2, cudaFilterModePoint, cudaAddressModeClamp, false};
    const Texture rows(row, cudaReadModeElementType, same, cudaArrayLayered), layers(square, cudaReadModeElementType, same, cudaArrayLayered),
        gathered(square, cudaReadModeElementType, same, cudaArrayTextureGather);
    more<<<1, W>>>(rows.object, layers.object, gathered.object, out);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < W; k++) {
        const float *r = out + 10 * k;
        const int next = k + 1 < W ? k + 1 : k;
        CHECK(r[0] == texel(k, 0, 2) && r[1] == texel(k, 1, 3) && r[2] == texel(k, 1, 3));
        CHECK(r[3] == texel(k, 2, 0) && r[4] == texel(k, 2, 0));
        CHECK(r[5] == texel(k, 2, 0) && r[6] == texel(next, 2, 0) && r[7] == texel(next, 1, 0) && r[8] == texel(k, 1, 0));
    }
}

// ---- Memory as a texture

__global__ void fetch(cudaTextureObject_t line, cudaTextureObject_t rows, float *out)
{
    const int k = threadIdx.x;
    out[k] = tex1Dfetch<float>(line, k - 2);
    out[k + 32] = tex2D<float>(rows, k + 0.75f, 1.5f);
}

static void check_memory()
{
    float *line;
    unsigned char *rows, bytes[2 * W];
    size_t pitch;
    CUDA(cudaMalloc(&line, 16 * sizeof *line));
    CUDA(cudaMallocPitch(&rows, &pitch, W, 2));
    float values[16];
    for (int k = 0; k < 16; k++)
        values[k] = k + 1.0f, bytes[k] = (unsigned char)(k * 16);
    CUDA(cudaMemcpy(line, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy2D(rows, pitch, bytes, W, W, 2, cudaMemcpyHostToDevice));
    cudaResourceDesc of_line = {}, of_rows = {}, actual;
    of_line.resType = cudaResourceTypeLinear;
    of_line.res.linear.devPtr = line;
    of_line.res.linear.desc = cudaCreateChannelDesc<float>();
    of_line.res.linear.sizeInBytes = 16 * sizeof *line;
    of_rows.resType = cudaResourceTypePitch2D;
    of_rows.res.pitch2D = {rows, cudaCreateChannelDesc<unsigned char>(), W, 2, pitch};
    const Case point = {1, cudaFilterModePoint, cudaAddressModeClamp, false}, linear = {2, cudaFilterModeLinear, cudaAddressModeClamp, false};
    const cudaTextureObject_t a = Texture::create(of_line, point, cudaReadModeElementType);
    const cudaTextureObject_t b = Texture::create(of_rows, linear, cudaReadModeNormalizedFloat);
    fetch<<<1, 24>>>(a, b, out);
    CUDA(cudaDeviceSynchronize());
    for (int k = 0; k < 24; k++) {
        const float byte = (k < W - 1 ? W + k + 0.25f : W + W - 1) * 16;
        CHECK(out[k] == (k < 2 || k >= 18 ? 0 : k - 1)); // 0 outside the line
        CHECK(fabsf(out[k + 32] - byte / 255) < 1e-6f);
    }
    CUDA(cudaGetTextureObjectResourceDesc(&actual, a));
    CHECK(actual.resType == cudaResourceTypeLinear && actual.res.linear.devPtr == line);
    CUDA(cudaDestroyTextureObject(a));
    CUDA(cudaDestroyTextureObject(b));
    CUDA(cudaFree(line));
    CUDA(cudaFree(rows));
}

// ---- Surfaces

__global__ void turn(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    const int x = threadIdx.x, y = threadIdx.y;
    surf2Dwrite(surf2Dread<float2>(from, x * sizeof(float2), y), to, (W - 1 - x) * sizeof(float2), H - 1 - y);
}

__global__ void at_boundaries(cudaSurfaceObject_t s, float *out)
{
    out[0] = surf2Dread<float2>(s, -8, 0, cudaBoundaryModeClamp).x;
    out[1] = surf2Dread<float2>(s, 8 * W, H, cudaBoundaryModeClamp).x;
    out[2] = surf2Dread<float2>(s, 8, -1, cudaBoundaryModeZero).y;
    surf2Dwrite(make_float2(-1, -1), s, 8 * W, 0, cudaBoundaryModeZero); // out of bounds: ignored
    surf2Dwrite(make_float2(-2, -3), s, 8 * W, 0, cudaBoundaryModeClamp);
    out[3] = surf2Dread<float2>(s, 8 * (W - 1), 0).x;
}

__global__ void in_layers(cudaSurfaceObject_t layers, cudaSurfaceObject_t cube)
{
    const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    surf3Dwrite((unsigned char)(x + 8 * y + 32 * z), cube, x, y, z);
    surf2DLayeredwrite((short)(x - 8 * y - 32 * z), layers, x * (int)sizeof(short), y, z);
    surf2DLayeredwrite((short)(surf2DLayeredread<short>(layers, x * (int)sizeof(short), y, z) * 2), layers, x * (int)sizeof(short), y, z);
}

static cudaSurfaceObject_t surface_of(cudaArray_t array)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t object;
    CUDA(cudaCreateSurfaceObject(&object, &resource));
    return object;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
// The deprecated copies, which continue in the next row: from host memory, from device memory, and between arrays.
static void copy_runs(cudaArray_t from, cudaArray_t to, float2 *texels, float2 *back)
{
    const size_t all = W * H * sizeof *texels, texel = sizeof *texels;
    float2 *device;
    CUDA(cudaMalloc(&device, all));
    for (int k = 0; k < W * H; k++)
        texels[k] = make_float2(3.0f * k, k);
    CUDA(cudaMemcpyToArray(from, 0, 0, texels, all, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpyFromArray(device, from, 0, 0, all, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyToArray(to, 0, 0, device, all, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyArrayToArray(to, texel, 0, from, 0, 2, 2 * texel, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpyFromArray(back, to, 0, 0, all, cudaMemcpyDeviceToHost));
    for (int k = 0; k < W * H; k++)
        CHECK(back[k].y == (k == 1 || k == 2 ? 2 * W + k - 1 : k) && back[k].x == 3 * back[k].y);
    CUDA(cudaFree(device));
}

static void check_flat_surfaces()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    cudaArray_t from, to;
    CUDA(cudaMallocArray(&from, &format, W, H, cudaArraySurfaceLoadStore));
    CUDA(cudaMallocArray(&to, &format, W, H, cudaArraySurfaceLoadStore));
    float2 texels[H][W], turned[H][W];
    for (int k = 0; k < W * H; k++)
        texels[k / W][k % W] = make_float2(k + 1.0f, -k);
    CUDA(cudaMemcpy2DToArray(from, 0, 0, texels, sizeof *texels, sizeof *texels, H, cudaMemcpyHostToDevice));
    const cudaSurfaceObject_t a = surface_of(from), b = surface_of(to);
    turn<<<1, dim3(W, H)>>>(a, b);
    CUDA(cudaMemcpy2DFromArray(turned, sizeof *turned, to, 0, 0, sizeof *turned, H, cudaMemcpyDeviceToHost));
    for (int k = 0; k < W * H; k++)
        CHECK(turned[k / W][k % W].x == W * H - k && turned[k / W][k % W].y == -(W * H - 1 - k));
    at_boundaries<<<1, 1>>>(a, out);
    CUDA(cudaDeviceSynchronize());
    CHECK(out[0] == 1 && out[1] == W * H && out[2] == 0 && out[3] == -2);
    CUDA(cudaMemcpy2DArrayToArray(to, 8, 1, from, 0, 0, 16, 2, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy2DFromArray(turned, sizeof *turned, to, 0, 1, sizeof *turned, 2, cudaMemcpyDeviceToHost));
    CHECK(turned[0][0].x == W * H - W && turned[0][1].x == 1 && turned[0][2].x == 2 && turned[1][1].x == W + 1);
    copy_runs(from, to, &texels[0][0], &turned[0][0]);
    CUDA(cudaDestroySurfaceObject(a));
    CUDA(cudaDestroySurfaceObject(b));
    CUDA(cudaFreeArray(from));
    CUDA(cudaFreeArray(to));
}

template <class T> static void copy_back(T *to, cudaArray_t from)
{
    cudaMemcpy3DParms copy = {};
    copy.srcArray = from;
    copy.dstPtr = make_cudaPitchedPtr(to, W * sizeof *to, W, H);
    copy.extent = make_cudaExtent(W, H, D);
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&copy));
}

static void check_deep_surfaces()
{
    const cudaChannelFormatDesc shorts = cudaCreateChannelDesc<short>(), bytes = cudaCreateChannelDesc<unsigned char>();
    const cudaExtent size = make_cudaExtent(W, H, D);
    cudaArray_t layers, cube;
    CUDA(cudaMalloc3DArray(&layers, &shorts, size, cudaArrayLayered | cudaArraySurfaceLoadStore));
    CUDA(cudaMalloc3DArray(&cube, &bytes, size, cudaArraySurfaceLoadStore));
    in_layers<<<1, dim3(W, H, D)>>>(surface_of(layers), surface_of(cube));
    short of_layers[W * H * D];
    unsigned char of_cube[W * H * D];
    copy_back(of_layers, layers);
    copy_back(of_cube, cube);
    for (int k = 0; k < W * H * D; k++)
        CHECK(of_cube[k] == k && of_layers[k] == 2 * (k % W - k / W * W));
    cudaChannelFormatDesc format;
    cudaExtent extent;
    unsigned flags;
    CUDA(cudaArrayGetInfo(&format, &extent, &flags, layers));
    CHECK(format.x == 16 && format.y == 0 && format.f == cudaChannelFormatKindSigned);
    CHECK(extent.width == W && extent.height == H && extent.depth == D && flags == (cudaArrayLayered | cudaArraySurfaceLoadStore));
}

int main()
{
    x = managed<float>(3 * POINTS);
    out = managed<float>(128);
    compare_with_host<1>();
    compare_with_host<2>();
    compare_with_host<3>();
    check_types();
    check_layers_and_gathering();
    check_memory();
    check_flat_surfaces();
    check_deep_surfaces();
    puts("PASS");
}
