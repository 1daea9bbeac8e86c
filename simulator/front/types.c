// types.c: names and sizes of PTX types.
#include "front/ptx.h"

static const struct {
    const char *name;
    int bytes;
} TYPE_NAMES[] = {
    [NO_TYPE] = {"", 0},    [B8] = {"b8", 1},      [U8] = {"u8", 1},          [S8] = {"s8", 1},
    [B16] = {"b16", 2},     [U16] = {"u16", 2},    [S16] = {"s16", 2},        [F16] = {"f16", 2},
    [BF16] = {"bf16", 2},   [B32] = {"b32", 4},    [U32] = {"u32", 4},        [S32] = {"s32", 4},
    [F32] = {"f32", 4},     [F16X2] = {"f16x2", 4}, [BF16X2] = {"bf16x2", 4}, [S16X2] = {"s16x2", 4},
    [U16X2] = {"u16x2", 4}, [TF32] = {"tf32", 4},  [E4M3X2] = {"e4m3x2", 2},  [E5M2X2] = {"e5m2x2", 2},
    [B64] = {"b64", 8},
    [U64] = {"u64", 8},     [S64] = {"s64", 8},    [F64] = {"f64", 8},        [B128] = {"b128", 16},
    [PRED] = {"pred", 4},
};

int sim_type_bytes(Type type)
{
    return TYPE_NAMES[type].bytes;
}

bool sim_is_float(Type type)
{
    return type == F16 || type == BF16 || type == F32 || type == F64;
}

bool sim_is_signed(Type type)
{
    return type == S8 || type == S16 || type == S32 || type == S64;
}

const char *sim_type_name(Type type)
{
    return TYPE_NAMES[type].name;
}

Type sim_type_named(Slice name)
{
    for (Type type = B8; type <= PRED; type++)
        if (sim_slice_is(name, TYPE_NAMES[type].name))
            return type;
    return NO_TYPE;
}
