// types.h: types. Types are unique, so they are compared by pointer. A Type is immutable, except that records
// are completed by their definitions.
#ifndef COMPILER_TYPES_H
#define COMPILER_TYPES_H

#include "compiler/tokens.h"

typedef enum TypeKind {
    TYPE_VOID, TYPE_BOOL, TYPE_CHAR, TYPE_SIGNED_CHAR, TYPE_UNSIGNED_CHAR, TYPE_SHORT, TYPE_UNSIGNED_SHORT, TYPE_INT,
    TYPE_UNSIGNED, TYPE_LONG, TYPE_UNSIGNED_LONG, TYPE_LONG_LONG, TYPE_UNSIGNED_LONG_LONG, TYPE_FLOAT, TYPE_DOUBLE,
    TYPE_NULLPTR,
    TYPE_ENUM, TYPE_POINTER, TYPE_REFERENCE, TYPE_RVALUE_REFERENCE, TYPE_ARRAY, TYPE_FUNCTION, TYPE_RECORD,
    TYPE_AUTO,      // a placeholder that the initialiser replaces
    TYPE_INITIALISERS, // of a braced list { ... } before its conversion
    TYPE_UNKNOWN,   // after an error, in host code, or dependent on a template parameter in untracked ways: operations on it are also
                    // unknown, and report no errors
    // Dependent types: only in the signature and the check of a template
    TYPE_PARAMETER, // a type template parameter
    TYPE_MEMBER,    // typename Scope::name
    TYPE_INSTANCE   // Template<arguments> with dependent arguments
} TypeKind;

enum { TYPE_CONST = 1, TYPE_VOLATILE = 2, TYPE_RESTRICT = 4, TYPE_QUALIFIERS = 8 }; // Type.qualifiers
#define NO_SIZE UINT64_MAX // Type.count of an array of unknown bound

typedef struct Type Type;

struct Type {
    uint8_t kind, qualifiers;
    bool dependent;      // depends on a template parameter
    bool member_const, member_volatile; // qualifiers of a member function
    bool variadic;       // TYPE_FUNCTION with `...`
    uint32_t alignment;  // 0: incomplete, or not an object type
    uint64_t size;
    uint64_t count;      // elements of an array, or NO_SIZE
    struct Expression *bound; // dependent number of elements of an array, or NULL
    Type *unqualified;   // the type itself if it has no qualifiers
    Type *target;        // target of a pointer or reference, element of an array, result of a function, or underlying type of an enumeration
    Type **parameters;   // TYPE_FUNCTION
    uint32_t parameter_count;
    uint32_t index;      // TYPE_PARAMETER: index in the template parameter list
    union {
        struct Record *record;           // TYPE_RECORD
        struct Enumeration *enumeration; // TYPE_ENUM
        struct {                         // TYPE_MEMBER
            Type *scope;
            Name *name;
        } member;
        Name *parameter_name;            // TYPE_PARAMETER
        struct {                         // TYPE_INSTANCE
            struct Template *template;
            struct TemplateArgument *arguments;
            uint32_t argument_count;
            Type *next;                  // the template's next dependent instance
        } instance;
    };
    // Types derived from this one, or NULL
    Type *qualified[TYPE_QUALIFIERS]; // by qualifiers; only in the unqualified type
    Type *pointer, *reference, *rvalue_reference;
    Type *arrays, *next_array;
    Type *next_function; // in the table of function types
};

void types_start(Compiler *c);
Type *type_basic(Compiler *c, TypeKind kind);
Type *type_qualified(Compiler *c, Type *type, uint8_t qualifiers); // adds qualifiers; for an array, to its elements
Type *type_pointer(Compiler *c, Type *target);
Type *type_reference(Compiler *c, Type *target, bool rvalue); // with reference collapsing
Type *type_array(Compiler *c, Type *element, uint64_t count);
Type *type_function(Compiler *c, Type *result, Type **parameters, uint32_t count, bool variadic, uint8_t qualifiers);
Type *type_new(Compiler *c, TypeKind kind); // a distinct record, enumeration or dependent type
Type *type_size_t(Compiler *c);

static inline Type *type_bare(Type *type)
{
    return type->unqualified;
}
static inline bool type_is(const Type *type, TypeKind kind)
{
    return type->kind == kind;
}
static inline bool type_is_integer(const Type *type) // including bool, excluding enumerations
{
    return type->kind >= TYPE_BOOL && type->kind <= TYPE_UNSIGNED_LONG_LONG;
}
static inline bool type_is_real(const Type *type)
{
    return type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE;
}
static inline bool type_is_arithmetic(const Type *type)
{
    return type->kind >= TYPE_BOOL && type->kind <= TYPE_DOUBLE;
}
static inline bool type_is_any_reference(const Type *type)
{
    return type->kind == TYPE_REFERENCE || type->kind == TYPE_RVALUE_REFERENCE;
}
static inline bool type_is_unknown(const Type *type) // unknown or dependent
{
    return type->kind == TYPE_UNKNOWN || type->dependent;
}
bool type_is_signed(const Type *type);   // of an integer or an enumeration
bool type_is_complete(Type *type);
Type *type_without_reference(Type *type);
Type *type_promoted(Compiler *c, Type *type);          // the integral promotions
Type *type_common(Compiler *c, Type *a, Type *b);      // the usual arithmetic conversions
Type *type_integer_of(Type *type);                     // the underlying type of an enumeration
Type *type_innermost(Type *type);                      // the innermost element type of an array
Type *type_unsigned(Compiler *c, Type *type);          // the unsigned integer of the same size
// The spelling of the type, for messages.
const char *type_text(Compiler *c, Type *type);

#endif
