// decode_memory.c: decodes loads, stores, atomic operations and fences.
#include "machine/ops/instructions.h"
#include "machine/block.h"

#include <string.h>

static Space space_of(const Opcode *o)
{
    static const char *const NAMES[] = {"global", "shared", "shared::cta", "shared::cluster", "local", "const",
                                        "param", "param::entry", "param::func"};
    static const Space SPACES[] = {GLOBAL, SHARED, SHARED, SHARED, LOCAL, CONST, PARAM, PARAM, PARAM, GENERIC};
    return SPACES[sim_modifier_among(o, NAMES, (int)(sizeof NAMES / sizeof *NAMES))];
}

// WITHIN_CLUSTER if the instruction can address the shared memory of other blocks, otherwise 0.
static uint16_t cluster_flag(const Opcode *o)
{
    return sim_has_modifier(o, "shared::cluster") || space_of(o) == GENERIC ? WITHIN_CLUSTER : 0;
}

// Decodes the memory ordering and scope of an access. `fallback` applies if the opcode names no ordering.
static void decode_semantics(const Opcode *o, Instr *i, Semantics fallback)
{
    static const char *const ORDERS[] = {"volatile", "acquire", "release", "acq_rel", "relaxed"};
    static const char *const SCOPES[] = {"cta", "cluster", "gpu", "sys"};
    const Semantics semantics[] = {VOLATILE, ACQUIRE, RELEASE, ACQUIRE_RELEASE, RELAXED, fallback};
    i->semantics = (uint8_t)semantics[sim_modifier_among(o, ORDERS, 5)];
    const uint8_t scopes[] = {BLOCK_SCOPE, CLUSTER_SCOPE, DEVICE_SCOPE, SYSTEM_SCOPE,
                            i->semantics == VOLATILE ? SYSTEM_SCOPE : DEVICE_SCOPE};
    i->scope = i->semantics == WEAK ? NO_SCOPE : scopes[sim_modifier_among(o, SCOPES, 4)];
}

// The number of operands without a final cache policy, which is ignored because there are no caches. -1: invalid policy.
static int operands_without_policy(Decoder *d, const Statement *s, const Opcode *o)
{
    if (!sim_has_modifier(o, "L2::cache_hint"))
        return s->count;
    return s->count > 0 && sim_source(d, &s->operands[s->count - 1], 'l') != NO_OFFSET ? s->count - 1 : -1;
}

// ---- Loads and stores

static int element_count(const Opcode *o)
{
    static const char *const NAMES[] = {"v2", "v4", "v8"};
    static const int COUNTS[] = {2, 4, 8, 1};
    return COUNTS[sim_modifier_among(o, NAMES, 3)];
}

// Decodes the registers and constants that are loaded or stored. All registers have one size, which may exceed the size of the
// elements in memory, except for 128-bit elements.
static bool decode_elements(Decoder *d, const Operand *elements, bool is_load, Instr *i)
{
    i->elements = sim_allocate(d->arena, (size_t)i->count * sizeof *i->elements);
    i->register_bytes = i->bytes;
    for (int k = i->count - 1; k >= 0; k--)
        if (elements[k].kind == IS_REGISTER)
            i->register_bytes = (uint8_t)sim_type_bytes(elements[k].reg->type);
    const char letter =
        i->register_bytes == i->bytes ? sim_letter_of_type((Type)i->type) : sim_letter_of_bytes(i->register_bytes);
    for (int k = 0; k < i->count; k++) {
        const bool has_sink = is_load && elements[k].kind == IS_SINK;
        i->elements[k] = has_sink   ? NO_OFFSET
                     : is_load ? sim_destination(&elements[k], letter)
                            : sim_source(d, &elements[k], letter);
        if (i->elements[k] == NO_OFFSET && !has_sink)
            return false;
    }
    return i->register_bytes >= i->bytes && (i->register_bytes < 16 || i->bytes == 16);
}

// Selects the handler for a parameter. Kernel parameters are equal in all lanes; function parameters are in the frame.
static bool decode_parameter(const Decoder *d, const Variable *v, bool is_load, Instr *i)
{
    const bool is_kernel_param = d->function->is_kernel && v->address < d->function->kernel_param_bytes;
    i->run = is_kernel_param ? sim_load_kernel_param : is_load ? sim_load_argument : sim_store_argument;
    i->kind = OTHER_KIND;
    i->effects &= WRITES_DESTINATION;
    return is_load || !is_kernel_param;
}

static bool allows_fast_path(const Instr *i)
{
    return i->semantics == WEAK && i->count == 1 && !is_sink(i, 0) && i->bytes == i->register_bytes &&
           (i->bytes == 4 || i->bytes == 8) && (i->at.space == GLOBAL || i->at.space == GENERIC) &&
           i->at.base != NO_OFFSET && i->at.base_bytes == 8;
}

static bool decode_access(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    const bool is_load = i->kind == LOAD;
    if (operands_without_policy(d, s, o) != 2)
        return false;
    const Operand *address = &s->operands[is_load ? 1 : 0], *value = &s->operands[is_load ? 0 : 1];
    const Variable *v = address->kind == IS_SYMBOL ? address->variable : NULL;
    const bool is_vector = value->kind == IS_VECTOR;
    i->bytes = (uint8_t)sim_type_bytes(o->type);
    i->count = (uint8_t)element_count(o);
    decode_semantics(o, i, WEAK);
    i->flags = o->type == S8 || o->type == S16 || o->type == S32 ? SIGNED_VALUE : 0;
    i->flags |= cluster_flag(o) | (sim_has_modifier(o, "nc") ? READ_ONLY : 0);
    if (i->count != (is_vector ? value->count : 1) || i->count * i->bytes > 32 ||
        !sim_decode_address(d, address, space_of(o), &i->at) ||
        !decode_elements(d, is_vector ? value->elements : value, is_load, i))
        return false;
    if (v && v->space == PARAM)
        return decode_parameter(d, v, is_load, i);
    if ((i->at.space == GLOBAL || i->at.space == GENERIC) && i->semantics != WEAK) {
        i->flags |= POLLS_OTHERS;
        i->effects |= is_load ? OBSERVES : 0;
        sim_require_concurrency(d, ORDERED_EFFECTS);
    }
    i->flags |= allows_fast_path(i) ? FAST_PATH_ACCESS : 0;
    return i->at.space != PARAM || address->kind == IS_REGISTER;
}

// ---- Atomic operations

// Returns the frame offsets of the operands or results of an atomic operation, scalar or vector; NO_OFFSET if unused.
static uint32_t *decode_atomic_elements(Decoder *d, const Operand *o, const Instr *i, bool is_result)
{
    const char letter = sim_letter_of_type((Type)i->type);
    const bool is_vector = o && o->kind == IS_VECTOR;
    uint32_t *offsets = sim_allocate(d->arena, (size_t)i->count * sizeof *offsets);
    if (is_vector ? o->count != i->count : o && i->count > 1 && o->kind != IS_SINK)
        return NULL;
    for (int k = 0; k < i->count; k++) {
        const Operand *element = is_vector ? &o->elements[k] : o;
        const bool unused = !element || (is_result && element->kind == IS_SINK);
        offsets[k] = unused ? NO_OFFSET : is_result ? sim_destination(element, letter) : sim_source(d, element, letter);
        if (offsets[k] == NO_OFFSET && !unused)
            return NULL;
    }
    return offsets;
}

// True if the result of an atomic operation is discarded.
static bool discards_result(const Instr *i)
{
    for (int k = 0; k < i->count; k++)
        if (!is_sink(i, k))
            return false;
    return true;
}

static bool has_register(const Operand *o, const Register *reg)
{
    bool found = o->reg == reg || o->second == reg;
    for (int k = 0; k < o->count && !found; k++)
        found = has_register(&o->elements[k], reg);
    return found;
}

// True if a statement other than `own` has this register.
static bool is_used_elsewhere(const Function *function, const Statement *own, const Register *reg)
{
    for (uint32_t k = 0; k < function->count; k++) {
        const Statement *s = &function->statements[k];
        bool found = s != own && s->guard == reg;
        for (int n = 0; s != own && n < s->count && !found; n++)
            found = has_register(&s->operands[n], reg);
        if (found)
            return true;
    }
    return false;
}

// True if another statement uses the result of an atomic operation; ptxas turns the other ones into reductions, which load nothing.
static bool is_result_used(const Decoder *d, const Statement *s)
{
    const Operand *result = &s->operands[0];
    bool used = result->reg && is_used_elsewhere(d->function, s, result->reg);
    for (int k = 0; k < result->count && !used; k++)
        used = result->elements[k].reg && is_used_elsewhere(d->function, s, result->elements[k].reg);
    return used;
}

// atom.add.u32 d, [address], b. red has no d; cas compares with b and stores c.
static bool decode_atomic(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const OPERATIONS[] = // in the order of ATOMIC_ADD ...
        {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"};
    const bool has_result = sim_slice_is(o->parts[0], "atom");
    const Operand *address = &s->operands[has_result ? 1 : 0];
    i->op = (uint8_t)sim_modifier_among(o, OPERATIONS, 10);
    if (operands_without_policy(d, s, o) != (has_result ? 1 : 0) + (i->op == ATOMIC_CAS ? 3 : 2))
        return false;
    i->bytes = (uint8_t)sim_type_bytes(o->type);
    i->count = (uint8_t)element_count(o);
    decode_semantics(o, i, RELAXED);
    i->flags |= cluster_flag(o);
    i->values = decode_atomic_elements(d, address + 1, i, false);
    i->elements = decode_atomic_elements(d, has_result ? &s->operands[0] : NULL, i, true);
    if (!i->values || !i->elements || i->count * i->bytes > 16 || !sim_decode_address(d, address, space_of(o), &i->at))
        return false;
    i->effects |= discards_result(i) ? PUBLISHES : 0; // one with a result may leave memory unchanged, as a failed cas does
    if (has_result && sim_settings()->counts_atomic_loads && is_result_used(d, s))
        i->flags |= COUNTS_AS_LOAD;
    i->c = i->op == ATOMIC_CAS ? sim_source(d, address + 2, sim_letter_of_type(o->type)) : i->values[0];
    if (i->at.space != SHARED)
        sim_require_concurrency(d, ORDERED_EFFECTS);
    return i->c != NO_OFFSET;
}

// ---- Other instructions

static bool decode_isspacep(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->at.space = (uint8_t)space_of(o);
    i->flags |= cluster_flag(o);
    return sim_plain_operands(d, s, o, i, "pl");
}

// mapa d, address, rank; getctarank d, address
static bool decode_cluster_address(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    i->at.space = (uint8_t)space_of(o);
    i->bytes = (uint8_t)sim_type_bytes(o->type);
    return sim_plain_operands(d, s, o, i, sim_slice_is(o->parts[0], "mapa") ? "tti" : "it");
}

// A block's accesses and bulk copies execute in the order of issue, so only the checker needs fences. A fence with a scope beyond
// the block indicates that blocks communicate.
static bool decode_fence(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    static const char *const BLOCK_FENCES[] = {"cta", "mbarrier_init", "proxy"};
    const bool beyond_block = sim_modifier_among(o, BLOCK_FENCES, 3) == 3;
    i->scope = beyond_block ? DEVICE_SCOPE : BLOCK_SCOPE;
    if (beyond_block)
        sim_require_concurrency(d, ORDERED_EFFECTS);
    return s->count == 0;
}

static bool decode_hint(Decoder *d, const Statement *s, const Opcode *o, Instr *i)
{
    (void)o;
    return s->count == 1 && sim_decode_address(d, &s->operands[0], GENERIC, &i->at);
}

#define ORDERED "{relaxed|acquire|release|acq_rel} {SCOPE} {global|shared|shared::cta|shared::cluster}"
#define ORDERED_GLOBAL "{relaxed|acquire|release|acq_rel} {SCOPE} {global}"
#define ATOMIC_OPERATION .run = sim_atomic, .kind = ATOMIC, .effects = ACCESSES | OBSERVES | WRITES_DESTINATION
#define ATOMIC_ROWS(name)                                                                                               \
    {name " " ORDERED " add {HINT} s32|u32|u64|s64|f32|f64", .decode = decode_atomic, ATOMIC_OPERATION},                \
    {name " " ORDERED " add noftz {HINT} f16|f16x2|bf16|bf16x2", .decode = decode_atomic, ATOMIC_OPERATION},            \
    {name " " ORDERED " min|max {HINT} s32|u32|s64|u64", .decode = decode_atomic, ATOMIC_OPERATION},                    \
    {name " " ORDERED " inc|dec {HINT} u32", .decode = decode_atomic, ATOMIC_OPERATION},                                \
    {name " " ORDERED " LOGIC {HINT} b32|b64", .decode = decode_atomic, ATOMIC_OPERATION},                              \
    {name " " ORDERED_GLOBAL " add {HINT} v2|v4 f32", .decode = decode_atomic, ATOMIC_OPERATION},                       \
    {name " " ORDERED_GLOBAL " add|min|max noftz {HINT} v2|v4|v8 f16|bf16", .decode = decode_atomic, ATOMIC_OPERATION}, \
    {name " " ORDERED_GLOBAL " add|min|max noftz {HINT} v2|v4 f16x2|bf16x2", .decode = decode_atomic, ATOMIC_OPERATION}

static const Instruction ROWS[] = {
    {"ld {weak|volatile|relaxed|acquire} {SCOPE} {SPACE} {nc} {unified} {CACHE} {EVICT} {EVICT2} {HINT} {PREFETCH} {VECTOR} DATA",
     .decode = decode_access, .run = sim_load, .kind = LOAD, .effects = ACCESSES | WRITES_DESTINATION},
    {"ldu {global} {VECTOR} DATA", .decode = decode_access, .run = sim_load, .kind = LOAD,
     .effects = ACCESSES | WRITES_DESTINATION},
    {"st {weak|volatile|relaxed|release} {SCOPE} {SPACE} {CACHE} {EVICT} {EVICT2} {HINT} {VECTOR} DATA",
     .decode = decode_access, .run = sim_store, .kind = STORE, .effects = ACCESSES | PUBLISHES},
    ATOMIC_ROWS("atom"),
    {"atom " ORDERED " exch {HINT} b32|b64|b128", .decode = decode_atomic, ATOMIC_OPERATION},
    {"atom " ORDERED " cas b16|b32|b64|b128", .decode = decode_atomic, ATOMIC_OPERATION},
    ATOMIC_ROWS("red"),
    {"isspacep global|shared|shared::cta|shared::cluster|local|const|param|param::entry", .decode = decode_isspacep,
     .run = sim_is_space, .effects = WRITES_DESTINATION},
    {"mapa {shared::cluster} u32|u64", .decode = decode_cluster_address, .run = sim_map_address},
    {"getctarank {shared::cluster} u32|u64", .decode = decode_cluster_address, .run = sim_rank_of_address},
    {"membar cta|gl|sys", .decode = decode_fence, .run = sim_fence, .kind = FENCE,
     .effects = SYNCHRONISES},
    {"fence {sc|acq_rel|acquire|release} SCOPE", .decode = decode_fence, .run = sim_fence, .kind = FENCE,
     .effects = SYNCHRONISES},
    {"fence mbarrier_init release cluster", .decode = decode_fence, .run = sim_fence_mbarrier_init, .effects = SYNCHRONISES},
    {"fence proxy async {global|shared::cta|shared::cluster}", .decode = decode_fence, .run = sim_fence_proxy},
    {"prefetch {global|local} L1|L2|L2::evict_last|L2::evict_normal", .decode = decode_hint},
    {"prefetchu L1", .decode = decode_hint},
};

INSTRUCTION_LIST(sim_memory_instructions, "Memory", ROWS)
