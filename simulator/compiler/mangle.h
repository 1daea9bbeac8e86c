// mangle.h: mangled names of functions and variables (Itanium C++ ABI, as in nvcc's PTX).
#ifndef COMPILER_MANGLE_H
#define COMPILER_MANGLE_H

#include "compiler/parser.h"

const char *mangle_function(Compiler *c, Function *function);
const char *mangle_variable(Compiler *c, const Variable *variable); // a namespace-scope or static local variable

#endif
