// library_ptx.c
#include "compiler/library.h"

const LibraryEntry LIBRARY_PTX[] = {
    {NULL, NULL, NULL},
};
