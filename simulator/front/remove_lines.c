// remove_lines.c: removes the barriers, fences and conditional branches of given source lines from a PTX text.
#include "front/ptx.h"

#include <string.h>

static bool begins_with(Slice opcode, const char *word)
{
    const size_t length = strlen(word);
    return opcode.length >= length && memcmp(opcode.text, word, length) == 0;
}

static bool is_branch(const Statement *s)
{
    return sim_slice_is(s->opcode, "bra") || sim_slice_is(s->opcode, "bra.uni");
}

// True for conditional forward branches, which skip guarded code or exit the kernel. Backward branches are loops.
static bool is_conditional_forward_branch(const Function *f, uint32_t number)
{
    const Statement *s = &f->statements[number];
    return s->guard && is_branch(s) && s->count == 1 && s->operands[0].label > number;
}

static LineUse use_of(const Function *f, uint32_t number)
{
    static const struct {
        const char *opcode;
        LineUse use;
    } USES[] = {{"bar.warp.sync", WARP_BARRIER_LINE}, {"bar.sync", BARRIER_LINE}, {"barrier.sync", BARRIER_LINE},
                {"barrier.cta.sync", BARRIER_LINE},   {"membar.", FENCE_LINE},    {"fence.", FENCE_LINE}};
    for (size_t k = 0; k < sizeof USES / sizeof *USES; k++)
        if (begins_with(f->statements[number].opcode, USES[k].opcode))
            return USES[k].use;
    return is_conditional_forward_branch(f, number) ? TEST_LINE : OTHER_LINE;
}

static int line_in_own_file(const Statement *s) // the line of the call if the statement is inlined
{
    return s->outer_line > 0 ? s->outer_line : s->source_line;
}

void sim_list_lines(Module *m, void (*list)(Slice function, int line, LineUse use, void *context), void *context)
{
    sim_read_bodies(m);
    for (const Function *f = m->functions; f; f = f->next)
        for (uint32_t k = 0; k < f->count; k++)
            if (use_of(f, k) != OTHER_LINE && line_in_own_file(&f->statements[k]) > 0)
                list(f->name, line_in_own_file(&f->statements[k]), use_of(f, k), context);
}

// ---- Removal

// The start of a statement, including its guard.
static const char *statement_begin(const Statement *s, const char *text)
{
    const char *at = s->opcode.text;
    while (at > text && !strchr("\n;{}:", at[-1]))
        at--;
    return at;
}

static void blank_text(char *begin, const char *end)
{
    for (; begin < end; begin++)
        if (*begin != '\n')
            *begin = ' ';
}

// Removes a statement. If a conditional branch leads to the guarded code and the next statement jumps over that code, removes
// only the guard, so that all lanes take the branch.
static void remove_statement(const Function *f, uint32_t number, char *text)
{
    const Statement *s = &f->statements[number];
    const bool targets_guarded_code = use_of(f, number) == TEST_LINE && number + 1 < f->count && is_branch(s + 1) && !s[1].guard;
    char *begin = text + (statement_begin(s, text) - text);
    blank_text(begin, targets_guarded_code ? s->opcode.text : strchr(s->opcode.text, ';') + 1);
}

int sim_remove_line(char *text, int line, bool tests)
{
    int count = 0;
    Module *m = sim_parse(text);
    sim_read_bodies(m);
    for (const Function *f = m->functions; f; f = f->next)
        for (uint32_t k = 0; k < f->count; k++) {
            const LineUse use = use_of(f, k);
            if (line_in_own_file(&f->statements[k]) != line || use == OTHER_LINE || (use == TEST_LINE) != tests)
                continue;
            remove_statement(f, k, text);
            count++;
        }
    sim_free_module(m);
    return count;
}
