// declarations.h: what a program declares: variables, functions, records, templates and the symbols that name them.
#ifndef COMPILER_DECLARATIONS_H
#define COMPILER_DECLARATIONS_H

#include "compiler/syntax.h"

// ---- variables and functions

typedef enum VariableSpace { SPACE_AUTOMATIC, SPACE_HOST, SPACE_DEVICE, SPACE_CONSTANT, SPACE_SHARED, SPACE_MANAGED } VariableSpace;

struct Variable {
    Name *name;          // NULL: unnamed
    Position position;
    Type *type;          // may be a reference
    uint8_t space;
    bool is_parameter, is_static, is_extern, is_constexpr, is_inline;
    bool is_pack;        // a function's parameter pack
    bool is_used, is_assigned;
    bool is_initialised; // .initialiser is valid, or it has none
    bool is_evaluated;   // just now: a value that depends on itself is none
    bool has_constant;   // a const or constexpr scalar whose value is known
    uint32_t alignment;  // at least; 0: the type's
    Constant constant;
    Expression *initialiser; // or NULL
    unsigned char *bytes;    // of a constant aggregate, for constant evaluation; or NULL
    Function *function;  // that it is local to, or NULL
    Scope *scope;        // where it was declared
    uint32_t depth;      // of lambdas around its function
    uint32_t order;      // number of the static variable of its name in its function
    const void *ir;      // IrSymbol of a symbol
};

typedef enum FunctionState { FUNCTION_DECLARED, FUNCTION_DELAYED, FUNCTION_BEING_PARSED, FUNCTION_PARSED } FunctionState;

struct Function {
    Name *name;
    Position position;
    Type *type;           // a TYPE_FUNCTION; its target is the result
    Variable **parameters;
    uint32_t parameter_count, required; // required: without default arguments
    uint32_t *defaults;   // token index of each default argument, or 0
    Scope *scope;         // where it was declared
    Scope *parameter_scope;
    Record *record;       // of a member, or NULL
    Variable *self;       // `this`, or NULL
    bool is_kernel, is_device, is_host, is_constexpr, is_static, is_inline, no_inline, force_inline, is_explicit;
    bool is_constructor, is_destructor, is_conversion, is_deleted, is_defaulted;
    bool is_extern_c, has_deduced_result, is_lambda, is_noreturn;
    bool is_needed;       // its body will be lowered
    bool is_lenient;      // host code: what is not understood is no error
    bool is_evaluated;    // host code that the compiler may run (host.h): its errors are reported
    bool is_pattern;      // of a template: types depend on its parameters
    uint8_t state;
    uint32_t body_token;  // where its '{' or ':' is; 0: it has none
    Position body_end;    // of its }
    Statement *body;
    struct FieldInitialiser *field_initialisers; // of a constructor
    uint32_t field_initialiser_count;
    Template *template;   // that it is an instance of, or NULL
    struct TemplateArgument *arguments;
    uint32_t argument_count;
    bool is_specialisation;
    const struct Intrinsic *intrinsic; // or NULL
    struct Lambda *lambda; // of an instance of a generic lambda: whose operator() it is, or NULL
    Expression *max_threads, *min_blocks, *max_blocks_per_cluster, *cluster[3]; // attributes of a kernel, or NULL
    Label *labels;
    uint32_t static_count;
    InstantiationNote *instantiation; // for messages about a delayed body
    const char *mangled;  // once mangle.c has made it
    void *ir;             // IrFunction once lowering knows it
    Function *next_needed;
};

typedef struct FieldInitialiser {
    struct Field *field; // or a base class
    Expression *value;   // as of a variable
} FieldInitialiser;

// ---- records and enumerations

typedef struct Field {
    Name *name;       // NULL: unnamed
    Position position;
    Type *type;
    uint64_t offset;
    bool is_base;     // a base class
    bool is_anonymous; // an unnamed struct or union whose members are reached directly
    bool is_mutable;
    uint32_t initialiser_token; // of = value or { value }; 0: none
    Record *record;   // that has it
    const Variable *captured; // of a lambda with [=] or [&]: what it is of, or NULL
} Field;

struct Record {
    Name *name;       // NULL: unnamed
    Position position;
    Type *type;
    Scope *scope;     // of its members; its parent is where it was declared
    Field *fields;
    uint32_t field_count, field_capacity;
    bool is_complete, is_being_defined, is_union, is_class, is_closure;
    bool has_constructor;   // declared by the user
    bool has_private;
    bool is_aggregate;
    bool has_trivial_default; // T() = default
    bool is_trivial;        // to copy
    bool has_initialisers;  // of fields, or of fields of fields: making one is not just leaving it undefined
    Function *destructor;   // that the user wrote, or NULL
    const char *unsupported; // why its layout is not known, such as a bit-field; or NULL
    bool is_reported;        // that
    uint32_t alignment;     // at least
    Template *template;     // that it is an instance of, or NULL
    struct TemplateArgument *arguments;
    uint32_t argument_count;
    Function *function;     // that it is local to, or NULL
    Function *call;         // of a closure
    const char *readable;
};

typedef struct Enumeration {
    Name *name;
    Position position;
    Scope *scope;  // where it was declared
    bool scoped, is_complete;
    Scope *members; // of a scoped one
} Enumeration;

// ---- templates

typedef struct TemplateArgument {
    Type *type;        // of a type parameter
    Constant value;    // of a value parameter, whose type is .value_type
    Type *value_type;
    Template *template; // of a template parameter
    bool is_set, is_pack;
    struct TemplateArgument *pack; // of a parameter pack
    uint32_t pack_count;
    Expression *dependent; // a value that depends on a template's parameter, or NULL
} TemplateArgument;

typedef struct TemplateParameter {
    Name *name;       // NULL: unnamed
    Position position;
    bool is_type, is_template, is_pack;
    uint32_t type_token;    // of a value parameter: where its type begins
    uint32_t default_token; // 0: none
} TemplateParameter;

typedef enum TemplateKind { TEMPLATE_FUNCTION, TEMPLATE_RECORD, TEMPLATE_ALIAS, TEMPLATE_VARIABLE } TemplateKind;

typedef struct TemplateInstance {
    TemplateArgument *arguments;
    uint32_t argument_count;
    Symbol *symbol; // NULL: could not be made
    struct TemplateInstance *next, *next_in_bucket;
} TemplateInstance;

enum { INSTANCE_BUCKETS = 32 };

struct Template {
    uint8_t kind;
    Name *name;
    Position position;
    Scope *scope;          // where it was declared
    TemplateParameter *parameters;
    uint32_t parameter_count;
    uint32_t declaration_token; // after template <...>
    uint32_t end_token;
    TemplateInstance *instances;
    TemplateInstance *buckets[INSTANCE_BUCKETS]; // the instances by a hash of their arguments
    uint32_t instance_count;
    Function *pattern;     // of a function template: its signature with dependent types
    TemplateArgument *pattern_arguments; // its own parameters as arguments
    Record *record;        // of a member template: of that
    bool is_defined;       // has a body
    bool is_checked;
    bool is_built_in;
    Template *partial;     // next partial specialisation of a class or variable template
    TemplateArgument *partial_arguments; // of a partial specialisation: what it matches
    uint32_t partial_count;
    struct Lambda *lambda; // of a generic lambda's operator(), or NULL
    Template *redeclared_by; // a later declaration that has the definition
};

// ---- names

typedef enum SymbolKind {
    SYMBOL_VARIABLE, SYMBOL_FUNCTION, SYMBOL_TYPE, SYMBOL_CONSTANT, SYMBOL_NAMESPACE, SYMBOL_TEMPLATE, SYMBOL_FIELD,
    SYMBOL_BUILTIN,  // threadIdx and the like
    SYMBOL_UNKNOWN,  // a host name that is known to exist
    SYMBOL_PACK      // a parameter pack of a function
} SymbolKind;

struct Symbol {
    uint8_t kind;
    bool is_tag;      // of a record or enumeration: hidden by a variable or function of its name
    bool is_parameter; // a template's own parameter
    Name *name;
    Position position;
    Scope *scope;
    Type *type;       // SYMBOL_TYPE, SYMBOL_CONSTANT
    union {
        Variable *variable;
        Function *function;
        Constant constant;
        Scope *names;       // SYMBOL_NAMESPACE
        Template *template; // of functions it is among the overloads
        Field *field;
        const char *text;   // SYMBOL_BUILTIN
        struct {
            Symbol **elements; // SYMBOL_PACK, and a template's pack
            uint32_t element_count;
        };
    };
    Expression *dependent; // SYMBOL_CONSTANT: a value that depends on a template's parameter
    Symbol *next_overload; // of the same name in the same scope
    Symbol *next;          // in the scope's bucket
    Symbol *next_in_scope; // in order of declaration
};

// For messages.
const char *record_readable(Compiler *c, Record *record);
const char *template_readable(Compiler *c, Template *template, const TemplateArgument *arguments, uint32_t count);
const char *function_readable(Compiler *c, const Function *function); // "reduce<256>(const float *, float *)"
const char *template_arguments_text(Compiler *c, const TemplateArgument *arguments, uint32_t count);

#endif
