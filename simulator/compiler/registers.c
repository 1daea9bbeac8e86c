// registers.c: leaves SSA form and assigns virtual registers. Each phi gets a variable, which its predecessors set before they
// branch and which is copied to the phi's value at the start of its block (Sreedhar's method I). Variables and values then share
// a register wherever their live ranges do not intersect, in the innermost loops first; a move remains where they do.
#include "compiler/intrinsics.h"
#include "compiler/registers.h"

#include <string.h>

enum {
    MAX_LIVE_BITS = 1 << 28,     // of all live sets together; above it nothing is coalesced
    MAX_ELEMENTS = 8,
    MAX_CHECKS = 20 * 1000 * 1000 // pairs of values whose live ranges are compared; above it coalescing stops
};

typedef struct Member { // a value, or a phi's variable, in a class that shares a register
    const IrInstruction *value; // for a variable, its phi
    bool is_variable;
    struct Member *representative, *next, *last; // next member of the class; last member, kept at the representative
    uint32_t size;       // members of the class, kept at the representative
    uint32_t number;     // register of the class, kept at the representative
    uint32_t live_index; // a value's bit in the live sets
} Member;

typedef struct Coalescing {
    IrModule *module;
    IrFunction *function;
    const Dominators *dominators;
    const Loops *loops;
    Registers *registers;
    Member **value_member, **variable_member; // indexed by an instruction's id; NULL where no phi is involved
    uint32_t *position;                       // indexed by an instruction's id: its position in its block
    uint32_t live_count, words;
    uint64_t *live_in, *live_out; // indexed by a block's id: `words` words each
    uint32_t checks;
} Coalescing;

RegisterClass register_class(IrType type)
{
    static const uint8_t classes[IR_TYPES] = {
        [IR_PRED] = PREDICATES, [IR_B8] = REGISTERS_16, [IR_B16] = REGISTERS_16, [IR_F16] = REGISTERS_16, [IR_BF16] = REGISTERS_16,
        [IR_B32] = REGISTERS_32, [IR_B64] = REGISTERS_64, [IR_F32] = FLOATS_32, [IR_F64] = FLOATS_64};
    return classes[type];
}

static bool template_has(const char *template, char kind, uint32_t operand)
{
    for (const char *c = template; c && *c; c++)
        if (c[0] == kind && c[1] == (char)('1' + operand))
            return true;
    return false;
}

bool is_address_operand(const IrInstruction *user, uint32_t operand)
{
    switch (user->op) {
    case IR_LOAD:
    case IR_STORE:
    case IR_LOAD_VECTOR:
    case IR_STORE_VECTOR:
        return operand == 0;
    case IR_COPY:
        return true;
    case IR_INTRINSIC: {
        const char *template = user->intrinsic->ptx;
        return template_has(template, '@', operand) && !template_has(template, '$', operand) && !template_has(template, '%', operand);
    }
    default:
        return false;
    }
}

static bool is_used_only_as_address(const IrInstruction *value)
{
    for (const IrUse *use = value->uses; use; use = use->next)
        if (!is_address_operand(use->user, use->operand))
            return false;
    return true;
}

static bool is_parameter_pointer(const IrInstruction *value)
{
    return value->op == IR_ARGUMENT && value->block->function->arguments[value->index].type == IR_VOID;
}

bool needs_register(const IrInstruction *value)
{
    if (value->type == IR_VOID || ir_is_constant(value) || value->op == IR_LOAD_VECTOR)
        return false;
    if (!value->uses && ir_is_removable(value))
        return false;
    return !((value->op == IR_SYMBOL || is_parameter_pointer(value)) && is_used_only_as_address(value));
}

// ---- Liveness of phis and their operands

static void add_member(Coalescing *c, Member **table, const IrInstruction *value, bool is_variable)
{
    if (table[value->id])
        return;
    Member *member = table[value->id] = ir_scratch(c->module, sizeof *member);
    *member = (Member){.value = value, .is_variable = is_variable, .size = 1};
    member->representative = member->last = member;
    if (!is_variable)
        member->live_index = c->live_count++;
}

static void add_members(Coalescing *c)
{
    for (const IrBlock *block = c->function->first; block; block = block->next)
        for (const IrInstruction *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
            if (!needs_register(phi))
                continue;
            add_member(c, c->value_member, phi, false);
            add_member(c, c->variable_member, phi, true);
            for (uint32_t k = 0; k < phi->operand_count; k++)
                if (needs_register(phi->operands[k]))
                    add_member(c, c->value_member, phi->operands[k], false);
        }
}

static bool test_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= 1ull << bit % 64;
}

static uint64_t *live_in(const Coalescing *c, const IrBlock *block)
{
    return c->live_in + (size_t)block->id * c->words;
}

static uint64_t *live_out(const Coalescing *c, const IrBlock *block)
{
    return c->live_out + (size_t)block->id * c->words;
}

// Marks the value as live from its definition to the start of the block.
static void mark_live_in(Coalescing *c, const Member *member, IrBlock *block, IrBlock **stack)
{
    uint32_t depth = 0;
    stack[depth++] = block;
    while (depth) {
        const IrBlock *at = stack[--depth];
        if (at == member->value->block || test_bit(live_in(c, at), member->live_index))
            continue;
        set_bit(live_in(c, at), member->live_index);
        for (uint32_t k = 0; k < at->predecessor_count; k++) {
            IrBlock *from = at->predecessors[k];
            set_bit(live_out(c, from), member->live_index);
            if (!test_bit(live_in(c, from), member->live_index))
                stack[depth++] = from;
        }
    }
}

static uint32_t count_edges(const IrFunction *function)
{
    uint32_t edges = 0;
    for (const IrBlock *block = function->first; block; block = block->next)
        edges += block->predecessor_count;
    return edges;
}

static void find_liveness(Coalescing *c)
{
    c->words = c->live_count / 64 + 1;
    const size_t words = (size_t)c->function->next_block * c->words;
    if (words * 128 > MAX_LIVE_BITS) {
        c->checks = MAX_CHECKS;
        return;
    }
    c->live_in = ir_scratch(c->module, words * sizeof(uint64_t));
    c->live_out = ir_scratch(c->module, words * sizeof(uint64_t));
    IrBlock **stack = ir_scratch(c->module, (count_edges(c->function) + 1) * sizeof *stack);
    for (uint32_t id = 0; id < c->function->next_instruction; id++) {
        const Member *member = c->value_member[id];
        for (const IrUse *use = member ? member->value->uses : NULL; use; use = use->next)
            if (use->user->block) {
                IrBlock *block = use->user->block;
                mark_live_in(c, member, use->user->op == IR_PHI ? block->predecessors[use->operand] : block, stack);
            }
    }
}

// Moves the elements of a vector to directly after the instruction that yields the vector, as that instruction writes their
// registers, and merges those of equal index.
static void gather_elements(IrInstruction *vector)
{
    IrInstruction *found[MAX_ELEMENTS] = {NULL}, *insert_before = vector->next;
    for (const IrUse *use = vector->uses, *next; use; use = next) {
        next = use->next;
        IrInstruction *element = use->user;
        if (element->op != IR_ELEMENT || element->index >= MAX_ELEMENTS)
            continue;
        if (found[element->index]) {
            ir_replace(element, found[element->index]);
            continue;
        }
        found[element->index] = element;
        if (element == insert_before)
            insert_before = insert_before->next;
        else
            ir_move_before(insert_before, element);
    }
}

static void gather_all_elements(IrFunction *function)
{
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrInstruction *i = block->first; i; i = i->next)
            if (i->op == IR_LOAD_VECTOR || (i->op == IR_INTRINSIC && i->type == IR_VOID))
                gather_elements(i);
}

// Whether an intrinsic's PTX writes the result in one instruction before a later one reads an operand.
static bool is_early_clobber(const IrInstruction *i)
{
    const char *at = i->op == IR_INTRINSIC && i->intrinsic->ptx ? strstr(i->intrinsic->ptx, "$0") : NULL;
    at = at ? strchr(at, ';') : NULL;
    for (; at && *at; at++)
        if ((*at == '%' || *at == '$' || *at == '@') && at[1] >= '1' && at[1] <= '9')
            return true;
    return false;
}

// Positions are even, so that the result of an early clobber can be one before the position of its operands.
static uint32_t result_position(const Coalescing *c, const IrInstruction *value)
{
    const IrInstruction *writer = value->op == IR_ELEMENT ? value->operands[0] : value;
    return c->position[writer->id] - is_early_clobber(writer);
}

static void number_positions(Coalescing *c)
{
    c->position = ir_scratch(c->module, c->function->next_instruction * sizeof *c->position);
    for (const IrBlock *block = c->function->first; block; block = block->next) {
        uint32_t position = 0;
        for (const IrInstruction *i = block->first; i; i = i->next)
            c->position[i->id] = i->op == IR_PHI ? 0 : (position += 2);
    }
}

// ---- Interference

static bool is_live_after(const Coalescing *c, const Member *member, const IrBlock *block, uint32_t position)
{
    if (test_bit(live_out(c, block), member->live_index))
        return true;
    for (const IrUse *use = member->value->uses; use; use = use->next) {
        const IrInstruction *user = use->user;
        if (user->op == IR_PHI ? user->block->predecessors[use->operand] == block
                               : user->block == block && c->position[user->id] > position)
            return true;
    }
    return false;
}

static bool values_intersect(const Coalescing *c, const Member *a, const Member *b)
{
    const IrBlock *first = a->value->block, *second = b->value->block;
    const uint32_t from = result_position(c, a->value), to = result_position(c, b->value);
    if (first == second && from == to)
        return true; // two phis of a block, or two elements of a vector
    if (first == second ? from < to : block_dominates(c->dominators, first, second))
        return is_live_after(c, a, second, to);
    if (first == second || block_dominates(c->dominators, second, first))
        return is_live_after(c, b, first, from);
    return false;
}

// A variable is live from the moves at the end of its phi's predecessors to the phi. A predecessor that sets it to the value
// itself causes no conflict.
static bool variable_intersects(const Coalescing *c, const Member *variable, const Member *value)
{
    const IrBlock *block = variable->value->block;
    for (uint32_t k = 0; k < block->predecessor_count; k++) {
        const IrBlock *from = block->predecessors[k];
        if (variable->value->operands[k] == value->value)
            continue;
        if (test_bit(live_out(c, from), value->live_index) || (from->last->operand_count && from->last->operands[0] == value->value))
            return true;
    }
    return false;
}

// Whether one block sets both at its end, to different values.
static bool variables_intersect(const Member *a, const Member *b)
{
    const IrBlock *first = a->value->block, *second = b->value->block;
    for (uint32_t k = 0; k < first->predecessor_count; k++)
        for (uint32_t t = 0; t < ir_target_count(first->predecessors[k]); t++) {
            const IrBlock *from = first->predecessors[k];
            if (from->last->target[t] == second && a->value->operands[k] != b->value->operands[ir_edge_index(from, t)])
                return true;
        }
    return false;
}

static bool members_intersect(const Coalescing *c, const Member *a, const Member *b)
{
    if (a->is_variable && b->is_variable)
        return variables_intersect(a, b);
    if (a->is_variable)
        return variable_intersects(c, a, b);
    return b->is_variable ? variable_intersects(c, b, a) : values_intersect(c, a, b);
}

static Member *representative(Member *member)
{
    while (member->representative != member)
        member = member->representative = member->representative->representative;
    return member;
}

static bool classes_intersect(Coalescing *c, const Member *a, const Member *b)
{
    for (const Member *one = a; one; one = one->next)
        for (const Member *other = b; other; other = other->next)
            if (++c->checks > MAX_CHECKS || members_intersect(c, one, other))
                return true;
    return false;
}

static void coalesce(Coalescing *c, Member *one, Member *other)
{
    Member *a = representative(one), *b = representative(other);
    if (a == b || c->checks >= MAX_CHECKS || register_class(a->value->type) != register_class(b->value->type))
        return;
    if (a->size < b->size) {
        Member *swapped = a;
        a = b;
        b = swapped;
    }
    if (classes_intersect(c, a, b))
        return;
    b->representative = a;
    a->last->next = b;
    a->last = b->last;
    a->size += b->size;
}

// Coalesces the moves in blocks of this loop depth.
static void coalesce_at_depth(Coalescing *c, uint32_t depth)
{
    for (const IrBlock *block = c->function->first; block; block = block->next)
        for (const IrInstruction *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
            Member *variable = c->variable_member[phi->id];
            if (!variable)
                continue;
            const Loop *loop = c->loops->innermost[block->id];
            if ((loop ? loop->depth : 0) == depth)
                coalesce(c, variable, c->value_member[phi->id]);
            for (uint32_t k = 0; k < phi->operand_count; k++) {
                loop = c->loops->innermost[block->predecessors[k]->id];
                if ((loop ? loop->depth : 0) == depth && c->value_member[phi->operands[k]->id])
                    coalesce(c, variable, c->value_member[phi->operands[k]->id]);
            }
        }
}

static void coalesce_all(Coalescing *c)
{
    uint32_t deepest = 0;
    for (const Loop *loop = c->loops->all; loop; loop = loop->next)
        deepest = loop->depth > deepest ? loop->depth : deepest;
    for (uint32_t depth = deepest + 1; depth-- > 0;)
        coalesce_at_depth(c, depth);
}

// ---- Registers and moves

static uint32_t new_register(Coalescing *c, IrType type)
{
    return ++c->registers->count[register_class(type)];
}

static uint32_t member_register(Coalescing *c, Member *member)
{
    Member *first = representative(member);
    if (!first->number)
        first->number = new_register(c, first->value->type);
    return first->number;
}

static void number_registers(Coalescing *c)
{
    for (const IrBlock *block = c->function->first; block; block = block->next)
        for (const IrInstruction *i = block->first; i; i = i->next)
            if (needs_register(i)) {
                Member *member = c->value_member[i->id];
                c->registers->number[i->id] = member ? member_register(c, member) : new_register(c, i->type);
            }
}

static RegisterMove *new_move(Coalescing *c, RegisterMove **list, IrType type, uint32_t to, const IrInstruction *from)
{
    RegisterMove *move = ir_allocate(c->module, sizeof *move);
    *move = (RegisterMove){.to = to, .class = register_class(type), .next = *list};
    if (ir_is_constant(from))
        move->constant = from;
    else
        move->from = c->registers->number[from->id];
    return *list = move;
}

static bool is_read_by_another(const RegisterMove *moves, const RegisterMove *move)
{
    for (const RegisterMove *other = moves; other; other = other->next)
        if (other != move && other->from == move->to && other->class == move->class)
            return true;
    return false;
}

// Orders parallel moves: a move waits while another one still reads its target, and a cycle is broken by a spare register.
static RegisterMove *sequentialise(Coalescing *c, RegisterMove *moves)
{
    RegisterMove *first = NULL, **last = &first;
    while (moves) {
        RegisterMove **ready = &moves;
        while (*ready && is_read_by_another(moves, *ready))
            ready = &(*ready)->next;
        if (!*ready) {
            const uint32_t spare = ++c->registers->count[moves->class], held = moves->to;
            RegisterMove *save = ir_allocate(c->module, sizeof *save);
            *save = (RegisterMove){.to = spare, .from = held, .class = moves->class};
            for (RegisterMove *other = moves; other; other = other->next)
                if (other->from == held && other->class == save->class)
                    other->from = spare;
            *last = save;
            last = &save->next;
            continue;
        }
        RegisterMove *move = *ready;
        *ready = move->next;
        move->next = NULL;
        *last = move;
        last = &move->next;
    }
    return first;
}

static void make_moves(Coalescing *c, const IrBlock *block)
{
    Registers *r = c->registers;
    for (IrInstruction *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next) {
        if (!c->variable_member[phi->id])
            continue;
        const uint32_t variable = member_register(c, c->variable_member[phi->id]);
        if (variable != r->number[phi->id])
            new_move(c, &r->at_start[block->id], phi->type, r->number[phi->id], phi)->from = variable;
        for (uint32_t k = 0; k < phi->operand_count; k++) {
            const IrInstruction *value = phi->operands[k];
            if (value->op != IR_UNDEFINED && (ir_is_constant(value) || r->number[value->id] != variable))
                new_move(c, &r->at_end[block->predecessors[k]->id], phi->type, variable, value);
        }
    }
}

Registers *assign_registers(IrModule *module, IrFunction *function)
{
    Coalescing c = {.module = module, .function = function, .registers = ir_scratch(module, sizeof(Registers))};
    const size_t values = function->next_instruction, blocks = function->next_block;
    c.registers->number = ir_scratch(module, values * sizeof(uint32_t));
    c.registers->at_start = ir_scratch(module, blocks * sizeof(RegisterMove *));
    c.registers->at_end = ir_scratch(module, blocks * sizeof(RegisterMove *));
    c.value_member = ir_scratch(module, values * sizeof(Member *));
    c.variable_member = ir_scratch(module, values * sizeof(Member *));
    c.dominators = dominators_of(module, function);
    c.loops = loops_of(module, function, c.dominators);
    gather_all_elements(function);
    add_members(&c);
    find_liveness(&c);
    number_positions(&c);
    if (c.checks < MAX_CHECKS)
        coalesce_all(&c);
    number_registers(&c);
    for (const IrBlock *block = function->first; block; block = block->next)
        make_moves(&c, block);
    for (const IrBlock *block = function->first; block; block = block->next) {
        c.registers->at_start[block->id] = sequentialise(&c, c.registers->at_start[block->id]);
        c.registers->at_end[block->id] = sequentialise(&c, c.registers->at_end[block->id]);
    }
    return c.registers;
}
