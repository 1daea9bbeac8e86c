// mangle.h: names of functions and variables as nvcc gives them to the driver (the Itanium C++ ABI's mangling).
#ifndef COMPILER_MANGLE_H
#define COMPILER_MANGLE_H

#include "compiler/parser.h"

const char *mangle_function(Compiler *c, Function *function);
const char *mangle_variable(Compiler *c, const Variable *variable); // of a namespace, or static in a function

#endif
