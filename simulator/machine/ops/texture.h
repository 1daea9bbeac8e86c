// texture.h: what texture.c, which runs the instructions on textures and surfaces, and texture_decode.c share.
#ifndef TEXTURE_H
#define TEXTURE_H

#include "machine/ops/ops.h"

enum { CHANNELS = 4, TEXTURE_SHAPES = 5 };

typedef struct TextureShape {
    const char *name;
    int dimensions;
    bool layered;
    const char *coordinates; // letters, as of sim_source; a layer comes first, the last of four is not used
} TextureShape;

extern const TextureShape sim_texture_shapes[TEXTURE_SHAPES]; // Instr.type is an index

#endif
