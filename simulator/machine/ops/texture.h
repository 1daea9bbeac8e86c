// texture.h: what texture.c, which runs the instructions on textures and surfaces, texels.c and texture_decode.c share.
#ifndef TEXTURE_H
#define TEXTURE_H

#include "machine/ops/ops.h"

enum { CHANNELS = 4, TEXTURE_SHAPES = 7, FACES = 6 };
enum { FRACTION_BITS = 8, ONE = 1 << FRACTION_BITS }; // of the weight of a texel

typedef struct TextureShape {
    const char *name;
    int dimensions; // of a layer, or a face
    bool layered, cube;
    const char *coordinates; // letters, as of sim_source; a layer comes first, the last of four is not used
} TextureShape;

extern const TextureShape sim_texture_shapes[TEXTURE_SHAPES]; // Instr.type is an index

typedef struct Corners { // of a line, a square or a cube: number z * 4 + y * 2 + x
    uint32_t stored[8][CHANNELS];
    int weight[8]; // of ONE
} Corners;

// ---- texels.c

// What a lane gets for a channel as it is stored, and for one of texels that are mixed: its bits, or those of a float.
uint32_t sim_channel_value(const TextureObject *o, uint32_t stored, int channel);
uint32_t sim_mix_channel(const TextureObject *o, const Corners *c, int channel);
// A channel of the border's colour as a texel would store it.
uint32_t sim_border_channel(const TextureObject *o, int channel);

#endif
