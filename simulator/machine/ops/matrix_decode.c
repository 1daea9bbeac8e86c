// matrix_decode.c: decodes tensor-core instructions.
#include "machine/ops/instructions.h"
#include "machine/ops/matrix.h"

#include <string.h>

typedef struct Shape {
    int m, n, k;
} Shape;

static Shape parse_shape(Slice name) // such as m16n8k16; zeros if the name is not a shape
{
    char text[16] = "";
    Shape s;
    char rest;
    if (name.length >= sizeof text)
        return (Shape){0};
    memcpy(text, name.text, name.length);
    return sscanf(text, "m%dn%dk%d%c", &s.m, &s.n, &s.k, &rest) == 3 ? s : (Shape){0};
}

static const struct {
    bool wmma;
    Shape shape;
    Type factors;
} PRODUCTS[] = {
    {true, {16, 16, 16}, F16},  {true, {32, 8, 16}, F16},  {true, {8, 32, 16}, F16},
    {true, {16, 16, 16}, BF16}, {true, {32, 8, 16}, BF16}, {true, {8, 32, 16}, BF16},
    {true, {16, 16, 16}, S8},   {true, {32, 8, 16}, S8},   {true, {8, 32, 16}, S8},
    {true, {16, 16, 8}, TF32},  {true, {8, 8, 4}, F64},
    {false, {16, 8, 8}, F16},   {false, {16, 8, 16}, F16},
    {false, {16, 8, 8}, BF16},  {false, {16, 8, 16}, BF16},
    {false, {16, 8, 4}, TF32},  {false, {16, 8, 8}, TF32},
    {false, {8, 8, 16}, S8},    {false, {16, 8, 16}, S8},  {false, {16, 8, 32}, S8}, // and U8
    {false, {8, 8, 4}, F64},    {false, {16, 8, 4}, F64},  {false, {16, 8, 8}, F64},   {false, {16, 8, 16}, F64},
};

static bool sums_to(Type factors, Type sum)
{
    return sum == F32 ? factors == F16 || factors == BF16 || factors == TF32
           : sum == S32 ? factors == S8
                        : sum == factors && (sum == F16 || sum == F64);
}

// True if the hardware has a product of this shape with these types of factors and sums. NO_TYPE: any type.
static bool is_product(bool is_wmma, Shape s, Type factors, Type sum)
{
    const Type listed_type = factors == U8 ? S8 : factors;
    for (size_t k = 0; k < sizeof PRODUCTS / sizeof *PRODUCTS; k++)
        if (PRODUCTS[k].wmma == is_wmma && PRODUCTS[k].shape.m == s.m && PRODUCTS[k].shape.n == s.n &&
            PRODUCTS[k].shape.k == s.k && (factors == NO_TYPE || PRODUCTS[k].factors == listed_type) &&
            (sum == NO_TYPE || sums_to(PRODUCTS[k].factors, sum)))
            return true;
    return false;
}

static bool is_transposed(Shape s) // a product of 8 rows by 32 columns is computed as the transposed product
{
    return s.m < s.n && s.n > CORE_SIZE;
}

// The fragment of matrix 'a' or 'b', or of c and d ('c').
static Fragment fragment_of(char matrix, bool is_wmma, Shape s, Type type)
{
    const bool transposed = is_transposed(s), is_factor = matrix != 'c';
    Fragment f = {.type = type, .bytes = (uint8_t)sim_type_bytes(type)};
    f.register_bytes = type == F64 ? 8 : 4;
    f.chunk_elements = is_factor ? f.register_bytes / f.bytes : 2;
    f.lines = (uint8_t)(matrix == 'b' || (transposed && !is_factor) ? s.n : s.m);
    f.positions = (uint8_t)(is_factor ? s.k : transposed ? s.m : s.n);
    f.chunks = f.lines * f.positions / (LANES * f.chunk_elements);
    f.stacked = matrix != (transposed ? 'a' : 'b');
    f.registers = (uint8_t)(f.chunks * sim_registers_per_chunk(&f));
    if (is_wmma && is_factor && type == F16)
        f.registers = MAX_REGISTERS; // as many as on Volta
    return f;
}

// Sets the frame offsets of the fragment's registers, which an operand lists.
static bool find_registers(Decoder *d, const Operand *list, Fragment *f, bool is_destination)
{
    const Operand *elements = list->kind == IS_VECTOR ? list->elements : list;
    const char letter = f->register_bytes == 8 ? 'd' : f->type == F32 ? 'f' : 'i';
    if (f->registers != (list->kind == IS_VECTOR ? list->count : 1))
        return false;
    for (int k = 0; k < f->registers; k++) {
        const Operand *o = &elements[k];
        f->register_offsets[k] = is_destination ? sim_destination(o, letter) : sim_source(d, o, letter);
        if (f->register_offsets[k] == NO_OFFSET)
            return false;
    }
    return true;
}

// Creates the operation of an instruction, with all lanes as members.
static MatrixOperation *new_operation(Decoder *d, Instr *i)
{
    const Operand all = {.kind = IS_INTEGER, .integer = ALL_LANES};
    MatrixOperation *m = sim_allocate(d->arena, sizeof *m);
    i->matrix = m;
    i->control = CONVERGE;
    i->members = sim_source(d, &all, 'i');
    return m;
}

typedef struct Types { // of a product's matrices
    Type d, a, b, c;
} Types;

// wmma opcodes with half-precision factors name only the types of d and c.
static Types types_of(const Opcode *o)
{
    Type found[4] = {F16, F16, F16, F16};
    int count = 0;
    for (int k = 1; k < o->count; k++)
        if (sim_type_named(o->parts[k]) != NO_TYPE)
            found[count++] = sim_type_named(o->parts[k]);
    return count == 4 ? (Types){found[0], found[1], found[2], found[3]} : (Types){found[0], F16, F16, found[1]};
}

static bool is_supported(bool is_wmma, Shape shape, const Types *t)
{
    const bool mixed_signs = t->a != t->b; // s8 and u8
    return (!mixed_signs || !is_wmma) && is_product(is_wmma, shape, t->a, t->d) && is_product(is_wmma, shape, t->a, t->c);
}

// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 d, a, b, c and mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
static bool decode_product(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool is_wmma = sim_slice_is(o->parts[0], "wmma");
    const Shape shape = parse_shape(o->parts[is_wmma ? 6 : 3]);
    const Types types = types_of(o);
    const Operand *matrices = s->operands;
    MatrixOperation *m = new_operation(d, i);
    if (s->count != 4 || !is_supported(is_wmma, shape, &types))
        return false;
    m->saturate = sim_has_modifier(o, "satfinite");
    m->products_per_rounding = (uint8_t)(is_wmma && types.a == TF32 ? 4 : shape.k); // ptxas translates wmma on TF32 to two HMMA.1684
    m->d = fragment_of('c', is_wmma, shape, types.d);
    m->a = fragment_of('a', is_wmma, shape, types.a);
    m->b = fragment_of('b', is_wmma, shape, types.b);
    m->c = fragment_of('c', is_wmma, shape, types.c);
    if (!find_registers(d, &matrices[0], &m->d, true) || !find_registers(d, &matrices[1], &m->a, false) ||
        !find_registers(d, &matrices[2], &m->b, false) || !find_registers(d, &matrices[3], &m->c, false))
        return false;
    if (is_transposed(shape)) {
        const Fragment a = m->a;
        m->a = m->b;
        m->b = a;
    }
    return true;
}

static Space space_of(const Opcode *o)
{
    const bool shared = sim_has_modifier(o, "shared") || sim_has_modifier(o, "shared::cta");
    return shared ? SHARED : sim_has_modifier(o, "global") ? GLOBAL : GENERIC;
}

// wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 d, [address]{, stride}
// wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [address], d{, stride}
static bool decode_wmma_access(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool is_load = sim_slice_is(o->parts[1], "load");
    const char matrix = *o->parts[2].text;
    const bool is_factor = matrix == 'a' || matrix == 'b';
    const Shape shape = parse_shape(o->parts[6]);
    const Space space = space_of(o);
    MatrixOperation *m = new_operation(d, i);
    if (s->count < 2 || s->count > 3 || !is_product(true, shape, is_factor ? o->type : NO_TYPE, is_factor ? NO_TYPE : o->type))
        return false;
    const Operand *registers = &s->operands[is_load ? 0 : 1], *address = &s->operands[is_load ? 1 : 0];
    m->d = fragment_of(is_factor ? matrix : 'c', true, shape, o->type);
    m->lines_contiguous = sim_has_modifier(o, "row") != (is_factor ? matrix == 'b' : is_transposed(shape));
    m->uses_ldmatrix = is_factor && space == SHARED && (m->d.bytes == 2 || (m->d.bytes == 1 && m->lines_contiguous));
    m->stride = s->count == 3 ? sim_source(d, &s->operands[2], 'i') : NO_OFFSET;
    return (s->count == 2 || m->stride != NO_OFFSET) && find_registers(d, registers, &m->d, is_load) &&
           sim_decode_address(d, address, space, &m->address);
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 registers, [address]; stmatrix [address], registers
static bool decode_rows(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool is_load = sim_slice_is(o->parts[0], "ldmatrix");
    MatrixOperation *m = new_operation(d, i);
    if (s->count != 2)
        return false;
    m->transposed = sim_has_modifier(o, "trans");
    m->d.register_bytes = 4;
    m->d.registers = (uint8_t)(o->parts[4].text[1] - '0'); // x1, x2, x4
    return find_registers(d, &s->operands[is_load ? 0 : 1], &m->d, is_load) &&
           sim_decode_address(d, &s->operands[is_load ? 1 : 0], space_of(o), &m->address);
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
static bool decode_transposition(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    MatrixOperation *m = new_operation(d, i);
    m->d.register_bytes = m->a.register_bytes = 4;
    m->d.registers = m->a.registers = 1;
    return s->count == 2 && find_registers(d, &s->operands[0], &m->d, true) &&
           find_registers(d, &s->operands[1], &m->a, false);
}

#define WMMA_LOAD .decode = decode_wmma_access, .run = sim_load_matrix, .effects = ACCESSES | WRITES_DESTINATION
#define WMMA_STORE .decode = decode_wmma_access, .run = sim_store_matrix, .effects = ACCESSES | PUBLISHES | UNCOUNTED
#define PRODUCT .decode = decode_product, .run = sim_multiply_matrices, .effects = WRITES_DESTINATION

static const Instruction ROWS[] = {
    {"wmma load a|b sync aligned row|col m16n16k16|m32n8k16|m8n32k16 {global|shared|shared::cta} f16|bf16|s8|u8", WMMA_LOAD},
    {"wmma load a|b sync aligned row|col m16n16k8 {global|shared|shared::cta} tf32", WMMA_LOAD},
    {"wmma load a|b sync aligned row|col m8n8k4 {global|shared|shared::cta} f64", WMMA_LOAD},
    {"wmma load c sync aligned row|col m16n16k16|m32n8k16|m8n32k16 {global|shared|shared::cta} f16|f32|s32", WMMA_LOAD},
    {"wmma load c sync aligned row|col m16n16k8 {global|shared|shared::cta} f32", WMMA_LOAD},
    {"wmma load c sync aligned row|col m8n8k4 {global|shared|shared::cta} f64", WMMA_LOAD},
    {"wmma store d sync aligned row|col m16n16k16|m32n8k16|m8n32k16 {global|shared|shared::cta} f16|f32|s32", WMMA_STORE},
    {"wmma store d sync aligned row|col m16n16k8 {global|shared|shared::cta} f32", WMMA_STORE},
    {"wmma store d sync aligned row|col m8n8k4 {global|shared|shared::cta} f64", WMMA_STORE},
    {"wmma mma sync aligned row|col row|col m16n16k16|m32n8k16|m8n32k16 f16|f32 f16|f32", PRODUCT},
    {"wmma mma sync aligned row|col row|col m16n16k16|m32n8k16|m8n32k16 f32 bf16 bf16 f32", PRODUCT},
    {"wmma mma sync aligned row|col row|col m16n16k16|m32n8k16|m8n32k16 {satfinite} s32 s8|u8 s8|u8 s32", PRODUCT},
    {"wmma mma sync aligned row|col row|col m16n16k8 f32 tf32 tf32 f32", PRODUCT},
    {"wmma mma sync aligned row|col row|col m8n8k4 {rn} f64 f64 f64 f64", PRODUCT},
    {"mma sync aligned m16n8k8|m16n8k16 row col f16|f32 f16 f16 f16|f32", PRODUCT},
    {"mma sync aligned m16n8k8|m16n8k16 row col f32 bf16 bf16 f32", PRODUCT},
    {"mma sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32", PRODUCT},
    {"mma sync aligned m8n8k16|m16n8k16|m16n8k32 row col {satfinite} s32 s8|u8 s8|u8 s32", PRODUCT},
    {"mma sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col {rn} f64 f64 f64 f64", PRODUCT},
    {"ldmatrix sync aligned m8n8 x1|x2|x4 {trans} {shared|shared::cta} b16", .decode = decode_rows,
     .run = sim_load_matrix, .effects = ACCESSES | WRITES_DESTINATION},
    {"stmatrix sync aligned m8n8 x1|x2|x4 {trans} {shared|shared::cta} b16", .decode = decode_rows,
     .run = sim_store_matrix, .effects = ACCESSES | PUBLISHES | UNCOUNTED},
    {"movmatrix sync aligned m8n8 trans b16", .decode = decode_transposition, .run = sim_transpose_matrix, .effects = WRITES_DESTINATION},
};

INSTRUCTION_LIST(sim_matrix_instructions, "Tensor cores", ROWS)
