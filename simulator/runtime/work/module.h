// module.h: modules that can be launched.
#ifndef MODULE_H
#define MODULE_H

#include "machine/block.h"

// ---- module.c: from a PTX text to functions that can be launched.

// The same of texts that nvcc -rdc=true compiled apart, linked by their names. For a further device `first` is the
// first one's module of the same texts, whose managed variables it shares; else NULL.
Module *sim_load_texts(const char *const *texts, int count, const Module *first);
Module *sim_load_module(const char *text);
void sim_make_executable(Module *module); // of one whose variables have their places; its functions with sim_make_ready
void sim_unload_module(Module *module); // with its variables
void sim_set_variables(Module *module); // in device memory, to their initial values

#endif
