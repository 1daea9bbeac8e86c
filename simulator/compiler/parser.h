// parser.h: what the files parse_*.c share. Tokens become declarations and typed trees; a template's tokens are read again
// for each of its instances.
#ifndef COMPILER_PARSER_H
#define COMPILER_PARSER_H

#include "compiler/scopes.h"

typedef struct Lambda { // that is being parsed
    struct Lambda *outer;
    Record *record;
    Scope *scope;       // of captures with initialisers; that of its parameters is in it
    Function *function; // around it
    bool is_complete;   // all captures are known
    Variable *self;     // of operator()
    char default_capture; // '=', '&' or 0
    Expression **initialisers; // of each captured field
    uint32_t initialiser_capacity;
} Lambda;

typedef struct ParserState { // what is saved while other tokens are read
    uint32_t at;
    Scope *scope;
    Function *function;
    Lambda *lambda;
    Statement *innermost_switch;
    uint32_t breakable, continuable; // loops and switches around
    uint32_t unevaluated;            // > 0: in sizeof or decltype
    bool no_greater;                 // a > ends a template's arguments
    bool in_check;                   // of a template without arguments
    bool in_pattern;                 // of a template's signature
    bool panicking;                  // after a syntax error, until the parser is in step again
    uint32_t panic_at;               // token of that error
} ParserState;

typedef struct Parser {
    TokenList list; // the source's tokens, then those of the library's texts
    ParserState now;
    Scope *global;
    uint32_t nesting;
    Function *first_needed, *last_needed; // whose bodies are still to be parsed
    Function **functions; // all with bodies in the source, in its order
    uint32_t function_count, function_capacity;
    Template **templates; // of functions, in the source
    uint32_t template_count, template_capacity;
    Variable **variables; // of namespaces in the source, which the device may have
    uint32_t variable_count, variable_capacity;
    Position empty_if;   // the ; of the last if (...); in the function
    Scope **closed;      // blocks of the function that have ended, for messages
    uint32_t closed_count, closed_capacity;
    bool has_packs;      // there was a parameter pack
    uint32_t closures;
    uint32_t instance_count; // of templates, with those that could not be made
    struct PendingUnroll { // #pragma unroll before a loop
        bool is_set;
        uint32_t factor;
        Position position;
    } unroll;
} Parser;

// ---- parse.c: tokens, recovery, and the whole

void parse_start(Compiler *c);
void parse_program(Compiler *c, SourceFile *file);
void parse_more(Compiler *c, SourceFile *file); // declarations of another source, in the global scope
// Parses declarations of a text of the library's in the global scope.
void parse_library_text(Compiler *c, SourceFile *file);
const Token *parse_token(Compiler *c);               // the current one
const Token *parse_peek(Compiler *c, uint32_t ahead);
const Token *parse_previous(Compiler *c);
bool parse_at(Compiler *c, uint16_t id);
bool parse_accept(Compiler *c, uint16_t id);
// Reports "expected 'X' WHERE" if it is not there. A missing token is not skipped over, but assumed.
bool parse_expect(Compiler *c, uint16_t id, const char *where);
void parse_advance(Compiler *c);
// Reports an error at the current token, unless one was reported since the parser was last in step.
void parse_syntax_error(Compiler *c, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Skips a ( ), [ ] or { } with all that is in it; at any other token, just that.
void parse_skip_group(Compiler *c);
// Skips to after the ; or the { } that ends the current declaration or statement, but not past a } that ends the scope.
void parse_recover(Compiler *c);
// _global_ void f() and the like: one of CUDA's words with other underscores is reported, and read as if it were right.
void parse_correct_word(Compiler *c);
bool parse_skip_angles(Compiler *c); // template arguments, unread; false: no < > there
Position parse_end(Compiler *c); // of the previous token
ParserState parse_save(Compiler *c);
void parse_restore(Compiler *c, const ParserState *state);
void parse_enter(Compiler *c); // bounds the nesting; parse_leave after it
void parse_leave(Compiler *c);
// How many > the parser is at, without space between them; 3 end a launch's configuration.
uint32_t parse_greater_count(Compiler *c);
// A function's body, if it has one that was delayed.
void parse_delayed_body(Compiler *c, Function *function);
void parse_need(Compiler *c, Function *function); // its body will be parsed and lowered

// ---- parse_types.c, parse_declarators.c

typedef struct Specifiers {
    Type *type;
    Position start;
    bool is_typedef, is_extern, is_static, is_inline, is_constexpr, is_const_only, is_friend, is_explicit, is_virtual, is_mutable;
    bool is_kernel, is_device, is_host, no_inline, force_inline, is_noreturn;
    bool is_extern_c;
    bool is_managed, is_constant, is_shared;
    bool defines_type;  // struct X { } or enum { }
    bool has_type;
    uint32_t alignment;
    Expression *max_threads, *min_blocks, *max_blocks_per_cluster, *cluster[3];
} Specifiers;

typedef struct Declarator {
    Name *name;          // NULL: none
    Position position;
    Type *type;
    Scope *scope;        // of a qualified name, or NULL
    bool is_function;    // its parameters are the outermost part
    Variable **parameters;
    uint32_t parameter_count, required;
    uint32_t *defaults;
    bool is_constructor, is_destructor, is_conversion, has_template_arguments, is_pack;
    bool is_deleted, is_defaulted, is_pure;
    TemplateArgument *template_arguments;
    uint32_t template_argument_count;
    Scope *parameter_scope;
    uint32_t bit_width;
} Declarator;

uint8_t parse_qualifier(uint16_t id);    // TYPE_CONST, ..., or 0
bool parse_type_begins(Compiler *c);   // whether a type is next
bool parse_declaration_begins(Compiler *c); // whether a statement is a declaration
Specifiers parse_specifiers(Compiler *c);
void parse_declarator(Compiler *c, const Specifiers *specifiers, Declarator *declarator);
Type *parse_type_name(Compiler *c);    // type-id
bool parse_attributes(Compiler *c, Specifiers *s); // [[...]], __attribute__, alignas; true if there was one
Name *parse_operator_name(Compiler *c, bool *is_conversion, Type **type); // after `operator`
Type *parse_parameter_type(Compiler *c, Type *type); // arrays and functions become pointers
void parse_parameters(Compiler *c, Declarator *d); // after (

// ---- parse_names.c

typedef struct ParsedName {
    Symbol *symbol;    // NULL: not found
    Name *name;
    Scope *scope;      // it was qualified with, or NULL
    Type *dependent_scope; // T:: of a template's parameter, or NULL
    bool is_unknown_scope; // qualified with something that is not known:
    Name *unknown_scope;   // this
    bool is_destructor, is_operator, is_global;
    bool has_arguments;
    TemplateArgument *arguments;
    uint32_t argument_count;
    Position start, end;
    Type *conversion;  // operator T
} ParsedName;

// Reads a qualified name, with its template arguments if it names a template.
ParsedName parse_qualified_name(Compiler *c);
// What type it names, or NULL.
Type *parse_named_type(Compiler *c, const ParsedName *name);
Type *parse_maybe_named_type(Compiler *c); // reads a name if it is that of a type; NULL: it is not, and nothing was read
TemplateArgument *parse_template_arguments(Compiler *c, const Template *of, uint32_t *count); // after <
Expression *parse_name_expression(Compiler *c);
void parse_report_unknown(Compiler *c, const ParsedName *name);

// ---- packs.c

// Whether what begins here, up to a comma or the end of a list, is a pattern with ... after it.
bool pack_expansion_begins(Compiler *c);
// Parses the pattern for each element of its packs, and reads the ... . False: it names no pack that has elements, and nothing was read.
bool pack_expand(Compiler *c, void (*parse)(Compiler *c, void *context), void *context);
Expression *parse_fold(Compiler *c); // at (; NULL: it is no fold expression, and nothing was read

// ---- parse_expressions.c

Expression *parse_expression(Compiler *c); // with commas
Expression *parse_assignment(Compiler *c);
Expression *parse_conditional(Compiler *c);
Expression *parse_operand(Compiler *c);    // without binary operators
Expression *parse_braced(Compiler *c);     // { ... }: an EXPRESSION_LIST of type TYPE_INITIALISERS
// Comma-separated up to `closing`, which is read.
Expression **parse_arguments(Compiler *c, uint16_t closing, uint32_t *count);
// Of a type that has been read: T(...), T{...}.
Expression *parse_functional_cast(Compiler *c, Type *type, Position start);
Constant parse_constant(Compiler *c, Type *type, const char *what); // a constant expression, converted to a type if it is not NULL
Expression *parse_lambda(Compiler *c);     // at [

// ---- parse_statements.c, parse_control.c: each parse_* after its keyword

Statement *parse_statement(Compiler *c);
Statement *parse_block(Compiler *c); // after {
bool parse_begins_function(Compiler *c); // whether a line begins a function's definition
bool parse_begins_nested(Compiler *c, Position open); // the same, within the block that opens there, as the indentation shows
Statement *statement_new(Compiler *c, StatementKind kind, Position position);
Statement *statement_empty(Compiler *c, Position at);
Scope *parse_enter_block(Compiler *c); // the scope around it
void parse_leave_block(Compiler *c, Scope *outer);
Statement *parse_if(Compiler *c, Position at);
Statement *parse_while(Compiler *c, Position at);
Statement *parse_do(Compiler *c, Position at);
Statement *parse_for(Compiler *c, Position at);
Statement *parse_switch(Compiler *c, Position at);
Statement *parse_case(Compiler *c, Position at, bool is_default);
Statement *parse_asm(Compiler *c, Position at); // after asm

// ---- parse_declarations.c, parse_records.c, parse_functions.c

void parse_declaration(Compiler *c); // of a namespace's scope
Statement *parse_local_declaration(Compiler *c, bool *is_condition); // in a block; is_condition: of an if, without ;
void parse_using(Compiler *c);
void parse_static_assert(Compiler *c);
Variable *parse_variable(Compiler *c, const Specifiers *s, const Declarator *d, bool is_local);
bool parse_is_device(Compiler *c); // whether one of CUDA's words is in the declaration that begins here
Type *parse_unknown_type(Compiler *c);     // skips and reports a name that is meant as a type; NULL: it is no name
Type *parse_record(Compiler *c, Specifiers *s, Record *instance); // after struct, class or union
Type *parse_enumeration(Compiler *c, Specifiers *s);               // after enum
Function *parse_function(Compiler *c, const Specifiers *s, Declarator *d, Template *of);
void parse_function_parts(Compiler *c, Function *function); // default, delete, or where its body is
Record *record_new(Compiler *c, Name *name, Scope *scope, Position at);
void record_complete(Compiler *c, Record *record);
Variable *variable_new(Compiler *c, Name *name, Type *type, Position position);
void parse_initialiser(Compiler *c, Variable *variable, bool declared_auto); // = value, (values), {values} or nothing

// ---- templates.c, deduce.c

void parse_template(Compiler *c, Record *record); // after `template`, in a namespace or a record
Symbol *template_instance(Compiler *c, Template *template, TemplateArgument *arguments, uint32_t count, Position at);
Type *template_type(Compiler *c, Template *template, TemplateArgument *arguments, uint32_t count, Position at);
// A function template's instance for a call, or NULL if the arguments do not fit; `given` are explicit ones.
Function *template_deduce(Compiler *c, Template *template, const TemplateArgument *given, uint32_t given_count,
                          Expression **arguments, uint32_t count, Position at);
// The same for a function's address of a type; result only.
Function *template_for_type(Compiler *c, Template *template, const TemplateArgument *given, uint32_t given_count, Type *type, Position at);
// All arguments of a template: the given ones, converted, and the defaults. NULL after an error.
TemplateArgument *template_complete(Compiler *c, Template *t, const TemplateArgument *given, uint32_t count, Position at);
// The entry of an instance with these arguments, which is made if there is none.
TemplateInstance *template_instance_entry(Compiler *c, Template *template, TemplateArgument *arguments);
bool template_more_special(Compiler *c, const Template *a, const Template *b);
bool template_arguments_equal(const TemplateArgument *a, const TemplateArgument *b, uint32_t count);
bool template_match_argument(Compiler *c, const Template *t, const TemplateArgument *pattern, const TemplateArgument *argument, TemplateArgument *bound);
Function *lambda_instance(Compiler *c, Template *template, TemplateArgument *arguments); // lambdas.c: operator() of a generic lambda
void template_check_unused(Compiler *c); // bodies of templates without instances
Function *template_pattern(Compiler *c, Template *template); // NULL: has no signature

#endif
