// locations.c: parses .loc directives, and finds the source locations of inlined code.
#include "front/parser.h"

static Location **bucket_of_line(Parser *p, const Location *l)
{
    return &p->locations[((unsigned)l->file * 31 + (unsigned)l->line) % BUCKETS];
}

static bool same_position(const Location *a, const Location *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

// Sets the outer line (in the function's own file) of a location that was inlined at `call`, which an earlier .loc names. If
// `call` was itself inlined at several lines, chooses the immediately preceding .loc, or the one with the latest outer line.
static void find_outer_line(Parser *p, const Location *call, Location *l)
{
    const Location *found = NULL;
    bool is_ambiguous = false;
    for (const Location *k = *bucket_of_line(p, call); k; k = k->next) {
        if (!same_position(k, call))
            continue;
        is_ambiguous = found != NULL;
        found = k;
        const bool is_latest = k->outer_file == p->outer.file && k->outer_line == p->outer.line;
        if (k->next_statement == p->function->count || is_latest) {
            is_ambiguous = false;
            break;
        }
    }
    if (!found || is_ambiguous)
        return;
    const bool is_outer = l->file == found->outer_file;
    l->outer_file = found->outer_file;
    l->outer_line = is_outer ? l->line : found->outer_line;
}

static void store_location(Parser *p)
{
    Location **bucket = bucket_of_line(p, &p->location), *k = *bucket;
    while (k && !(same_position(k, &p->location) && k->outer_file == p->location.outer_file &&
                  k->outer_line == p->location.outer_line))
        k = k->next;
    if (!k) {
        k = sim_allocate(&p->module->arena, sizeof *k);
        *k = p->location;
        k->next = *bucket;
        *bucket = k;
    }
    k->next_statement = p->function->count;
}

static Location parse_position(Parser *p) // file line column
{
    Location l = {.file = (int)sim_expect_integer(p)};
    l.line = p->token.kind == INTEGER ? (int)sim_expect_integer(p) : 0;
    l.column = p->token.kind == INTEGER ? (int)p->token.integer : 0;
    return l;
}

void sim_parse_location(Parser *p) // .loc file line column, function_name label, inlined_at file line column
{
    const int line = p->token.line;
    sim_advance(p);
    p->location = parse_position(p);
    while (p->token.line == line && p->token.kind != END && !sim_next_is(p, "inlined_at"))
        sim_advance(p);
    if (p->token.line == line && sim_accept(p, "inlined_at")) {
        const Location call = parse_position(p);
        p->location.caller_file = call.file;
        find_outer_line(p, &call, &p->location);
        if (p->token.line == line)
            sim_skip_line(p);
    } else {
        p->location.outer_file = p->location.caller_file = p->location.file;
        p->location.outer_line = p->location.line;
    }
    if (p->location.outer_line > 0 && p->location.outer_file == p->location.file)
        p->outer = p->location;
    store_location(p);
}
