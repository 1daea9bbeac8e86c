// intrinsics.c: the table of CUDA's operations that C++ cannot express. library_*.c uses them.
//
// A signature has letters as in the Itanium C++ ABI's mangling: first the result, then the parameters. v void, b bool,
// c char, a signed char, h unsigned char, s short, t unsigned short, i int, j unsigned, l long, m unsigned long,
// x long long, y unsigned long long, f float, d double, P pointer to, K const, V volatile, z ...
//
// Overloads are consecutive rows with one name. Names that begin with __i_ are only for the library texts.
#include "compiler/intrinsics.h"

#include <string.h>

#include "compiler/source.h"

enum {
    PURE = INTRINSIC_PURE,
    WARP = INTRINSIC_PURE | INTRINSIC_CONVERGENT, // warp-level primitives
    BARRIER = INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS | INTRINSIC_CONVERGENT,
    FENCE = INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS,
    ATOMIC = INTRINSIC_READS | INTRINSIC_WRITES,
    CLOCK = INTRINSIC_UNIQUE | INTRINSIC_READS | INTRINSIC_WRITES // volatile asm in NVIDIA's headers, so any effect is assumed
};

#define GUIDE "CUDA C++ Programming Guide "
#define PTX "PTX ISA "
#define MATH "CUDA Math API "

// An atomic operation of one type, for each scope.
#define SCOPED(name, signature, operation, type) \
    {name, signature, "atom$s." operation "." type " \t$0, @1, $2;", ATOMIC, 0, GUIDE "10.14"}, \
    {name "_block", signature, "atom$s.cta." operation "." type " \t$0, @1, $2;", ATOMIC, 0, GUIDE "10.14"}, \
    {name "_system", signature, "atom$s.sys." operation "." type " \t$0, @1, $2;", ATOMIC, 0, GUIDE "10.14"}
static const Intrinsic ROWS[] = {
    // Barriers
    {"__syncthreads", "v", "bar.sync \t0;", BARRIER, 0, GUIDE "10.6"},
    {"__syncthreads_count", "ii", "setp.ne.u32 \t$p1, %1, 0;\nbar.red.popc.u32 \t$0, 0, $p1;", BARRIER, 0, GUIDE "10.6"},
    {"__syncthreads_or", "ii", "setp.ne.u32 \t$p1, %1, 0;\nbar.red.or.pred \t$p2, 0, $p1;\nselp.u32 \t$0, 1, 0, $p2;", BARRIER, 0, GUIDE "10.6"},
    {"__syncthreads_and", "ii", "setp.ne.u32 \t$p1, %1, 0;\nbar.red.and.pred \t$p2, 0, $p1;\nselp.u32 \t$0, 1, 0, $p2;", BARRIER, 0, GUIDE "10.6"},
    {"__barrier_sync", "vj", "barrier.sync \t$1;", BARRIER, 0, PTX "9.7.13.1"},
    {"__barrier_sync_count", "vjj", "barrier.sync \t$1, $2;", BARRIER, 0, PTX "9.7.13.1"},
    {"__i_syncwarp", "vj", "bar.warp.sync \t$1;", BARRIER, 0, GUIDE "10.6"},
    // Fences
    {"__threadfence", "v", "membar.gl;", FENCE, 0, GUIDE "10.5"},
    {"__threadfence_block", "v", "membar.cta;", FENCE, 0, GUIDE "10.5"},
    {"__threadfence_system", "v", "membar.sys;", FENCE, 0, GUIDE "10.5"},
    // Warp-level primitives
    {"__i_shfl_idx", "ijiii", "shfl.sync.idx.b32 \t$0|$p1, %2, %3, %4, %1;", WARP, 0, GUIDE "10.22"},
    {"__i_shfl_up", "ijiii", "shfl.sync.up.b32 \t$0|$p1, %2, %3, %4, %1;", WARP, 0, GUIDE "10.22"},
    {"__i_shfl_down", "ijiii", "shfl.sync.down.b32 \t$0|$p1, %2, %3, %4, %1;", WARP, 0, GUIDE "10.22"},
    {"__i_shfl_bfly", "ijiii", "shfl.sync.bfly.b32 \t$0|$p1, %2, %3, %4, %1;", WARP, 0, GUIDE "10.22"},
    {"__i_ballot", "jjb", "vote.sync.ballot.b32 \t$0, $2, %1;", WARP, 0, GUIDE "10.19"},
    {"__i_any", "bjb", "vote.sync.any.pred \t$0, $2, %1;", WARP, 0, GUIDE "10.19"},
    {"__i_all", "bjb", "vote.sync.all.pred \t$0, $2, %1;", WARP, 0, GUIDE "10.19"},
    {"__i_uni", "bjb", "vote.sync.uni.pred \t$0, $2, %1;", WARP, 0, GUIDE "10.19"},
    {"__activemask", "j", "activemask.b32 \t$0;", CLOCK | INTRINSIC_CONVERGENT, 0, GUIDE "10.19"},
    {"__i_match_any", "jjj", "match.any.sync.b32 \t$0, %2, %1;", WARP, 0, GUIDE "10.20"},
    {"__i_match_any", "jjy", "match.any.sync.b64 \t$0, %2, %1;", WARP, 0, GUIDE "10.20"},
    {"__i_match_all", "jjj", "match.all.sync.b32 \t$0|$p1, %2, %1;", WARP, 0, GUIDE "10.20"},
    {"__i_match_all", "jjy", "match.all.sync.b64 \t$0|$p1, %2, %1;", WARP, 0, GUIDE "10.20"},
    {"__reduce_add_sync", "jjj", "redux.sync.add.u32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_add_sync", "iji", "redux.sync.add.s32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_min_sync", "jjj", "redux.sync.min.u32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_min_sync", "iji", "redux.sync.min.s32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_max_sync", "jjj", "redux.sync.max.u32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_max_sync", "iji", "redux.sync.max.s32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_and_sync", "jjj", "redux.sync.and.b32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_or_sync", "jjj", "redux.sync.or.b32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    {"__reduce_xor_sync", "jjj", "redux.sync.xor.b32 \t$0, %2, %1;", WARP, 80, GUIDE "10.21"},
    // Atomic operations
    SCOPED("__i_add", "iPii", "add", "u32"), SCOPED("__i_add_u", "jPjj", "add", "u32"), SCOPED("__i_add_y", "yPyy", "add", "u64"),
    SCOPED("__i_add_f", "fPff", "add", "f32"), SCOPED("__i_add_d", "dPdd", "add", "f64"),
    SCOPED("__i_exch", "jPjj", "exch", "b32"), SCOPED("__i_exch_y", "yPyy", "exch", "b64"),
    SCOPED("__i_min", "iPii", "min", "s32"), SCOPED("__i_min_u", "jPjj", "min", "u32"), SCOPED("__i_min_x", "xPxx", "min", "s64"),
    SCOPED("__i_min_y", "yPyy", "min", "u64"), SCOPED("__i_max", "iPii", "max", "s32"), SCOPED("__i_max_u", "jPjj", "max", "u32"),
    SCOPED("__i_max_x", "xPxx", "max", "s64"), SCOPED("__i_max_y", "yPyy", "max", "u64"), SCOPED("__i_inc", "jPjj", "inc", "u32"),
    SCOPED("__i_dec", "jPjj", "dec", "u32"), SCOPED("__i_and", "jPjj", "and", "b32"), SCOPED("__i_and_y", "yPyy", "and", "b64"),
    SCOPED("__i_or", "jPjj", "or", "b32"), SCOPED("__i_or_y", "yPyy", "or", "b64"), SCOPED("__i_xor", "jPjj", "xor", "b32"),
    SCOPED("__i_xor_y", "yPyy", "xor", "b64"),
    {"__i_cas", "jPjjj", "atom$s.cas.b32 \t$0, @1, %2, %3;", ATOMIC, 0, GUIDE "10.14"},
    {"__i_cas_block", "jPjjj", "atom$s.cta.cas.b32 \t$0, @1, $2, $3;", ATOMIC, 0, GUIDE "10.14"},
    {"__i_cas_system", "jPjjj", "atom$s.sys.cas.b32 \t$0, @1, $2, $3;", ATOMIC, 0, GUIDE "10.14"},
    {"__i_cas_t", "tPttt", "atom$s.cas.b16 \t$0, @1, $2, $3;", ATOMIC, 70, GUIDE "10.14"},
    {"__i_cas_y", "yPyyy", "atom$s.cas.b64 \t$0, @1, %2, %3;", ATOMIC, 0, GUIDE "10.14"},
    {"__i_cas_y_block", "yPyyy", "atom$s.cta.cas.b64 \t$0, @1, $2, $3;", ATOMIC, 0, GUIDE "10.14"},
    {"__i_cas_y_system", "yPyyy", "atom$s.sys.cas.b64 \t$0, @1, $2, $3;", ATOMIC, 0, GUIDE "10.14"},
    // Clocks: asm in NVIDIA's headers; as rows, loops that poll them are rotated
    {"clock64", "x", "mov.u64 \t$0, %clock64;", CLOCK, 0, GUIDE "10.13"},
    {"__globaltimer", "y", "mov.u64 \t$0, %globaltimer;", CLOCK, 0, PTX "10"},
    // Integers
    {"__popc", "ij", "popc.b32 \t$0, %1;", PURE, 0, MATH "Integer Intrinsics"},
    {"__popcll", "iy", "popc.b64 \t$0, %1;", PURE, 0, MATH "Integer Intrinsics"},
    {"__clz", "ii", "clz.b32 \t$0, %1;", PURE, 0, MATH "Integer Intrinsics"},
    {"__clzll", "ix", "clz.b64 \t$0, %1;", PURE, 0, MATH "Integer Intrinsics"},
    {"__fns", "jjji", "fns.b32 \t$0, $1, $2, $3;", PURE, 0, PTX "9.7.1.17"},
    {"__brev", "jj", "brev.b32 \t$0, %1;", PURE, 0, MATH "Integer Intrinsics"},
    {"__brevll", "yy", "brev.b64 \t$0, %1;", PURE, 0, MATH "Integer Intrinsics"},
    {"__i_bfind_shift", "jj", "bfind.shiftamt.u32 \t$0, %1;", PURE, 0, PTX "9.7.1.16"},
    {"__i_bfi", "jjjjj", "bfi.b32 \t$0, %1, %2, $3, $4;", PURE, 0, PTX "9.7.1.20"},
    {"__i_bfi_y", "yyyjj", "bfi.b64 \t$0, %1, %2, $3, $4;", PURE, 0, PTX "9.7.1.20"},
    {"__i_prmt", "jjjj", "prmt.b32 \t$0, %1, %2, $3;", PURE, 0, PTX "9.7.9.7"},
    {"__sad", "jiij", "sad.s32 \t$0, %1, %2, %3;", PURE, 0, MATH "Integer Intrinsics"},
    {"__usad", "jjjj", "sad.u32 \t$0, %1, %2, %3;", PURE, 0, MATH "Integer Intrinsics"},
    {"__vsadu4", "jjj", "mov.u32 \t$t1, 0;\nvabsdiff4.u32.u32.u32.add \t$0, %1, %2, $t1;", PURE, 0, MATH "SIMD Intrinsics"},
    {"__mulhi", "iii", NULL, PURE, 0, MATH "Integer Intrinsics"},
    {"__umulhi", "jjj", NULL, PURE, 0, MATH "Integer Intrinsics"},
    {"__mul64hi", "xxx", NULL, PURE, 0, MATH "Integer Intrinsics"},
    {"__umul64hi", "yyy", NULL, PURE, 0, MATH "Integer Intrinsics"},
    {"__i_min_of", "iii", NULL, PURE, 0, MATH "min"}, {"__i_min_of", "jjj", NULL, PURE, 0, MATH "min"},
    {"__i_min_of", "xxx", NULL, PURE, 0, MATH "min"}, {"__i_min_of", "yyy", NULL, PURE, 0, MATH "min"},
    {"__i_max_of", "iii", NULL, PURE, 0, MATH "max"}, {"__i_max_of", "jjj", NULL, PURE, 0, MATH "max"},
    {"__i_max_of", "xxx", NULL, PURE, 0, MATH "max"}, {"__i_max_of", "yyy", NULL, PURE, 0, MATH "max"},
    {"__i_abs", "ii", NULL, PURE, 0, MATH "abs"}, {"__i_abs", "xx", NULL, PURE, 0, MATH "abs"},
    // Bit casts
    {"__float_as_int", "if", NULL, PURE, 0, MATH "Type Casting"}, {"__int_as_float", "fi", NULL, PURE, 0, MATH "Type Casting"},
    {"__float_as_uint", "jf", NULL, PURE, 0, MATH "Type Casting"}, {"__uint_as_float", "fj", NULL, PURE, 0, MATH "Type Casting"},
    {"__double_as_longlong", "xd", NULL, PURE, 0, MATH "Type Casting"}, {"__longlong_as_double", "dx", NULL, PURE, 0, MATH "Type Casting"},
    {"__double2hiint", "id", "mov.b64 \t{$t1, $0}, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2loint", "id", "mov.b64 \t{$0, $t1}, %1;", PURE, 0, MATH "Type Casting"},
    {"__hiloint2double", "dii", "mov.b64 \t$0, {%2, %1};", PURE, 0, MATH "Type Casting"},
    // Single precision
    {"fabsf", "ff", NULL, PURE, 0, MATH "fabsf"},
    {"fminf", "fff", NULL, PURE, 0, MATH "fminf"},
    {"fmaxf", "fff", NULL, PURE, 0, MATH "fmaxf"},
    {"fmaf", "ffff", NULL, PURE, 0, MATH "fmaf"},
    {"__fmaf_rn", "ffff", NULL, PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fmaf_rz", "ffff", "fma.rz.f32 \t$0, %1, %2, %3;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fmaf_rd", "ffff", "fma.rm.f32 \t$0, %1, %2, %3;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fmaf_ru", "ffff", "fma.rp.f32 \t$0, %1, %2, %3;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fadd_rn", "fff", NULL, PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fsub_rn", "fff", NULL, PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fmul_rn", "fff", NULL, PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fdiv_rn", "fff", NULL, PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fadd_rz", "fff", "add.rz.f32 \t$0, %1, %2;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fadd_rd", "fff", "add.rm.f32 \t$0, %1, %2;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fadd_ru", "fff", "add.rp.f32 \t$0, %1, %2;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fmul_rz", "fff", "mul.rz.f32 \t$0, %1, %2;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fdividef", "fff", "div.approx.f32 \t$0, %1, %2;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__frcp_rn", "ff", "rcp.rn.f32 \t$0, %1;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__fsqrt_rn", "ff", "sqrt.rn.f32 \t$0, %1;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"sqrtf", "ff", "sqrt.rn.f32 \t$0, %1;", PURE, 0, MATH "sqrtf"},
    {"rsqrtf", "ff", "rsqrt.approx.f32 \t$0, %1;", PURE, 0, MATH "rsqrtf"},
    {"floorf", "ff", "cvt.rmi.f32.f32 \t$0, %1;", PURE, 0, MATH "floorf"},
    {"ceilf", "ff", "cvt.rpi.f32.f32 \t$0, %1;", PURE, 0, MATH "ceilf"},
    {"truncf", "ff", "cvt.rzi.f32.f32 \t$0, %1;", PURE, 0, MATH "truncf"},
    {"rintf", "ff", "cvt.rni.f32.f32 \t$0, %1;", PURE, 0, MATH "rintf"},
    {"nearbyintf", "ff", "cvt.rni.f32.f32 \t$0, %1;", PURE, 0, MATH "nearbyintf"},
    {"copysignf", "fff", "copysign.f32 \t$0, $2, %1;", PURE, 0, MATH "copysignf"},
    {"__saturatef", "ff", "cvt.sat.f32.f32 \t$0, %1;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"exp2f", "ff", "ex2.approx.f32 \t$0, %1;", PURE, 0, MATH "exp2f"},
    {"__i_ex2_ftz", "ff", "ex2.approx.ftz.f32 \t$0, %1;", PURE, 0, PTX "9.7.3.21"},
    {"__log2f", "ff", "lg2.approx.f32 \t$0, %1;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__sinf", "ff", "sin.approx.f32 \t$0, %1;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__cosf", "ff", "cos.approx.f32 \t$0, %1;", PURE, 0, MATH "Single Precision Intrinsics"},
    {"__i_tanh_approx", "ff", "tanh.approx.f32 \t$0, %1;", PURE, 75, PTX "9.7.3.22"},
    // Double precision
    {"fabs", "dd", NULL, PURE, 0, MATH "fabs"},
    {"fmin", "ddd", NULL, PURE, 0, MATH "fmin"},
    {"fmax", "ddd", NULL, PURE, 0, MATH "fmax"},
    {"fma", "dddd", NULL, PURE, 0, MATH "fma"},
    {"__fma_rn", "dddd", NULL, PURE, 0, MATH "Double Precision Intrinsics"},
    {"__dadd_rn", "ddd", NULL, PURE, 0, MATH "Double Precision Intrinsics"},
    {"__dsub_rn", "ddd", NULL, PURE, 0, MATH "Double Precision Intrinsics"},
    {"__dmul_rn", "ddd", NULL, PURE, 0, MATH "Double Precision Intrinsics"},
    {"__ddiv_rn", "ddd", NULL, PURE, 0, MATH "Double Precision Intrinsics"},
    {"__i_dadd_rz", "ddd", "add.rz.f64 \t$0, $1, $2;", PURE, 0, PTX "9.7.3.3"},
    {"__dsqrt_rn", "dd", "sqrt.rn.f64 \t$0, %1;", PURE, 0, MATH "Double Precision Intrinsics"},
    {"__drcp_rn", "dd", "rcp.rn.f64 \t$0, %1;", PURE, 0, MATH "Double Precision Intrinsics"},
    {"sqrt", "dd", "sqrt.rn.f64 \t$0, %1;", PURE, 0, MATH "sqrt"},
    {"rsqrt", "dd", "rsqrt.approx.f64 \t$0, %1;", PURE, 0, MATH "rsqrt"},
    {"__i_rcp_ftz", "dd", "rcp.approx.ftz.f64 \t$0, %1;", PURE, 0, PTX "9.7.3.14"},
    {"floor", "dd", "cvt.rmi.f64.f64 \t$0, %1;", PURE, 0, MATH "floor"},
    {"ceil", "dd", "cvt.rpi.f64.f64 \t$0, %1;", PURE, 0, MATH "ceil"},
    {"trunc", "dd", "cvt.rzi.f64.f64 \t$0, %1;", PURE, 0, MATH "trunc"},
    {"rint", "dd", "cvt.rni.f64.f64 \t$0, %1;", PURE, 0, MATH "rint"},
    {"copysign", "ddd", "copysign.f64 \t$0, $2, %1;", PURE, 0, MATH "copysign"},
    // Conversions with a rounding mode
    {"__float2int_rn", "if", "cvt.rni.s32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2int_rd", "if", "cvt.rmi.s32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2int_ru", "if", "cvt.rpi.s32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2int_rz", "if", "cvt.rzi.s32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2uint_rn", "jf", "cvt.rni.u32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2uint_rd", "jf", "cvt.rmi.u32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2uint_rz", "jf", "cvt.rzi.u32.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2ll_rn", "xf", "cvt.rni.s64.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__float2ll_rz", "xf", "cvt.rzi.s64.f32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2int_rn", "id", "cvt.rni.s32.f64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2int_rz", "id", "cvt.rzi.s32.f64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2ll_rn", "xd", "cvt.rni.s64.f64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2ll_rz", "xd", "cvt.rzi.s64.f64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__int2float_rn", "fi", "cvt.rn.f32.s32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__int2float_rz", "fi", "cvt.rz.f32.s32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__uint2float_rn", "fj", "cvt.rn.f32.u32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__uint2float_rz", "fj", "cvt.rz.f32.u32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__ll2float_rn", "fx", "cvt.rn.f32.s64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__ull2float_rn", "fy", "cvt.rn.f32.u64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__int2double_rn", "di", "cvt.rn.f64.s32 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__ll2double_rn", "dx", "cvt.rn.f64.s64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2float_rn", "fd", "cvt.rn.f32.f64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    {"__double2float_rz", "fd", "cvt.rz.f32.f64 \t$0, %1;", PURE, 0, MATH "Type Casting"},
    // Addresses, traps, output
    {"__cvta_generic_to_shared", "mPKv", NULL, PURE, 0, GUIDE "10.11"},
    {"__cvta_generic_to_global", "mPKv", NULL, PURE, 0, GUIDE "10.11"},
    {"__cvta_shared_to_generic", "Pvm", NULL, PURE, 0, GUIDE "10.11"},
    {"__isGlobal", "jPKv", "isspacep.global \t$p1, %1;\nselp.u32 \t$0, 1, 0, $p1;", PURE, 0, GUIDE "10.10"},
    {"__isShared", "jPKv", "isspacep.shared \t$p1, %1;\nselp.u32 \t$0, 1, 0, $p1;", PURE, 0, GUIDE "10.10"},
    {"__i_is_cluster_shared", "jPKv", "isspacep.shared::cluster \t$p1, %1;\nselp.u32 \t$0, 1, 0, $p1;", PURE, 90, GUIDE "10.10"},
    {"__i_special", "jPKc", NULL, PURE, 0, PTX "10"},
    {"__trap", "v", "trap;", INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS, 0, GUIDE "10.35"}, // to NVVM it returns
    {"__brkpt", "v", "brkpt;", INTRINSIC_WRITES, 0, GUIDE "10.35"},
    {"__i_vprintf", "iPKcPv",
     "{\n.param .b64 format;\nst.param.b64 [format], %1;\n.param .b64 values;\nst.param.b64 [values], %2;\n.param .b32 printed;\n"
     "call.uni (printed), vprintf, (format, values);\nld.param.b32 $0, [printed];\n}",
     INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS, 0, GUIDE "10.38"},
    {"__i_assertfail", "vPKcPKcjPKcm",
     "{\n.param .b64 message;\nst.param.b64 [message], %1;\n.param .b64 file;\nst.param.b64 [file], %2;\n.param .b32 line;\n"
     "st.param.b32 [line], %3;\n.param .b64 function;\nst.param.b64 [function], %4;\n.param .b64 bytes;\nst.param.b64 [bytes], %5;\n"
     "call.uni __assertfail, (message, file, line, function, bytes);\n}",
     INTRINSIC_READS | INTRINSIC_WRITES | INTRINSIC_ORDERS, 0, GUIDE "10.37"},
    {"printf", "iPKcz", NULL, INTRINSIC_READS | INTRINSIC_WRITES, 0, GUIDE "10.38"},
    {"__assertion", "vPKcPKcjPKc", NULL, INTRINSIC_READS | INTRINSIC_WRITES, 0, GUIDE "10.37"},
    {"memcpy", "PvPvPKvm", NULL, INTRINSIC_READS | INTRINSIC_WRITES, 0, "C"},
    {"memset", "PvPvim", NULL, INTRINSIC_WRITES, 0, "C"},
    {"__builtin_huge_valf", "f", NULL, PURE, 0, "C"},
    {"__builtin_huge_val", "d", NULL, PURE, 0, "C"},
    {"__builtin_nanf", "fPKc", NULL, PURE, 0, "C"},
    {"__builtin_unreachable", "v", NULL, INTRINSIC_NO_RETURN, 0, "C"},
    {NULL, NULL, NULL, 0, 0, NULL},
};

const Intrinsic *intrinsic_named(const char *name, size_t length)
{
    for (const Intrinsic *row = ROWS; row->name; row++)
        if (row->name[0] == name[0] && strlen(row->name) == length && !memcmp(row->name, name, length))
            return row;
    return NULL;
}

const char *intrinsic_suggestion(const char *name, size_t length)
{
    uint32_t limit = length <= 4 ? 3 : length < 8 ? 5 : 7; // in units of source_distance
    const char *best = NULL;
    for (const Intrinsic *row = ROWS; row->name; row++) {
        if (!strncmp(row->name, "__i_", 4) || (row > ROWS && !strcmp(row->name, row[-1].name)))
            continue;
        const uint32_t distance = source_distance(name, length, row->name, strlen(row->name), limit);
        if (distance < limit) {
            limit = distance;
            best = row->name;
        }
    }
    return best;
}
