// locations.c: source locations, from .loc.
#include "front/parser.h"

static Location **bucket_of_line(Parser *p, const Location *l)
{
    return &p->locations[((unsigned)l->file * 31 + (unsigned)l->line) % BUCKETS];
}

static bool same_position(const Location *a, const Location *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column;
}

// Sets the line in the function's own file of a location that was inlined at `call`; an earlier .loc names `call`. If `call` was
// itself inlined at several lines, the immediately preceding .loc is chosen, or the one with the latest own line.
static void find_own_line(Parser *p, const Location *call, Location *l)
{
    const Location *found = NULL;
    bool several = false;
    for (const Location *k = *bucket_of_line(p, call); k; k = k->next) {
        if (!same_position(k, call))
            continue;
        several = found != NULL;
        found = k;
        const bool near = k->own_file == p->own.file && k->own_line == p->own.line;
        if (k->next_statement == p->function->count || near) {
            several = false;
            break;
        }
    }
    if (!found || several)
        return;
    const bool own = l->file == found->own_file;
    l->own_file = found->own_file;
    l->own_line = own ? l->line : found->own_line;
}

static void store_location(Parser *p)
{
    Location **bucket = bucket_of_line(p, &p->location), *k = *bucket;
    while (k && !(same_position(k, &p->location) && k->own_file == p->location.own_file &&
                  k->own_line == p->location.own_line))
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
        find_own_line(p, &call, &p->location);
        if (p->token.line == line)
            sim_skip_line(p);
    } else {
        p->location.own_file = p->location.caller_file = p->location.file;
        p->location.own_line = p->location.line;
    }
    if (p->location.own_line > 0 && p->location.own_file == p->location.file)
        p->own = p->location;
    store_location(p);
}
