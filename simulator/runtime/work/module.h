// module.h: loads and unloads modules.
#ifndef MODULE_H
#define MODULE_H

#include "machine/block.h"

// ---- module.c

// Parses and links PTX, and allocates the variables. For the first device, `first` is NULL; for others it is the first device's
// module of this PTX, with which the new module shares managed variables.
Module *sim_load_ptx(const char *const *ptx, int count, const Module *first);
Module *sim_load_module(const char *text);
void sim_make_executable(Module *module); // the variables must have addresses; functions are prepared on first use
void sim_unload_module(Module *module); // frees its variables, too
void sim_initialise_variables(Module *module); // sets the variables in device memory to their initial values

#endif
