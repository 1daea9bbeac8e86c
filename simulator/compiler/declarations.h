// declarations.h: the declarations of a program: variables, functions, records, templates, and the symbols that name them.
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
    bool is_initialised; // `initialiser` is valid; false before it has been parsed
    bool is_evaluated;   // its initialiser is being evaluated: a value that depends on itself is not constant
    bool has_constant;   // `constant` is the value of a const or constexpr scalar
    uint32_t alignment;  // minimum alignment; 0: that of the type
    Constant constant;
    Expression *initialiser; // or NULL
    unsigned char *bytes;    // value of a constant aggregate, for constant evaluation; or NULL
    Function *function;  // the enclosing function, or NULL
    Scope *scope;        // where it was declared
    uint32_t depth;      // number of lambdas around its function
    uint32_t order;      // index among the static variables of this name in its function
    const void *ir;      // its IrSymbol, or NULL
};

typedef enum FunctionState { FUNCTION_DECLARED, FUNCTION_DELAYED, FUNCTION_BEING_PARSED, FUNCTION_PARSED } FunctionState;

struct Function {
    Name *name;
    Position position;
    Type *type;           // a TYPE_FUNCTION, whose target is the result type
    Variable **parameters;
    uint32_t parameter_count, required; // required: parameters without default arguments
    uint32_t *defaults;   // token index of each default argument, or 0
    Scope *scope;         // where it was declared
    Scope *parameter_scope;
    Record *record;       // the class of a member function, or NULL
    Variable *self;       // `this`, or NULL
    bool is_kernel, is_device, is_host, is_constexpr, is_static, is_inline, no_inline, force_inline, is_explicit;
    bool is_constructor, is_destructor, is_conversion, is_deleted, is_defaulted;
    bool is_extern_c, has_deduced_result, is_lambda, is_noreturn;
    bool is_needed;       // its body will be lowered
    bool is_lenient;      // host code: unsupported constructs are not errors
    bool is_evaluated;    // host code that the compiler may evaluate (host.h): its errors are reported
    bool is_pattern;      // of a template: its types depend on template parameters
    uint8_t state;
    uint32_t body_token;  // index of its '{' or ':'; 0: it has no body
    Position body_end;    // position of its '}'
    Statement *body;
    struct FieldInitialiser *field_initialisers; // a constructor's member initialisers
    uint32_t field_initialiser_count;
    Template *template;   // the template that it is an instance of, or NULL
    struct TemplateArgument *arguments;
    uint32_t argument_count;
    const struct Intrinsic *intrinsic; // or NULL
    struct Lambda *lambda; // the generic lambda whose operator() it is an instance of, or NULL
    Expression *max_threads, *min_blocks, *max_blocks_per_cluster, *cluster[3]; // attributes of a kernel, or NULL
    Label *labels;
    uint32_t static_count;
    InstantiationNote *instantiation; // for messages about a delayed body
    const char *mangled;  // set by mangle.c; NULL before
    void *ir;             // its IrFunction, set by the lowering; NULL before
    Function *next_needed;
};

typedef struct FieldInitialiser {
    struct Field *field; // a member or a base class; NULL: a delegating constructor
    Expression *value;   // as in Variable.initialiser
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
    uint32_t initialiser_token; // index of the default member initialiser; 0: none
    Record *record;   // the record that declares it
    const Variable *captured; // in a closure: the captured variable; otherwise NULL
} Field;

struct Record {
    Name *name;       // NULL: unnamed
    Position position;
    Type *type;
    Scope *scope;     // scope of its members, whose parent is the enclosing scope
    Field *fields;
    uint32_t field_count, field_capacity;
    bool is_complete, is_being_defined, is_union, is_class, is_closure;
    bool has_constructor;   // declared by the user
    bool has_private;
    bool is_aggregate;
    bool has_trivial_default; // the default constructor is trivial
    bool is_trivial;        // trivially copyable
    bool has_initialisers;  // a member, also of a member, has a default initialiser, so default-initialisation is not a no-op
    Function *destructor;   // user-provided, or NULL
    const char *unsupported; // reason why its layout is unsupported, such as a bit-field; or NULL
    bool is_reported;        // `unsupported` has been reported
    uint32_t alignment;     // minimum alignment
    Template *template;     // the template that it is an instance of, or NULL
    struct TemplateArgument *arguments;
    uint32_t argument_count;
    Function *function;     // the enclosing function, or NULL
    Function *call;         // operator() of a closure, or NULL
    const char *readable;
};

typedef struct Enumeration {
    Name *name;
    Position position;
    Scope *scope;  // where it was declared
    bool scoped, is_complete;
    Scope *members; // enumerators of a scoped enumeration
} Enumeration;

// ---- templates

typedef struct TemplateArgument {
    Type *type;        // argument of a type parameter
    Constant value;    // argument of a non-type parameter, of type `value_type`
    Type *value_type;
    Template *template; // argument of a template template parameter
    bool is_set, is_pack;
    struct TemplateArgument *pack; // the elements of a parameter pack
    uint32_t pack_count;
    Expression *dependent; // a value that depends on a template's parameter, or NULL
} TemplateArgument;

typedef struct TemplateParameter {
    Name *name;       // NULL: unnamed
    Position position;
    bool is_type, is_template, is_pack;
    uint32_t type_token;    // index of the type of a non-type parameter
    uint32_t default_token; // index of the default argument; 0: none
} TemplateParameter;

typedef enum TemplateKind { TEMPLATE_FUNCTION, TEMPLATE_RECORD, TEMPLATE_ALIAS, TEMPLATE_VARIABLE } TemplateKind;

typedef struct TemplateInstance {
    TemplateArgument *arguments;
    uint32_t argument_count;
    Symbol *symbol; // NULL: the instantiation failed
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
    uint32_t declaration_token; // index of the first token after template <...>
    TemplateInstance *instances;
    TemplateInstance *buckets[INSTANCE_BUCKETS]; // the instances by a hash of their arguments
    uint32_t instance_count;
    Type *dependent_types; // instances with dependent arguments, a list
    Function *pattern;     // a function template's signature with dependent types
    TemplateArgument *pattern_arguments; // its own parameters as arguments
    Record *record;        // the class of a member template, or NULL
    bool is_defined;       // has a body
    bool is_checked;
    bool is_built_in;
    Template *partial;     // next partial specialisation of a class or variable template
    TemplateArgument *partial_arguments; // the arguments that a partial specialisation matches
    uint32_t partial_count;
    struct Lambda *lambda; // of a generic lambda's operator(), or NULL
    Template *redeclared_by; // a later declaration with the definition, or NULL
};

// ---- names

typedef enum SymbolKind {
    SYMBOL_VARIABLE, SYMBOL_FUNCTION, SYMBOL_TYPE, SYMBOL_CONSTANT, SYMBOL_NAMESPACE, SYMBOL_TEMPLATE, SYMBOL_FIELD,
    SYMBOL_BUILTIN,  // threadIdx, blockIdx, blockDim, gridDim, warpSize
    SYMBOL_UNKNOWN,  // a host name about which only its existence is known
    SYMBOL_PACK      // a parameter pack of a function
} SymbolKind;

struct Symbol {
    uint8_t kind;
    bool is_tag;      // a record or enumeration: hidden by a variable or function of the same name
    bool is_parameter; // a template parameter
    Name *name;
    Position position;
    Scope *scope;
    Type *type;       // SYMBOL_TYPE, SYMBOL_CONSTANT
    union {
        Variable *variable;
        Function *function;
        Constant constant;
        Scope *names;       // SYMBOL_NAMESPACE
        Template *template; // a function template is one of the overloads
        Field *field;
        const char *text;   // SYMBOL_BUILTIN
        struct {
            Symbol **elements; // elements of a SYMBOL_PACK, or of a template parameter pack
            uint32_t element_count;
        };
    };
    Expression *dependent; // SYMBOL_CONSTANT: a value that depends on a template's parameter
    Symbol *next_overload; // next overload in this scope
    Symbol *next;          // next symbol in the scope's bucket
    Symbol *next_in_scope; // in declaration order
};

// Source-like spellings for messages.
const char *record_readable(Compiler *c, Record *record);
const char *template_readable(Compiler *c, Template *template, const TemplateArgument *arguments, uint32_t count);
const char *function_readable(Compiler *c, const Function *function); // "reduce<256>(const float *, float *)"
const char *template_arguments_text(Compiler *c, const TemplateArgument *arguments, uint32_t count);

#endif
