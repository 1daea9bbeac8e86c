from drywarp.learn.exercise import Goal, given, result, sixteenths


def data(n):
    values = sixteenths(n)
    return {"in": given(values), "out": result(values)}


EXERCISE = dict(
    chapter="6. Memory", title="Vector loads", kind="optimise",
    task="Each warp makes four load requests and four store requests: let it make one of each, for four times as many bytes.",
    hints=("A float4 is four consecutive floats, x, y, z and w; a thread loads it at once.",
           "A pointer to float can be cast to a pointer to float4: its element i is elements 4 * i to 4 * i + 3.",
           "int i = blockIdx.x * 256 + threadIdx.x;  ((float4 *)out)[i] = ((const float4 *)in)[i];"),
    why="The sectors are the same, but there are a quarter of the instructions: one request of a warp moves 512 bytes, not 128.",
    lesson="step09_vectorload/README.md",
    kernel="copy", data=data, grid=lambda n: n // 1024, sizes=(1024, 4096), random_sizes=(1024, 8192, 1024),
    goals=(Goal("load requests per block", "global_load_requests", True, 8), Goal("store requests per block", "global_store_requests", True, 8),
           Goal("load sectors per block", "global_load_sectors", True, 128)),
    wrong=(
        ("blockIdx.x * 256", "blockIdx.x * 1024"),
        ("blockIdx.x * 256", "blockIdx.x * 64"),
        ("blockIdx.x * 256 + threadIdx.x", "threadIdx.x"),
        ("float4 *)", "float2 *)"),
        ("((float4 *)out)[i] = ((const float4 *)in)[i];", "out[i] = in[i];"),
        ("((const float4 *)in)[i]", "*(const float4 *)(in + i)"),
        ("((const float4 *)in)[i]", "make_float4(in[4 * i], in[4 * i + 1], in[4 * i + 2], in[4 * i + 3])"),
        ("((const float4 *)in)[i]", "make_float4(in[i], in[i], in[i], in[i])"),
    ),
)
