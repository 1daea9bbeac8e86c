// ir_passes: the back end of the kernel compiler on small functions that are built here, without the front end. Each must be well
// formed after all passes, with any one of them left out, and its PTX must have what is expected. Prints what is wrong; exits with 1.
#include "compiler/passes.h"

#include <stdlib.h>
#include <string.h>

static int failures;

typedef struct Made {
    Arena arena;
    IrModule module;
    IrFunction *function;
} Made;

static void begin(Made *m, const char *name, uint32_t pointers, uint32_t integers)
{
    static const char *files[] = {"test.cu"};
    *m = (Made){.module = {.files = files, .file_count = 1}};
    m->module.arena = &m->arena;
    m->function = ir_new_function(&m->module, name, IR_VOID);
    m->function->kernel = true;
    m->function->argument_count = pointers + integers;
    m->function->arguments = ir_allocate(&m->module, (pointers + integers) * sizeof *m->function->arguments);
    for (uint32_t k = 0; k < pointers + integers; k++)
        m->function->arguments[k] = k < pointers ? (IrArgument){.type = IR_B64, .bytes = 8, .alignment = 8, .is_pointer = true}
                                                 : (IrArgument){.type = IR_B32, .bytes = 4, .alignment = 4};
}

static IrInstruction *argument(Made *m, IrBlock *block, uint32_t index)
{
    IrInstruction *made = ir_append(&m->module, block, IR_ARGUMENT, m->function->arguments[index].type, 0, NULL);
    made->index = index;
    return made;
}

static IrInstruction *element(Made *m, IrBlock *block, IrInstruction *pointer, IrInstruction *index)
{
    IrInstruction *offset = ir_append(&m->module, block, IR_OFFSET, IR_B64, 2, (IrInstruction *[]){pointer, index});
    offset->scale = 4;
    offset->flags = IR_SIGNED | IR_NO_WRAP;
    return offset;
}

static IrInstruction *load(Made *m, IrBlock *block, IrInstruction *pointer, IrSpace space)
{
    IrInstruction *made = ir_append(&m->module, block, IR_LOAD, IR_B32, 1, &pointer);
    made->memory = IR_B32;
    made->space = space;
    return made;
}

static void store(Made *m, IrBlock *block, IrInstruction *pointer, IrInstruction *value, IrSpace space)
{
    IrInstruction *made = ir_append(&m->module, block, IR_STORE, IR_VOID, 2, (IrInstruction *[]){pointer, value});
    made->memory = value->type;
    made->space = space;
}

static IrInstruction *variable(Made *m, IrBlock *block)
{
    IrInstruction *made = ir_append(&m->module, block, IR_ALLOCA, IR_B64, 0, NULL);
    made->space = IR_LOCAL;
    made->memory_bytes = made->alignment = 4;
    return made;
}

static IrInstruction *binary(Made *m, IrBlock *block, IrOp op, IrInstruction *a, IrInstruction *b)
{
    IrInstruction *made = ir_append(&m->module, block, op, a->type, 2, (IrInstruction *[]){a, b});
    made->flags = IR_SIGNED | IR_NO_WRAP;
    return made;
}

// p[0] = p[0] + p[1] + ... + p[bound - 1], with variables as the front end writes them; a bound below 0 is the second argument.
static void build_sum(Made *m, int bound)
{
    begin(m, "sum", 1, 1);
    IrModule *module = &m->module;
    IrBlock *entry = ir_new_block(module, m->function), *test = ir_new_block(module, m->function);
    IrBlock *body = ir_new_block(module, m->function), *end = ir_new_block(module, m->function);
    IrInstruction *pointer = argument(m, entry, 0), *count = argument(m, entry, 1);
    IrInstruction *i = variable(m, entry), *sum = variable(m, entry), *zero = ir_integer(module, m->function, IR_B32, 0);
    store(m, entry, i, zero, IR_LOCAL);
    store(m, entry, sum, zero, IR_LOCAL);
    ir_jump(module, entry, test);
    IrInstruction *limit = bound < 0 ? count : ir_integer(module, m->function, IR_B32, bound);
    IrInstruction *less = ir_append(module, test, IR_COMPARE, IR_PRED, 2, (IrInstruction *[]){load(m, test, i, IR_LOCAL), limit});
    less->compare = IR_LESS;
    less->flags = IR_SIGNED;
    ir_branch(module, test, less, body, end);
    IrInstruction *value = load(m, body, element(m, body, pointer, load(m, body, i, IR_LOCAL)), IR_GENERIC);
    store(m, body, sum, binary(m, body, IR_ADD, load(m, body, sum, IR_LOCAL), value), IR_LOCAL);
    store(m, body, i, binary(m, body, IR_ADD, load(m, body, i, IR_LOCAL), ir_integer(module, m->function, IR_B32, 1)), IR_LOCAL);
    ir_jump(module, body, test);
    store(m, end, pointer, load(m, end, sum, IR_LOCAL), IR_GENERIC);
    ir_return(module, end, NULL);
}

static char *ptx_of(Made *m, const char *skip)
{
    const CompileOptions options = {.file = "test.cu", .architecture = 90, .skip = skip};
    const IrProblem problem = ir_optimise(&m->module, &options);
    const char *wrong = problem.message ? problem.message : ir_verify(&m->module, m->function);
    if (wrong) {
        printf("without %s: %s\n", skip ? skip : "nothing", wrong);
        failures++;
    }
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    ir_write_ptx(out, &m->module, &options);
    fclose(out);
    sim_free_arena(&m->module.scratch);
    sim_free_arena(&m->arena);
    return text;
}

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

static void expect(const char *what, const char *ptx, const char *part, int count)
{
    if (count_of(ptx, part) == count)
        return;
    printf("%s: %d times %s, not %d\n%s\n", what, count_of(ptx, part), part, count, ptx);
    failures++;
}

int main(void)
{
    Made m;
    build_sum(&m, -1);
    char *ptx = ptx_of(&m, "all");
    expect("no passes", ptx, ".local", 10); // nine accesses to the variables, and their declaration
    free(ptx);

    build_sum(&m, -1);
    ptx = ptx_of(&m, NULL);
    expect("a counted loop", ptx, "ld.global.u32", 5); // four and the remainder
    expect("a counted loop", ptx, ".local", 0);
    free(ptx);

    build_sum(&m, -1);
    ptx = ptx_of(&m, "unroll");
    expect("a loop that is not unrolled", ptx, "ld.global.u32", 1);
    free(ptx);

    build_sum(&m, 4);
    ptx = ptx_of(&m, NULL);
    expect("four iterations", ptx, "ld.global.u32", 4);
    expect("four iterations", ptx, "bra", 0);
    free(ptx);

    static const char *const passes[] = {
        "simplify-cfg", "split", "promote", "spaces", "simplify", "dce", "chosen", "gvn", "if-convert", "rotate", "licm", "unroll-full", "unroll",
        "separate-offsets", "lsr", "fold-offsets", "sink", "lower-addresses", "simplify-late", "compares", "select", "layout", "branches"};
    for (size_t k = 0; k < sizeof passes / sizeof *passes; k++)
        for (int bound = -1; bound < 4; bound += 2) {
            build_sum(&m, bound);
            free(ptx_of(&m, passes[k]));
        }
    return failures != 0;
}
