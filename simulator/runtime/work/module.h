// module.h: loads modules.
#ifndef MODULE_H
#define MODULE_H

#include "machine/block.h"

// ---- module.c

// Parses and links PTX, and gives variables their memory. For a further device, `first` is the first device's module of the
// same PTX, whose managed variables it shares; otherwise NULL.
Module *sim_load_ptx(const char *const *ptx, int count, const Module *first);
Module *sim_load_module(const char *text);
void sim_make_executable(Module *module); // after its variables have addresses; functions are made ready on first use
void sim_unload_module(Module *module); // with its variables
void sim_initialise_variables(Module *module); // in device memory, to their initial values

#endif
