// copies.c: copies, fills, and copies to and from variables.
#include "runtime/api/graphs.h"

// ---- Copies
//
// Findings name the synchronous function, even if the program called the asynchronous or the symbol variant.

static RowCopy linear_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return (RowCopy){to, bytes, from, bytes, bytes, 1, kind};
}

// Executes a copy without a stream. `call_site`: the call's return address.
static cudaError_t copy_now(const char *call, const RowCopy *rows, const void *call_site)
{
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    RETURN_IF_ERROR(sim_check_rows(rows));
    const bool is_staged = sim_is_staged(rows->to, rows->from);
    DEFAULT_STREAM_OPERATION_FOR(call, !is_staged && sim_is_synchronous_copy(rows->kind, rows->to, rows->from), call_site);
    if (is_staged)
        sim_note_staged_copy();
    return sim_record_error(sim_copy_rows(call, rows));
}

API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    const RowCopy rows = linear_copy(to, from, bytes, kind);
    return copy_now(__func__, &rows, __builtin_return_address(0));
}

API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BEGIN_CALL();
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = sim_make_2d_copy(to, bytes, from, bytes, bytes, 1, kind)});
    const RowCopy rows = linear_copy(to, from, bytes, kind);
    return sim_record_error(sim_copy_rows("cudaMemcpy", &rows));
}

API cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                             size_t height, enum cudaMemcpyKind kind)
{
    BEGIN_CALL();
    return copy_now(__func__, &(RowCopy){to, to_pitch, from, from_pitch, width, height, kind},
                    __builtin_return_address(0));
}

API cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                  size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    BEGIN_CALL();
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemcpy,
                            .copy = sim_make_2d_copy(to, to_pitch, from, from_pitch, width, height, kind)});
    return sim_record_error(sim_copy_rows("cudaMemcpy2D", &(RowCopy){to, to_pitch, from, from_pitch, width, height, kind}));
}

static const char NAME_OF_3D_COPY[] = "cudaMemcpy2D"; // in findings

static cudaError_t copy_3d_now(const char *call, const struct cudaMemcpy3DParms *p, const void *call_site)
{
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    REQUIRE(p, cudaErrorInvalidValue);
    RETURN_IF_ERROR(sim_check_3d_copy(p));
    if (sim_is_empty_copy(p))
        return cudaSuccess;
    const bool is_staged = !p->srcArray && !p->dstArray && sim_is_staged(p->dstPtr.ptr, p->srcPtr.ptr);
    DEFAULT_STREAM_OPERATION_FOR(call,
                          p->srcArray || p->dstArray ? p->kind != cudaMemcpyDeviceToDevice
                                                     : !is_staged && sim_is_synchronous_copy(p->kind, p->dstPtr.ptr, p->srcPtr.ptr),
                          call_site);
    if (is_staged)
        sim_note_staged_copy();
    return sim_record_error(sim_copy_3d(NAME_OF_3D_COPY, p));
}

API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    BEGIN_CALL();
    return copy_3d_now(__func__, p, __builtin_return_address(0));
}

API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE(p, cudaErrorInvalidValue);
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemcpy, .copy = *p});
    return sim_record_error(sim_copy_3d(NAME_OF_3D_COPY, p));
}

// ---- Copies from device to device

static bool is_of_device(const void *pointer, size_t bytes, int device)
{
    return bytes == 0 ||
           (sim_on_device(pointer, bytes) && sim_allocation_at((uint64_t)(uintptr_t)pointer)->device == device);
}

// Makes the host wait for both devices' work before a peer copy.
static cudaError_t begin_peer_copy(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    REQUIRE(sim_is_device(to_device) && sim_is_device(from_device), cudaErrorInvalidDevice);
    REQUIRE(is_of_device(to, bytes, to_device) && is_of_device(from, bytes, from_device), cudaErrorInvalidValue);
    sim_synchronize_host_with_device(to_device);
    sim_synchronize_host_with_device(from_device);
    return cudaSuccess;
}

API cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(begin_peer_copy(to, to_device, from, from_device, bytes));
    const RowCopy rows = linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice);
    return copy_now("cudaMemcpy", &rows, __builtin_return_address(0));
}

API cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
                                    cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    STREAM_OPERATION(stream);
    RETURN_IF_ERROR(begin_peer_copy(to, to_device, from, from_device, bytes));
    const RowCopy rows = linear_copy(to, from, bytes, cudaMemcpyDeviceToDevice);
    return sim_record_error(sim_copy_rows("cudaMemcpy", &rows));
}

static struct cudaMemcpy3DParms params_of_peer_copy(const struct cudaMemcpy3DPeerParms *p)
{
    return (struct cudaMemcpy3DParms){p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr,
                                      p->extent, cudaMemcpyDeviceToDevice};
}

API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    BEGIN_CALL();
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(p->srcDevice) && sim_is_device(p->dstDevice), cudaErrorInvalidDevice);
    const struct cudaMemcpy3DParms params = params_of_peer_copy(p);
    return copy_3d_now("cudaMemcpy3D", &params, __builtin_return_address(0));
}

API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    BEGIN_CALL();
    REQUIRE_STREAM(stream);
    REQUIRE(p, cudaErrorInvalidValue);
    REQUIRE(sim_is_device(p->srcDevice) && sim_is_device(p->dstDevice), cudaErrorInvalidDevice);
    STREAM_OPERATION(stream);
    const struct cudaMemcpy3DParms params = params_of_peer_copy(p);
    return sim_record_error(sim_copy_3d(NAME_OF_3D_COPY, &params));
}

// ---- Fills

// A fill without a stream is synchronous only for pinned memory.
static bool is_synchronous_fill(const void *pointer)
{
    return sim_pinned_allocation_containing(pointer);
}

API cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    RETURN_IF_ERROR(sim_check_fill(__func__, pointer, bytes, bytes, 1));
    DEFAULT_STREAM_OPERATION(is_synchronous_fill(pointer));
    return sim_record_error(sim_fill_rows(__func__, pointer, bytes, value, bytes, 1));
}

API cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    BEGIN_CALL();
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemset, .memset = {pointer, bytes, (unsigned)value, 1, bytes, 1}});
    return sim_record_error(sim_fill_rows("cudaMemset", pointer, bytes, value, bytes, 1));
}

API cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    RETURN_IF_ERROR(sim_check_fill(__func__, pointer, pitch, width, height));
    DEFAULT_STREAM_OPERATION(is_synchronous_fill(pointer));
    return sim_record_error(sim_fill_rows(__func__, pointer, pitch, value, width, height));
}

API cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                                  cudaStream_t stream)
{
    BEGIN_CALL();
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemset, .memset = {pointer, pitch, (unsigned)value, 1, width, height}});
    return sim_record_error(sim_fill_rows("cudaMemset2D", pointer, pitch, value, width, height));
}

API cudaError_t cudaMemset3D(struct cudaPitchedPtr pitched, int value, struct cudaExtent extent)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    REQUIRE(extent.height <= (pitched.ysize ? pitched.ysize : extent.height), cudaErrorInvalidValue);
    DEFAULT_STREAM_OPERATION(is_synchronous_fill(pitched.ptr));
    return sim_record_error(sim_fill_slices("cudaMemset2D", pitched, value, extent));
}

API cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pitched, int value, struct cudaExtent extent,
                                  cudaStream_t stream)
{
    BEGIN_CALL();
    const size_t slice_rows = pitched.ysize ? pitched.ysize : extent.height; // 0: contiguous slices
    const bool is_contiguous = extent.depth == 1 || slice_rows == extent.height;
    REQUIRE(is_contiguous || !sim_capture_check_stream(stream), cudaErrorNotSupported);
    CAPTURE(stream, &(NodeParams){cudaGraphNodeTypeMemset, .memset = {pitched.ptr, pitched.pitch, (unsigned)value, 1,
                                                              extent.width, extent.height * extent.depth}});
    return sim_record_error(sim_fill_slices("cudaMemset2D", pitched, value, extent));
}

cudaError_t sim_fill_now(const char *call, const struct cudaMemsetParams *p, const void *call_site)
{
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_capture_check_unsafe(true));
    RETURN_IF_ERROR(sim_check_elements(p));
    DEFAULT_STREAM_OPERATION_FOR(call, is_synchronous_fill(p->dst), call_site);
    return sim_record_error(sim_fill_elements(p));
}

// ---- Variables

API cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    BEGIN_CALL();
    REQUIRE(pointer, cudaErrorInvalidValue);
    const Symbol *s = sim_symbol_of(symbol);
    REQUIRE(s && sim_variable_of(s), cudaErrorInvalidSymbol);
    *pointer = (void *)(uintptr_t)sim_variable_of(s)->address;
    return cudaSuccess;
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
    BEGIN_CALL();
    REQUIRE(bytes, cudaErrorInvalidValue);
    const Symbol *s = sim_symbol_of(symbol);
    REQUIRE(s, cudaErrorInvalidSymbol);
    *bytes = s->bytes;
    return cudaSuccess;
}

cudaError_t sim_symbol_address(const void *symbol, size_t bytes, size_t offset, char **address)
{
    const Symbol *s = sim_symbol_of(symbol);
    if (!s || !sim_variable_of(s))
        return cudaErrorInvalidSymbol;
    if (offset > s->bytes || bytes > s->bytes - offset)
        return cudaErrorInvalidValue;
    *address = (char *)(uintptr_t)sim_variable_of(s)->address + offset;
    return cudaSuccess;
}

cudaError_t sim_make_symbol_copy(NodeParams *params, const void *symbol, bool to_symbol, const void *other, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind)
{
    char *address;
    BEGIN_CALL();
    const enum cudaMemcpyKind invalid_kind = to_symbol ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
    REQUIRE(kind != cudaMemcpyHostToHost && kind != invalid_kind, cudaErrorInvalidMemcpyDirection);
    RETURN_IF_ERROR(sim_symbol_address(symbol, bytes, offset, &address));
    *params = (NodeParams){cudaGraphNodeTypeMemcpy,
                   .copy = to_symbol ? sim_make_2d_copy(address, bytes, other, bytes, bytes, 1, kind)
                                     : sim_make_2d_copy((void *)(uintptr_t)other, bytes, address, bytes, bytes, 1, kind)};
    return cudaSuccess;
}

API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    char *to = NULL;
    BEGIN_CALL();
    REQUIRE(kind != cudaMemcpyHostToHost && kind != cudaMemcpyDeviceToHost, cudaErrorInvalidMemcpyDirection);
    RETURN_IF_ERROR(sim_symbol_address(symbol, bytes, offset, &to));
    const RowCopy rows = linear_copy(to, from, bytes, kind);
    return copy_now("cudaMemcpy", &rows, __builtin_return_address(0));
}

API cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
    char *from = NULL;
    BEGIN_CALL();
    REQUIRE(kind != cudaMemcpyHostToHost && kind != cudaMemcpyHostToDevice, cudaErrorInvalidMemcpyDirection);
    RETURN_IF_ERROR(sim_symbol_address(symbol, bytes, offset, &from));
    const RowCopy rows = linear_copy(to, from, bytes, kind);
    return copy_now("cudaMemcpy", &rows, __builtin_return_address(0));
}

API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    NodeParams params;
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_make_symbol_copy(&params, symbol, true, from, bytes, offset, kind));
    CAPTURE(stream, &params);
    const RowCopy rows = linear_copy(params.copy.dstPtr.ptr, from, bytes, kind);
    return sim_record_error(sim_copy_rows("cudaMemcpy", &rows));
}

API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes, size_t offset,
                                          enum cudaMemcpyKind kind, cudaStream_t stream)
{
    NodeParams params;
    BEGIN_CALL();
    RETURN_IF_ERROR(sim_make_symbol_copy(&params, symbol, false, to, bytes, offset, kind));
    CAPTURE(stream, &params);
    const RowCopy rows = linear_copy(to, params.copy.srcPtr.ptr, bytes, kind);
    return sim_record_error(sim_copy_rows("cudaMemcpy", &rows));
}

// ---- For nvcc -default-stream per-thread

PER_THREAD(cudaMemcpy, _ptds);
PER_THREAD(cudaMemcpyAsync, _ptsz);
PER_THREAD(cudaMemcpy2D, _ptds);
PER_THREAD(cudaMemcpy2DAsync, _ptsz);
PER_THREAD(cudaMemcpy3D, _ptds);
PER_THREAD(cudaMemcpy3DAsync, _ptsz);
PER_THREAD(cudaMemcpy3DPeer, _ptds);
PER_THREAD(cudaMemcpy3DPeerAsync, _ptsz);
PER_THREAD(cudaMemset, _ptds);
PER_THREAD(cudaMemsetAsync, _ptsz);
PER_THREAD(cudaMemset2D, _ptds);
PER_THREAD(cudaMemset2DAsync, _ptsz);
PER_THREAD(cudaMemset3D, _ptds);
PER_THREAD(cudaMemset3DAsync, _ptsz);
PER_THREAD(cudaMemcpyToSymbol, _ptds);
PER_THREAD(cudaMemcpyFromSymbol, _ptds);
PER_THREAD(cudaMemcpyToSymbolAsync, _ptsz);
PER_THREAD(cudaMemcpyFromSymbolAsync, _ptsz);
