// coverage: prints the table of instructions as a CSV: an opcode's modifiers, [a b] for an optional one of these words, (a b)
// for a required one, and its types; at the end, with the subject "refused", the other names of the PTX ISA.
#include "machine/ops/instructions.h"

#include <string.h>

enum { MAX_TEXT = 4096 };

typedef struct Row { // one row of the table
    char name[64], modifiers[MAX_TEXT], types[MAX_TEXT];
} Row;

static void append(char *text, const char *words, size_t length)
{
    const size_t used = strlen(text);
    snprintf(text + used, MAX_TEXT - used, "%s%.*s", used ? " " : "", (int)length, words);
}

// The words that a slot of a row's syntax stands for, separated by spaces.
static void list_words(const char *slot, size_t length, const Instruction *row, char *words)
{
    const char *end = slot + length;
    while (slot < end) {
        const char *bar = memchr(slot, '|', (size_t)(end - slot));
        const size_t length_of_word = (size_t)((bar ? bar : end) - slot);
        const char *list = sim_word_list((Slice){slot, length_of_word});
        if (list)
            list_words(list, strlen(list), row, words);
        else if (sim_slice_is((Slice){slot, length_of_word}, "TYPE"))
            for (Type type = B8; type < TYPES; type++) {
                if (row->by_type[type])
                    append(words, sim_type_name(type), strlen(sim_type_name(type)));
            }
        else
            append(words, slot, length_of_word);
        slot += length_of_word + 1;
    }
}

static bool are_types(const char *words)
{
    return sim_type_named((Slice){words, strcspn(words, " ")}) != NO_TYPE;
}

static Row row_of(const Instruction *row)
{
    Row printed = {.name = ""};
    const char *at = row->syntax;
    const size_t name = strcspn(at, " ");
    snprintf(printed.name, sizeof printed.name, "%.*s", (int)name, at);
    for (at += name; *at; at += strcspn(at, " ")) {
        at++; // the space before the slot
        const size_t length = strcspn(at, " ");
        const bool optional = at[0] == '{', last = at[length] == 0;
        char words[MAX_TEXT] = "", slot[MAX_TEXT + 2];
        list_words(at + optional, length - 2 * (size_t)optional, row, words);
        if (last && are_types(words)) {
            append(printed.types, words, strlen(words));
            continue;
        }
        const bool choice = strchr(words, ' ');
        snprintf(slot, sizeof slot, "%s%s%s", optional ? "[" : choice ? "(" : "", words, optional ? "]" : choice ? ")" : "");
        append(printed.modifiers, slot, strlen(slot));
    }
    return printed;
}

static bool is_supported(const char *name)
{
    const InstructionTable *table = sim_instructions();
    for (int k = 0; k < table->count; k++)
        for (int row = 0; row < table->lists[k]->count; row++)
            if (sim_slice_is((Slice){table->lists[k]->rows[row].syntax, strcspn(table->lists[k]->rows[row].syntax, " ")}, name))
                return true;
    return false;
}

static void print_unsupported(void)
{
    static const char *const PTX[] = { // version 9.0
        "abs", "activemask", "add", "addc", "alloca", "and", "applypriority", "atom", "bar", "barrier", "bfe", "bfi", "bfind",
        "bmsk", "bra", "brev", "brkpt", "brx", "call", "clusterlaunchcontrol", "clz", "cnot", "copysign", "cos", "cp",
        "createpolicy", "cvt", "cvta", "discard", "div", "dp2a", "dp4a", "elect", "ex2", "exit", "fence", "fma", "fns",
        "getctarank", "griddepcontrol", "isspacep", "istypep", "ld", "ldmatrix", "ldu", "lg2", "lop3", "mad", "mad24", "madc",
        "mapa", "match", "max", "mbarrier", "membar", "min", "mma", "mov", "movmatrix", "mul", "mul24", "multimem", "nanosleep",
        "neg", "not", "or", "pmevent", "popc", "prefetch", "prefetchu", "prmt", "rcp", "red", "redux", "rem", "ret", "rsqrt",
        "sad", "selp", "set", "setmaxnreg", "setp", "shf", "shfl", "shl", "shr", "sin", "slct", "sqrt", "st", "stackrestore",
        "stacksave", "stmatrix", "sub", "subc", "suld", "suq", "sured", "sust", "szext", "tanh", "tcgen05", "tensormap",
        "testp", "tex", "tld4", "trap", "txq", "vabsdiff", "vabsdiff2", "vabsdiff4", "vadd", "vadd2", "vadd4", "vavrg2",
        "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2", "vmin4", "vote", "vset", "vset2", "vset4", "vshl", "vshr",
        "vsub", "vsub2", "vsub4", "wgmma", "wmma", "xor"};
    for (size_t k = 0; k < sizeof PTX / sizeof *PTX; k++)
        if (!is_supported(PTX[k]))
            printf("refused,%s,,\n", PTX[k]);
}

int main(void)
{
    const InstructionTable *table = sim_instructions();
    printf("subject,instruction,modifiers,types\n");
    for (int k = 0; k < table->count; k++)
        for (int row = 0; row < table->lists[k]->count; row++) {
            const Row printed = row_of(&table->lists[k]->rows[row]);
            printf("\"%s\",%s,%s,%s\n", table->lists[k]->subject, printed.name, printed.modifiers, printed.types);
        }
    print_unsupported();
    return 0;
}
