// passes.c: the order of the passes. It follows NVVM's wherever the order shows in the PTX.
#include "compiler/passes.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_INSTRUCTIONS = 1000 * 1000 };

typedef struct NamedPass {
    const char *name;
    Pass *run;
} NamedPass;

static const NamedPass PASSES[] = {
    {"simplify-cfg", simplify_control_flow},
    {"split", split_variables},
    {"promote", promote_variables},
    {"spaces", infer_spaces},
    {"simplify", simplify_values},
    {"dce", remove_dead_code},
    {"chosen", choose_values},
    {"split", split_variables},
    {"promote", promote_variables},
    {"spaces", infer_spaces},
    {"simplify", simplify_values},
    {"dce", remove_dead_code},
    {"chosen", choose_values},
    {"split", split_variables},
    {"promote", promote_variables},
    {"spaces", infer_spaces},
    {"shared-variables", simplify_shared_variables},
    {"read-only", mark_read_only},
    {"simplify", simplify_values},
    {"simplify-cfg", simplify_control_flow},
    {"gvn", number_values},
    {"simplify", simplify_values},
    {"hoist-common", hoist_common},
    {"if-convert", convert_branches},
    {"simplify", simplify_values},
    {"thread", thread_jumps},
    {"licm", hoist_invariants},
    {"rotate", rotate_loops},
    {"simplify", simplify_values},
    {"dce", remove_dead_code},
    {"licm", hoist_invariants},
    {"simplify", simplify_values},
    {"simplify-cfg", simplify_control_flow},
    {"gvn", number_values_without_facts},
    {"simplify", simplify_values},
    {"unswitch", unswitch_loops},
    {"unroll-full", unroll_constant_loops},
    {"split", split_variables},
    {"promote", promote_variables},
    {"gvn", number_values},
    {"reassociate", reassociate_sums},
    {"simplify", simplify_values},
    {"hoist-common", hoist_common},
    {"if-convert", convert_branches},
    {"simplify", simplify_values},
    {"thread", thread_jumps},
    {"unswitch", unswitch_loops},
    {"unroll", unroll_counting_loops},
    {"split", split_variables_finally},
    {"promote", promote_variables},
    {"rotate", rotate_loops},
    {"simplify-cfg", simplify_control_flow},
    {"if-convert", convert_branches},
    {"gvn", number_values},
    {"simplify", simplify_values},
    {"simplify-cfg", simplify_control_flow},
    {"redundant-loads", remove_redundant_loads},
    {"separate-offsets", separate_offsets},
    {"speculate", speculate_values},
    {"hoist-common", hoist_common},
    {"if-convert", convert_branches},
    {"gvn", number_values},
    {"dead-stores", remove_dead_stores},
    {"join-addresses", join_addresses},
    {"nary", reuse_sums},
    {"reassociate-addresses", reassociate_addresses},
    {"dce", remove_dead_code},
    {"licm", hoist_invariants_late},
    {"lsr", reduce_strength},
    {"simplify", simplify_values},
    {"gvn", number_values},
    {"fold-offsets", fold_offsets},
    {"dce", remove_dead_code},
    {"vectorise", vectorise_accesses},
    {"sink", sink_values},
    {"simplify-cfg", simplify_control_flow},
    {"lower-addresses", lower_addresses},
    {"symbols", sink_symbols},
    {"simplify-late", simplify_values_late},
    {"divide", lower_divisions},
    {"gvn-blocks", number_values_in_blocks},
    {"test-next", test_next_values},
    {"dce", remove_dead_code},
    {"compares", sink_compares},
    {"bit-tests", select_bit_tests},
    {"narrow-loads", narrow_loads},
    {"select", select_instructions},
    {"dce", remove_dead_code},
    {"constants", move_constants},
    {"layout", order_blocks},
    {"branches", invert_branches},
    {NULL, NULL},
};

// Whether `list`, such as "licm,gvn", contains `name`.
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at && *at;) {
        const size_t part = strcspn(at, ",");
        if (part == length && memcmp(at, name, length) == 0)
            return true;
        at += part + (at[part] == ',');
    }
    return false;
}

// Tests set DRYWARP_VERIFY to find the pass that has broken a function.
static void verify(IrModule *module, const IrFunction *function, const char *pass)
{
    const char *problem = ir_verify(module, function);
    if (!problem)
        return;
    fprintf(stderr, "after %s, %s: %s\n", pass, function->name, problem);
    ir_print(stderr, module);
    abort();
}

static void optimise(IrModule *module, IrFunction *function, const char *skip)
{
    const bool verifies = getenv("DRYWARP_VERIFY") != NULL, prints = getenv("DRYWARP_PRINT") != NULL;
    for (const NamedPass *pass = PASSES; pass->name; pass++) {
        if (is_listed(skip, pass->name) || is_listed(skip, "all"))
            continue;
        const bool changed = pass->run(module, function);
        sim_free_arena(&module->scratch);
        if (verifies)
            verify(module, function, pass->name);
        if (prints && changed) {
            fprintf(stderr, "---- after %s\n", pass->name);
            ir_print(stderr, module);
        }
    }
}

IrProblem ir_optimise(IrModule *module, const CompileOptions *options)
{
    const uint64_t max = options->max_instructions ? options->max_instructions : DEFAULT_MAX_INSTRUCTIONS;
    module->max_instructions = max;
    const IrProblem problem = inline_functions(module, max);
    if (problem.message)
        return problem;
    for (IrFunction *function = module->functions; function; function = function->next)
        optimise(module, function, options->skip);
    return problem;
}
