// parser.h: functions shared by the files parse_*.c, which parse tokens to declarations and typed trees. The tokens of a template are
// parsed again for each instance.
#ifndef COMPILER_PARSER_H
#define COMPILER_PARSER_H

#include "compiler/scopes.h"

typedef struct Lambda { // a lambda expression that is being parsed
    struct Lambda *outer;
    Record *record;
    Scope *scope;       // scope of init-captures; encloses that of the parameters
    Function *function; // the enclosing function
    bool is_complete;   // all captures are known
    Variable *self;     // `this` of operator()
    char default_capture; // '=', '&' or 0
    Expression **initialisers; // indexed by captured field
    uint32_t initialiser_capacity;
} Lambda;

typedef struct ParserState { // saved while tokens elsewhere are parsed
    uint32_t at; // index of the current token
    Scope *scope;
    Function *function;
    Lambda *lambda;
    Statement *innermost_switch;
    uint32_t breakable, continuable; // number of enclosing statements that `break` and `continue` can leave
    uint32_t unevaluated;            // > 0: in sizeof or decltype
    bool no_greater;                 // a > ends a template argument list
    bool in_check;                   // checks an uninstantiated template
    bool in_pattern;                 // parses the signature of a template
    bool panicking;                  // after a syntax error, until the parser has resynchronised (panic mode)
    uint32_t panic_at;               // index of the token of that error
} ParserState;

typedef struct Parser {
    TokenList list; // tokens of the source, then of the library texts
    ParserState state;
    Scope *global;
    uint32_t nesting;
    Function *first_needed, *last_needed; // queue of functions whose bodies are still to be parsed
    Function **functions; // all functions with bodies in the source, in source order
    uint32_t function_count, function_capacity;
    Template **templates; // function templates of the source
    uint32_t template_count, template_capacity;
    Variable **variables; // namespace-scope variables of the source
    uint32_t variable_count, variable_capacity;
    Position empty_if;   // position of the ; of the function's last `if (...);`
    uint32_t syntax_errors; // reported so far
    Scope **closed;      // scopes of the function's blocks that have ended, for messages
    uint32_t closed_count, closed_capacity;
    bool has_packs;      // the source has a parameter pack
    uint32_t instance_count; // template instances, including failed ones
    struct PendingUnroll { // #pragma unroll before a loop
        bool is_set;
        uint32_t factor;
        Position position;
    } unroll;
} Parser;

// ---- parse.c: tokens, error recovery, translation units

void parse_start(Compiler *c);
void parse_program(Compiler *c, SourceFile *file);
void parse_additional_source(Compiler *c, SourceFile *file); // parses declarations of another source in the global scope
void parse_library_text(Compiler *c, SourceFile *file); // parses the declarations of a library text in the global scope
const Token *parse_token(Compiler *c);               // the current one
const Token *parse_peek(Compiler *c, uint32_t ahead);
const Token *parse_previous(Compiler *c);
bool parse_at(Compiler *c, uint16_t id);
bool parse_accept(Compiler *c, uint16_t id);
bool token_begins_declaration(const Token *t); // by a keyword
// Expects a ;. If it is certainly missing, that is reported in code of the host, too.
void parse_end_of_statement(Compiler *c, const char *where, bool is_certain);
// Host code may have parts that are not supported; but its ; is certainly missing if all else was understood (silent_errors is
// `earlier_errors`), and the next line begins a declaration or has a }.
void parse_end_of_declaration(Compiler *c, const char *where, uint32_t earlier_errors);
// If the token is missing, reports "expected 'X' WHERE" and continues as if it were present.
bool parse_expect(Compiler *c, uint16_t id, const char *where);
void parse_advance(Compiler *c);
// Reports an error at the current token, unless the parser is in panic mode.
void parse_syntax_error(Compiler *c, const char *help, const char *format, ...) __attribute__((format(printf, 3, 4)));
void parse_skip_group(Compiler *c); // skips a balanced group in ( ), [ ] or { }; any other token is skipped alone
// Skips the rest of the current declaration or statement, up to its ; or { }, but not a } that ends the enclosing scope.
void parse_recover(Compiler *c);
// Reports a CUDA keyword with wrong underscores, such as _global_, and treats it as the keyword.
void parse_correct_keyword(Compiler *c);
bool parse_skip_angles(Compiler *c); // skips a template argument list; false: there is none
Position parse_end(Compiler *c); // end of the previous token
ParserState parse_save(Compiler *c);
void parse_restore(Compiler *c, const ParserState *state);
void parse_enter(Compiler *c); // limits the nesting depth; paired with parse_leave
void parse_leave(Compiler *c);
// The number of adjacent > tokens from the current one; 3 end an execution configuration.
uint32_t parse_greater_count(Compiler *c);
// Parses a function's body if that was delayed.
void parse_delayed_body(Compiler *c, Function *function);
void parse_mark_needed(Compiler *c, Function *function); // queues the function's body for parsing and lowering

// ---- parse_types.c, parse_declarators.c

typedef struct Specifiers {
    Type *type;
    Position start;
    bool is_typedef, is_extern, is_static, is_inline, is_constexpr, is_friend, is_explicit, is_virtual, is_mutable;
    bool is_kernel, is_device, is_host, no_inline, force_inline, is_noreturn;
    bool is_extern_c;
    bool is_managed, is_constant, is_shared;
    bool defines_type;  // struct X { } or enum { }
    bool lacks_semicolon; // after that type; this has been reported, and the next line begins another declaration
    bool has_type;
    uint32_t alignment;
    Expression *max_threads, *min_blocks, *max_blocks_per_cluster, *cluster[3];
} Specifiers;

typedef struct Declarator {
    Name *name;          // NULL: none
    Position position;
    Type *type;
    Scope *scope;        // qualifying scope of the name, or NULL
    bool is_function;    // the outermost declarator is a parameter list
    Variable **parameters;
    uint32_t parameter_count, required;
    uint32_t *defaults;
    bool is_constructor, is_destructor, is_conversion, has_template_arguments, is_pack;
    bool is_deleted, is_defaulted, is_pure;
    TemplateArgument *template_arguments;
    uint32_t template_argument_count;
    Scope *parameter_scope;
} Declarator;

uint8_t parse_qualifier(uint16_t id);    // TYPE_CONST, ..., or 0
bool parse_at_type(Compiler *c);   // whether a type begins at the current token
bool parse_at_declaration(Compiler *c); // whether the current statement is a declaration
Specifiers parse_specifiers(Compiler *c);
void parse_declarator(Compiler *c, const Specifiers *specifiers, Declarator *declarator);
Type *parse_type_name(Compiler *c);    // type-id
bool parse_attributes(Compiler *c, Specifiers *s); // [[...]], __attribute__, alignas; false: there is none
Name *parse_operator_name(Compiler *c, bool *is_conversion, Type **type); // after `operator`
Type *parse_decltype(Compiler *c); // after `decltype`
bool parse_at_decltype_scope(Compiler *c); // at decltype(...)::
Type *parse_parameter_type(Compiler *c, Type *type); // adjusts arrays and functions to pointers
void parse_parameters(Compiler *c, Declarator *d); // after (

// ---- parse_names.c

typedef struct ParsedName {
    Symbol *symbol;    // NULL: not found
    Name *name;
    Scope *scope;      // the qualifying scope, or NULL
    Type *dependent_scope; // a dependent qualifying type, as in T::name; or NULL
    bool is_unknown_scope; // the qualifying name is unknown:
    Name *unknown_scope;   // that name
    bool is_destructor, is_operator, is_global;
    bool has_arguments;
    TemplateArgument *arguments;
    uint32_t argument_count;
    Position start, end;
    Type *conversion;  // T in operator T
} ParsedName;

// Reads a qualified name, with its template arguments if it names a template.
ParsedName parse_qualified_name(Compiler *c);
// The type that the name denotes, or NULL.
Type *parse_named_type(Compiler *c, const ParsedName *name);
Type *parse_maybe_named_type(Compiler *c); // parses a type name; NULL: the name is not a type, and no token was consumed
TemplateArgument *parse_template_arguments(Compiler *c, const Template *of, uint32_t *count); // after <
Expression *parse_name_expression(Compiler *c);
void parse_report_unknown(Compiler *c, const ParsedName *name);

// ---- packs.c

// Whether the list element at the current token is a pack expansion: a pattern followed by `...`.
bool pack_at_expansion(Compiler *c);
// Parses the pattern once for each element of its packs, and consumes the `...`. False: its packs are unknown, and no token was consumed.
bool pack_expand(Compiler *c, void (*parse)(Compiler *c, void *context), void *context);
Expression *parse_fold(Compiler *c); // at a (; NULL: not a fold expression, and no token was consumed

// ---- parse_expressions.c

Expression *parse_expression(Compiler *c); // including the comma operator
Expression *parse_assignment(Compiler *c);
Expression *parse_conditional(Compiler *c);
Expression *parse_operand(Compiler *c);    // a unary expression
Expression *parse_braced(Compiler *c);     // { ... }: an EXPRESSION_LIST of type TYPE_INITIALISERS
// Comma-separated expressions up to `closing`, which is consumed.
Expression **parse_arguments(Compiler *c, uint16_t closing, uint32_t *count);
// T(...) or T{...}, after the type.
Expression *parse_functional_cast(Compiler *c, Type *type, Position start);
Constant parse_constant(Compiler *c, Type *type, const char *what); // a constant expression, converted to `type` unless NULL
Expression *parse_lambda(Compiler *c);     // at a [

// ---- parse_statements.c, parse_control.c: the keyword has been consumed

Statement *parse_statement(Compiler *c);
Statement *parse_block(Compiler *c); // after the {
bool parse_at_function_definition(Compiler *c); // whether the current line begins a function definition
// Whether a line within the block that opens at `open` begins a function definition, judging by its indentation.
bool parse_at_nested_definition(Compiler *c, Position open);
Statement *statement_new(Compiler *c, StatementKind kind, Position position);
Statement *statement_empty(Compiler *c, Position at);
Scope *parse_enter_block(Compiler *c); // returns the enclosing scope
void parse_leave_block(Compiler *c, Scope *outer);
Statement *parse_if(Compiler *c, Position at);
Statement *parse_while(Compiler *c, Position at);
Statement *parse_do(Compiler *c, Position at);
Statement *parse_for(Compiler *c, Position at);
Statement *parse_switch(Compiler *c, Position at);
Statement *parse_case(Compiler *c, Position at, bool is_default);
Statement *parse_asm(Compiler *c, Position at); // after asm

// ---- parse_declarations.c, parse_records.c, parse_functions.c

void parse_declaration(Compiler *c); // in namespace scope
Statement *parse_local_declaration(Compiler *c, bool *is_condition); // in a block; is_condition: in an if, without a ;
void parse_using(Compiler *c);
void parse_static_assert(Compiler *c);
Variable *parse_variable(Compiler *c, const Specifiers *s, const Declarator *d, bool is_local);
bool parse_is_device(Compiler *c); // whether the current declaration has a CUDA keyword
bool parse_is_lenient(const Compiler *c); // in host code that is not compiled: its types decide what is instantiated, its values are not used
uint32_t parse_unknown_type_length(Compiler *c); // tokens of a name that may be an unknown type's, as std::vector<int>; 0: none
Type *parse_unknown_type(Compiler *c);     // skips and reports an unknown name used as a type; NULL: not at a name
Type *parse_record(Compiler *c, Specifiers *s, Record *instance); // after struct, class or union
Type *parse_enumeration(Compiler *c, Specifiers *s);               // after enum
Function *parse_function(Compiler *c, const Specifiers *s, Declarator *d, Template *of);
Record *record_new(Compiler *c, Name *name, Scope *scope, Position at);
void record_complete(Compiler *c, Record *record);
Variable *variable_new(Compiler *c, Name *name, Type *type, Position position);

// ---- templates.c, deduce.c

void parse_template(Compiler *c, Record *record); // after `template`; record: of a member template, or NULL
Symbol *template_instance(Compiler *c, Template *template, TemplateArgument *arguments, uint32_t count, Position at);
Type *template_type(Compiler *c, Template *template, TemplateArgument *arguments, uint32_t count, Position at);
// The instance of a function template for a call; NULL if deduction fails. `given`: explicit template arguments.
Function *template_deduce(Compiler *c, Template *template, const TemplateArgument *given, uint32_t given_count,
                          Expression **arguments, uint32_t count, Position at);
// The instance of a function template whose address is converted to a function type.
Function *template_for_type(Compiler *c, Template *template, const TemplateArgument *given, uint32_t given_count, Type *type, Position at);
// The complete template arguments: the given ones, converted, and the defaults. NULL after an error.
TemplateArgument *template_complete(Compiler *c, Template *t, const TemplateArgument *given, uint32_t count, Position at);
// The entry of the instance with these arguments, added if there is none.
Symbol *template_symbol(Compiler *c, SymbolKind kind, const Template *template); // of an instance
TemplateInstance *template_instance_entry(Compiler *c, Template *template, TemplateArgument *arguments);
bool template_more_special(Compiler *c, const Template *a, const Template *b); // whether a is at least as specialised as b
bool template_match_argument(Compiler *c, const Template *t, const TemplateArgument *pattern, const TemplateArgument *argument, TemplateArgument *bound);
Function *lambda_instance(Compiler *c, Template *template, TemplateArgument *arguments); // lambdas.c: an instance of a generic lambda's operator()
void template_check_unused(Compiler *c); // checks the bodies of templates without instances
Function *template_pattern(Compiler *c, Template *template); // its signature with dependent types; NULL: not a function template

#endif
